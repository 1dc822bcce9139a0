"""Which jobs a run has to do: written before the first of them, for whoever watches it."""

from pathlib import Path
from typing import NamedTuple

from corpusmill.storage.files import load_plain_json, save_plain_json

JOB_LIST = Path("logs/jobs.json")


class RuleJobs(NamedTuple):
    mem_mb: int
    """What a job may hold; 0: not said."""
    logs: list[str]
    """Of each job that is to be done its log, which is written to once the job has begun."""


def save_job_list(rules: dict[str, RuleJobs], path: Path) -> None:
    """Say that a run begins now."""
    said = {rule: jobs._asdict() for rule, jobs in rules.items()}
    save_plain_json(path, {"corpusmill.jobs": 1, "rules": said})


def load_job_list(path: Path) -> dict[str, RuleJobs]:
    """What the last run of a folder set out to do; ValueError if none did."""
    if not path.exists():
        raise ValueError(
            f"{path} is not there: no run has begun in this folder. Name the folder that has "
            "results/ and logs/, or start a run."
        )
    found = load_plain_json(path)
    if found.get("corpusmill.jobs") != 1:
        raise ValueError(f"{path}: not a list of jobs of this version")
    return {rule: RuleJobs(**jobs) for rule, jobs in found["rules"].items()}
