"""The table of stages, jobs and time that a dry run shows instead of Snakemake's list of jobs."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

from corpusmill.messages.text_tables import aligned
from corpusmill.run.job_progress import duration
from corpusmill.run.measurements import finished_jobs
from corpusmill.run.steps import STAGES, stage_of

CPU_SECONDS_PER_GB = {
    "read": 16, "cut spans": 16, "filter": 5, "find duplicates": 30, "take out held-out": 1,
    "shuffle": 18, "tokenize": 30, "account": 2,
}  # fmt: skip
"""CPU seconds per GB of text: twice the shortest times in docs/internals/performance.md."""

BASIS = (
    "measured on earlier jobs here.",
    "a rough guess from the amount of text. corpusmill estimate measures a sample.",
)
"""Note on the basis of the time estimate: if no figure is a guess, and if some are."""

START_SECONDS = 0.25
"""Start-up time of a job."""


def table(counts: Counter[str], text_bytes: int, cores: int) -> Iterator[str]:
    """Yield the lines of the table. counts: number of jobs by rule. text_bytes: of all input.
    cores: processors of the run."""
    if not counts:
        yield "Nothing to do: results/ is up to date."
        return
    jobs: Counter[str] = Counter()
    seconds = dict.fromkeys(STAGES, 0.0)
    guessed = set()
    for rule, count in counts.items():
        stage = stage_of(rule)
        jobs[stage] += count
        if seen := took(rule):
            seconds[stage] += mean(seen) * count
        else:
            guessed.add(stage)
            seconds[stage] += START_SECONDS * count
    for stage in guessed:
        seconds[stage] += CPU_SECONDS_PER_GB[stage] * text_bytes / 1e9
    stages = [stage for stage in STAGES if jobs[stage]]
    told = [[stage, f"{jobs[stage]:,}", duration(seconds[stage])] for stage in stages]
    whole = sum(seconds.values())
    total = [["total", f"{jobs.total():,}", duration(whole)]]
    yield aligned([["stage", "jobs", "time of one core"], *told, *total])
    yield ""
    on = "1 core" if cores == 1 else f"{cores} cores"
    yield f"{jobs.total():,} jobs, about {duration(whole / cores)} on {on}: {BASIS[bool(guessed)]}"
    yield "To list the jobs: --verbose"


def took(rule: str) -> list[float]:
    """Return the seconds that the jobs of a rule took in this folder."""
    return [job.seconds for job in finished_jobs(Path("logs", rule)).values()]
