"""The list of a run's jobs, written before the first one starts, for those who watch the run."""

from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec

from corpusmill.mill.storage.files import save_plain_json
from corpusmill.mill.storage.untrusted import load_plain_json

JOB_LIST = Path("logs/jobs.json")
MOST_JOBS = 1_000_000
MOST_FOLDERS = 1_000
"""Maximum number of log folders. A rule has one folder, or one per split."""


class RuleJobs(NamedTuple):
    mem_mb: int
    """Maximum memory of a job, in MB; 0: unknown."""
    logs: list[str]
    """The log of each job that has to run. It exists once the job has started."""


class JobList(NamedTuple):
    run: str
    """Name of the announced run; "" for a module, which is not announced."""
    rules: dict[str, RuleJobs]


def save_job_list(rules: dict[str, RuleJobs], path: Path, run: str = "") -> None:
    """Save the jobs of a run, just before the first one starts."""
    said = {rule: jobs._asdict() for rule, jobs in rules.items()}
    save_plain_json(path, {"corpusmill.jobs": 1, "run": run, "rules": said})


def load_job_list(path: Path) -> JobList:
    """Return the jobs of a folder's last run; raise ValueError if there was none."""
    if not path.exists():
        raise ValueError(
            f"{path} does not exist: no run has begun in this folder. Name the folder that has "
            "results/ and logs/, or start a run."
        )
    found = load_plain_json(path)
    if not isinstance(found, dict) or found.get("corpusmill.jobs") != 1:
        raise ValueError(
            f"{path}: expected a list of jobs of this version of corpusmill, found something else. "
            "Remove the file, and run again."
        )
    try:
        listed = msgspec.convert([found.get("run", ""), found.get("rules")], _Said)
    except msgspec.ValidationError as error:
        raise ValueError(
            f"{path}: malformed list of jobs ({error}). Remove the file, and run again."
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
    """Raise ValueError if a list has too many jobs, or files that are not logs of its folder.

    The list is untrusted: it may come with a folder from elsewhere. path: of the list.
    """
    logs = [log for jobs in listed.rules.values() for log in jobs.logs]
    for log in logs[: MOST_JOBS + 1]:
        parts = PurePosixPath(log).parts
        if parts[:1] != ("logs",) or ".." in parts or not log.endswith(".log") or "\0" in log:
            raise ValueError(
                f"{path}: expected logs below logs/, found {log!r:.80}. Remove the file, and "
                "run again."
            )
    folders = len({log.rpartition("/")[0] for log in logs[:MOST_JOBS]})
    for what, most, count in (
        ("jobs", MOST_JOBS, len(logs)),
        ("rules", MOST_FOLDERS, len(listed.rules)),
        ("folders of logs", MOST_FOLDERS, folders),
    ):
        if count > most:
            raise ValueError(
                f"{path}: expected at most {most:,} {what}, found {count:,}. Remove the file, and "
                "run again."
            )
