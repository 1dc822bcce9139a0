"""What jobs took, by their states and the files that Snakemake writes beside them."""

from pathlib import Path

from corpusmill.run.job_state import FINISHED, load_state


def seconds_of(benchmark: Path) -> float:
    """Seconds on the clock; of a job that was measured several times, all of them. ValueError if
    the file is garbled."""
    try:
        heading, *rows = benchmark.read_text("utf-8").splitlines()
        place = heading.split("\t").index("s")
        return sum([float(row.split("\t")[place]) for row in rows])
    except (ValueError, IndexError) as error:
        raise ValueError(
            f"{benchmark}: expected what Snakemake measured of a job, with the column s, found "
            "something else. Remove the file: the time of that job is then left out."
        ) from error


def measured(logs: Path) -> dict[str, dict]:
    """Per rule: jobs, seconds and CPU seconds of all jobs, the largest memory of one, and what
    that one was allowed, 0 where its log does not say.

    Seconds are Snakemake's, start of the job included. CPU and memory are what the job itself says
    at its end: Snakemake looks only now and then, and misses short jobs.
    """
    rules = {}
    for folder in sorted(path for path in logs.iterdir() if path.is_dir()):
        times = [seconds_of(file) for file in folder.rglob("*.tsv")]
        states = filter(None, map(load_state, folder.rglob("*.log")))
        ends = [state for state in states if state.state == FINISHED]
        # This job has no end yet, though its times may be those of an earlier run.
        if times and ends:
            peak, bound = max((end.memory_mb, end.allowed_mb) for end in ends)
            rules[folder.name] = {
                "jobs": len(times),
                "wall_seconds": round(sum(times), 2),
                "cpu_seconds": round(sum(end.cpu_seconds for end in ends), 2),
                "peak_memory_mb": peak,
                "mem_mb": bound,
            }
    return rules
