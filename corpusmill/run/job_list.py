"""Which jobs a run has to do: written before the first of them, for whoever watches it."""

from pathlib import Path
from typing import NamedTuple

from corpusmill.mill.storage.files import save_plain_json
from corpusmill.mill.storage.untrusted import load_plain_json

JOB_LIST = Path("logs/jobs.json")


class RuleJobs(NamedTuple):
    mem_mb: int
    """What a job may hold; 0: not said."""
    logs: list[str]
    """Of each job that is to be done its log, which is written to once the job has begun."""


class JobList(NamedTuple):
    run: str
    """The name of the run, as it was announced; "" for a module's, which nobody announces."""
    rules: dict[str, RuleJobs]


def save_job_list(rules: dict[str, RuleJobs], path: Path, run: str = "") -> None:
    """Say that the first job of a run begins now."""
    said = {rule: jobs._asdict() for rule, jobs in rules.items()}
    save_plain_json(path, {"corpusmill.jobs": 1, "run": run, "rules": said})


def load_job_list(path: Path) -> JobList:
    """What the last run of a folder set out to do; ValueError if none did."""
    if not path.exists():
        raise ValueError(
            f"{path} is not there: no run has begun in this folder. Name the folder that has "
            "results/ and logs/, or start a run."
        )
    found = load_plain_json(path)
    if found.get("corpusmill.jobs") != 1:
        raise ValueError(f"{path}: not a list of jobs of this version")
    rules = {rule: RuleJobs(**jobs) for rule, jobs in found["rules"].items()}
    return JobList(found.get("run", ""), rules)
