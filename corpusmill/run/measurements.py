"""Time and memory of jobs, from the states beside their logs."""

from pathlib import Path

from corpusmill.run.job_state import FINISHED, JobState, load_state


def finished_jobs(logs: Path) -> dict[Path, JobState]:
    """Return the states of finished jobs by their logs. logs: of one rule; it need not exist.

    Raise ValueError for a malformed state.
    """
    states = {log: load_state(log) for log in sorted(logs.rglob("*.log"))}
    return {log: state for log, state in states.items() if state and state.state == FINISHED}


def measured(logs: Path) -> dict[str, dict]:
    """Return per rule: jobs, total wall and CPU seconds, and the peak memory of one job with its
    limit, 0 if unknown. Wall seconds include the start of a job."""
    rules = {}
    for folder in sorted(path for path in logs.iterdir() if path.is_dir()):
        if ends := finished_jobs(folder).values():
            peak, bound = max((end.memory_mb, end.allowed_mb) for end in ends)
            rules[folder.name] = {
                "jobs": len(ends),
                "wall_seconds": round(sum(end.seconds for end in ends), 2),
                "cpu_seconds": round(sum(end.cpu_seconds for end in ends), 2),
                "peak_memory_mb": peak,
                "mem_mb": bound,
            }
    return rules
