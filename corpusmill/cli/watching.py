"""The state of a run, read only from the files of its folder, on any machine, during or after
it."""

import itertools
import os
import shutil
import stat
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
import psutil

from corpusmill.cli.run_progress import Job, Run
from corpusmill.mill.storage.untrusted import load_plain_json
from corpusmill.run import announcement
from corpusmill.run.announcement import ANNOUNCEMENT, LOCKS, Announcement, load_announcement
from corpusmill.run.job_list import (
    JOB_LIST,
    JobList,
    RuleJobs,
    load_job_list,
    refuse_foreign_logs,
)
from corpusmill.run.job_state import FAILED, FINISHED, RUNNING, JobState, load_state, state_file

STALLED_SECONDS = 30
"""A job that has not reported for this long is stalled. Jobs report every two seconds; a slow disk
may delay that."""
SLOW = 3
"""A job is slow if it takes this many times the median of its rule."""
LEAST_TO_COMPARE = 5
CLOCK_TICK = 0.02
"""Seconds by which a file's modification time may lag behind the clock."""
DISK_EVERY_SECONDS = 30

MOST_FILES = 200_000
"""Maximum number of result files to measure: on a slow disk, these take some seconds."""

OVER = ("finished", "failed", "stopped")
WAITING, DONE = "waiting", "done"


Counts = TypeVar("Counts")
Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class SourceCounts(msgspec.Struct):
    records: Count
    text_bytes: Count


class TextCounts(msgspec.Struct):
    """The counts that `normalize` writes beside its text."""

    by_source: dict[str, SourceCounts]


class TokenCounts(msgspec.Struct):
    """The counts that `encode` writes beside its token ids."""

    tokens: Count = 0


@dataclass
class Watched:
    """A job as it reports itself."""

    rule: str
    log: Path
    state: str = WAITING
    started: float = 0.0
    heard: float = 0.0
    """Time of the job's last report."""
    seconds: float = 0.0
    peak_mb: int = 0
    bound_mb: int = 0
    """Memory limit that the job reports: after a retry, higher than that of its rule."""
    killed: bool = False
    """Whether the job's process ended without a final report."""

    @property
    def job(self) -> Job:
        return Job(self.rule, self.log, self.started)

    @property
    def name(self) -> str:
        return self.job.name

    def look(self, heard: float) -> None:
        """Read the job's state. heard: when the state was written."""
        if self.state == DONE or (heard == self.heard and self.state != RUNNING):
            return
        if (said := load_state(self.log)) is None:
            return  # removed meanwhile
        self.heard, self.started, self.seconds = heard, said.began, said.seconds
        self.peak_mb, self.bound_mb = said.memory_mb, said.allowed_mb
        self.state = DONE if said.state == FINISHED else said.state
        self.killed = said.state == RUNNING and is_gone(said)


def is_gone(said: JobState) -> bool:
    """Say whether the process of a job ran on this machine and has ended."""
    return said.host == os.uname().nodename and not (
        0 < said.process < 1 << 31 and psutil.pid_exists(said.process)
    )


@dataclass
class Amounts:
    """Totals of finished jobs."""

    documents: int = 0
    text_bytes: int = 0
    tokens: int = 0

    def add(self, job: Watched, results: Path) -> None:
        """Add the figures from the small file beside a job's results."""
        which = job.log.with_suffix(".json")
        if job.rule == "normalize":
            counted = counts_in(results / "text" / which.name, TextCounts) or TextCounts({})
            for source in counted.by_source.values():
                self.documents += source.records
                self.text_bytes += source.text_bytes
        elif job.rule == "encode":
            file = results / "tokens" / which.parent.name / which.name
            self.tokens += (counts_in(file, TokenCounts) or TokenCounts()).tokens


def counts_in(file: Path, kind: type[Counts]) -> Counts | None:
    """Return the counts in a JSON file; None if the file is missing: another run may be rewriting
    it."""
    try:
        return msgspec.convert(load_plain_json(file), kind)
    except FileNotFoundError:
        return None
    except msgspec.ValidationError as error:
        raise ValueError(f"{file}: expected the counts of a job, found something else: "
            f"{error}. Remove the file, and run again.") from None  # fmt: skip


@dataclass
class Folder:
    """The latest run of a folder."""

    path: Path
    jobs: list[Watched] = field(default_factory=list)
    rules: dict[str, RuleJobs] = field(default_factory=dict)
    announced: Announcement | None = None
    began: float = 0.0
    now: float = 0.0
    done: Amounts = field(default_factory=Amounts)
    """Totals of this run, without earlier runs."""
    is_listed: bool = False
    """Whether the job list exists; before that, Snakemake reads the workflow."""
    _listed: tuple[float, str] = (0.0, "")
    """Time of the job list, and name of its run."""
    _disk: tuple[float, int, bool] = (0.0, 0, True)

    def look(self) -> None:
        """Read what has changed. Raise ValueError if no run has begun in this folder."""
        self.now = time.time()
        list_file = self.path / JOB_LIST
        self.announced = load_announcement(self.path / ANNOUNCEMENT)
        listed = JobList("", {})
        if list_file.exists() or not self.announced:
            listed = load_job_list(list_file)
            refuse_foreign_logs(listed, list_file)
        self.is_listed = not self.announced or listed.run == self.announced.run
        written = list_file.stat().st_mtime if self.is_listed else 0.0
        if not self.is_listed:
            listed = JobList("", {})  # the list is of the previous run
        if (written, listed.run) != self._listed:
            self._listed, self.rules, self.done = (written, listed.run), listed.rules, Amounts()
            self.jobs = [
                Watched(rule, self.path / log)
                for rule, jobs in listed.rules.items()
                for log in jobs.logs
            ]
        self.began = self.announced.began if self.announced else written
        times = self._times()
        for job in self.jobs:
            heard = times.get(state_file(job.log))
            if heard is None or heard < written - CLOCK_TICK:
                continue
            was = job.state
            job.look(heard)
            if job.state == DONE != was:
                self.done.add(job, self.path / "results")

    def _times(self) -> dict[Path, float]:
        """Return the times of the files beside the job logs. Symlinks are skipped: only files of
        this folder are opened and shown."""
        found = {}
        inside = os.path.realpath(self.path / JOB_LIST.parent)
        for folder in {job.log.parent for job in self.jobs}:
            real = os.path.realpath(folder)
            if os.path.commonpath([real, inside]) == inside and folder.is_dir():
                with os.scandir(folder) as entries:
                    for entry in entries:
                        try:
                            state = entry.stat(follow_symlinks=False)
                        except FileNotFoundError:
                            continue  # a lock that has been released
                        if not stat.S_ISLNK(state.st_mode):
                            found[folder / entry.name] = state.st_mtime
        return found

    def of(self, state: str) -> list[Watched]:
        return [job for job in self.jobs if job.state == state]

    def running(self) -> list[Watched]:
        """Return the running jobs in the order of their start, without dead ones."""
        return sorted(
            (job for job in self.of(RUNNING) if not job.killed), key=lambda job: job.started
        )

    @property
    def last_heard(self) -> float:
        return max([self.began, *(job.heard for job in self.jobs)])

    @property
    def state(self) -> str:
        """Return finished, reading (the workflow), running, waiting (jobs may be queued), failed or
        stopped."""
        outcome = self.announced.outcome if self.announced else ""
        is_alive = self.announced.is_alive if self.announced else None
        if outcome in (announcement.FINISHED, announcement.NOTHING):
            return "finished"
        if not self.is_listed and is_alive is not False:
            return "reading"
        if self.is_listed and all(job.state == DONE for job in self.jobs):
            return "running" if is_alive else "failed" if outcome else "finished"
        if self.running():
            return "running"
        locks = self.path / LOCKS
        if is_alive or (is_alive is None and locks.is_dir() and any(locks.iterdir())):
            is_new = self.now - self.last_heard < STALLED_SECONDS
            return "running" if is_new else "waiting"
        return "failed" if self.of(FAILED) or self.killed() or self.reason else "stopped"

    @property
    def reason(self) -> str:
        """Return why the run failed, if a reason is recorded apart from its jobs."""
        return self.announced.reason if self.announced else ""

    def killed(self) -> list[Watched]:
        return [job for job in self.of(RUNNING) if job.killed]

    def as_run(self) -> Run:
        """Return the run in the form that `corpusmill run` shows."""
        over = self.state in OVER
        ended = self.announced.ended if self.announced else None
        until = ended or (self.last_heard if over else self.now)
        run = Run(lambda: until, self.began)
        run.first_job = min((job.started for job in self.jobs if job.started), default=None)
        run.counts = Counter({rule: len(jobs.logs) for rule, jobs in self.rules.items()})
        for job in self.of(DONE):
            run.done[job.rule] += 1
            run.seconds[job.rule] += job.seconds
        run.jobs = {n: job.job for n, job in enumerate(self.running())}
        return run

    def stalled(self) -> Iterator[Watched]:
        """Yield running jobs without recent reports."""
        for job in self.running():
            if self.now - job.heard > STALLED_SECONDS:
                yield job

    def slow(self) -> Iterator[tuple[Watched, float]]:
        """Yield jobs that run far longer than others of their rule, with the usual time."""
        seconds = defaultdict(list)
        for job in self.of(DONE):
            seconds[job.rule].append(job.seconds)
        for job in self.running():
            if len(seconds[job.rule]) >= LEAST_TO_COMPARE:
                usual = statistics.median(seconds[job.rule])
                if self.now - job.started > max(SLOW * usual, STALLED_SECONDS):
                    yield job, usual

    def fullest(self) -> Watched | None:
        """Return the job closest to its memory limit."""
        bounded = [job for job in self.jobs if job.peak_mb and self.bound_of(job)]
        return max(bounded, default=None, key=lambda job: job.peak_mb / self.bound_of(job))

    def bound_of(self, job: Watched) -> int:
        """Return the memory limit of a job in MB; 0 if unknown."""
        return job.bound_mb or self.rules[job.rule].mem_mb

    def seconds_of(self, rule: str) -> float:
        """Return the seconds from the start of a rule's first job to the end of its last job, or
        until now."""
        jobs = [job for job in self.jobs if job.rule == rule and job.state in (DONE, RUNNING)]
        if not jobs:
            return 0.0
        ends = [job.heard if job.state == DONE or job.killed else self.now for job in jobs]
        return max(ends) - min(job.started for job in jobs)

    def disk(self) -> tuple[int, bool, int]:
        """Return the bytes used by results/, whether all files were counted, and the free bytes.
        The figures are refreshed only occasionally."""
        results = self.path / "results"
        if self.now - self._disk[0] > DISK_EVERY_SECONDS:
            self._disk = self.now, *size_of(results)
        free = shutil.disk_usage(results if results.exists() else self.path).free
        return self._disk[1], self._disk[2], free


def size_of(folder: Path) -> tuple[int, bool]:
    """Return the disk usage of a folder, and whether all files were counted; at most MOST_FILES
    are."""
    files = (os.path.join(parent, name) for parent, _, names in os.walk(folder) for name in names)
    size = 0
    for path in itertools.islice(files, MOST_FILES):
        try:
            size += os.lstat(path).st_blocks * 512
        except (FileNotFoundError, PermissionError):
            continue  # a temporary file, moved meanwhile, or not readable
    return size, next(files, None) is None
