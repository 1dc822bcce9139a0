"""Time and memory of jobs, from their states and Snakemake's benchmark files."""

from pathlib import Path

from corpusmill.run.job_state import FINISHED, load_state


def seconds_of(benchmark: Path) -> float:
    """Return the wall seconds of a job, summed over repeated measurements.

    Raise ValueError for a malformed file.
    """
    try:
        heading, *rows = benchmark.read_text("utf-8").splitlines()
        place = heading.split("\t").index("s")
        return sum([float(row.split("\t")[place]) for row in rows])
    except (ValueError, IndexError) as error:
        raise ValueError(
            f"{benchmark}: expected a benchmark of Snakemake with the column s, found "
            "something else. Remove the file; reports then leave out the time of that job."
        ) from error


def measured(logs: Path) -> dict[str, dict]:
    """Return per rule: jobs, total wall and CPU seconds, and the peak memory of one job with its
    limit, 0 if unknown.

    Wall seconds are Snakemake's and include the start of the job. CPU and memory are the job's own
    figures: Snakemake samples rarely and misses short jobs.
    """
    rules = {}
    for folder in sorted(path for path in logs.iterdir() if path.is_dir()):
        times = [seconds_of(file) for file in folder.rglob("*.tsv")]
        states = filter(None, map(load_state, folder.rglob("*.log")))
        ends = [state for state in states if state.state == FINISHED]
        # The current job has not finished, though its times may exist from an earlier run.
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
