"""Which jobs a run has to do: written before the first of them, for whoever watches it."""

from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec

from corpusmill.mill.storage.files import save_plain_json
from corpusmill.mill.storage.untrusted import load_plain_json

JOB_LIST = Path("logs/jobs.json")
MOST_JOBS = 1_000_000
MOST_FOLDERS = 1_000
"""Of logs. A rule has one of them, or one per split."""


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
    if not isinstance(found, dict) or found.get("corpusmill.jobs") != 1:
        raise ValueError(f"{path}: not a list of jobs of this version")
    try:
        listed = msgspec.convert([found.get("run", ""), found.get("rules")], _Said)
    except msgspec.ValidationError as error:
        raise ValueError(
            f"{path}: expected a list of jobs, found another one ({error}). Remove it, and run "
            "again."
        ) from error
    rules = {rule: RuleJobs(jobs.mem_mb, jobs.logs) for rule, jobs in listed.rules.items()}
    return JobList(listed.run, rules)


class _Rule(msgspec.Struct):
    mem_mb: int
    logs: list[str]


class _Said(NamedTuple):
    run: str
    rules: dict[str, _Rule]


def refuse_foreign_logs(listed: JobList, path: Path) -> None:
    """ValueError where a list names more jobs than a run has, or files that are no logs of its
    folder: anybody may have written it. path: that of the list."""
    logs = [log for jobs in listed.rules.values() for log in jobs.logs]
    for log in logs[: MOST_JOBS + 1]:
        parts = PurePosixPath(log).parts
        if parts[:1] != ("logs",) or ".." in parts or not log.endswith(".log") or "\0" in log:
            raise ValueError(
                f"{path}: expected logs below logs/, found {log!r:.80}. Remove it, and run again."
            )
    folders = len({log.rpartition("/")[0] for log in logs[:MOST_JOBS]})
    for what, most, count in (
        ("jobs", MOST_JOBS, len(logs)),
        ("rules", MOST_FOLDERS, len(listed.rules)),
        ("folders of logs", MOST_FOLDERS, folders),
    ):
        if count > most:
            raise ValueError(
                f"{path}: expected {most:,} {what} at most, found {count:,}. Remove it, and run "
                "again."
            )
