"""How a run stands, from the files of its folder alone: here or elsewhere, now or later."""

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
from typing import Any

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
"""A job says something every two; this long it may be kept from it by a slow disk."""
SLOW = 3
"""Times as long as half of the jobs of its rule."""
LEAST_TO_COMPARE = 5
CLOCK_TICK = 0.02
"""A file's time may be that much before the clock's."""
DISK_EVERY_SECONDS = 30

MOST_FILES = 200_000
"""Most files of the results to count the bytes of. A slow disk takes some seconds for them."""

OVER = ("finished", "failed", "stopped")
WAITING, DONE = "waiting", "done"


@dataclass
class Watched:
    """A job, as it says itself how it stands."""

    rule: str
    log: Path
    state: str = WAITING
    started: float = 0.0
    heard: float = 0.0
    """When it last said something."""
    seconds: float = 0.0
    peak_mb: int = 0
    bound_mb: int = 0
    """What it may hold, as it says itself: more than its rule says, where it was tried before."""
    killed: bool = False
    """Whether its process is gone, and it has not said so."""

    @property
    def job(self) -> Job:
        return Job(self.rule, self.log, self.started)

    @property
    def name(self) -> str:
        return self.job.name

    def look(self, heard: float) -> None:
        """heard: when its state was written."""
        if self.state == DONE or (heard == self.heard and self.state != RUNNING):
            return
        if (said := load_state(self.log)) is None:
            return  # removed just now
        self.heard, self.started, self.seconds = heard, said.began, said.seconds
        self.peak_mb, self.bound_mb = said.memory_mb, said.allowed_mb
        self.state = DONE if said.state == FINISHED else said.state
        self.killed = said.state == RUNNING and is_gone(said)


def is_gone(said: JobState) -> bool:
    """Whether the process of a job was of this machine and lives no more."""
    return said.host == os.uname().nodename and not (
        0 < said.process < 1 << 31 and psutil.pid_exists(said.process)
    )


@dataclass
class Amounts:
    """What finished jobs have done."""

    documents: int = 0
    text_bytes: int = 0
    tokens: int = 0

    def add(self, job: Watched, results: Path) -> None:
        """What the small file beside a job's results says."""
        which = job.log.with_suffix(".json")
        if job.rule == "normalize":
            found = read_json(results / "text" / which.name)
            for source in found.get("by_source", {}).values():
                self.documents += source["records"]
                self.text_bytes += source["text_bytes"]
        elif job.rule == "encode":
            found = read_json(results / "tokens" / which.parent.name / which.name)
            self.tokens += found.get("tokens", 0)


def read_json(path: Path) -> dict[str, Any]:
    """{} if it is there no more: another run may make it again."""
    try:
        return load_plain_json(path)
    except FileNotFoundError:
        return {}


@dataclass
class Folder:
    """The last run of a folder."""

    path: Path
    jobs: list[Watched] = field(default_factory=list)
    rules: dict[str, RuleJobs] = field(default_factory=dict)
    announced: Announcement | None = None
    began: float = 0.0
    now: float = 0.0
    done: Amounts = field(default_factory=Amounts)
    """What this run has done, not those before it."""
    is_listed: bool = False
    """Whether it is known what there is to do: until then the workflow is read."""
    _listed: tuple[float, str] = (0.0, "")
    """When its list of jobs was written, and the name of its run."""
    _disk: tuple[float, int, bool] = (0.0, 0, True)

    def look(self) -> None:
        """See what has changed; ValueError if no run has begun here."""
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
            listed = JobList("", {})  # that list is of the run before
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
        """When files beside the logs of jobs were written; of none behind a link: only what is here
        is opened and shown."""
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
                            continue  # a lock that is free by now
                        if not stat.S_ISLNK(state.st_mode):
                            found[folder / entry.name] = state.st_mtime
        return found

    def of(self, state: str) -> list[Watched]:
        return [job for job in self.jobs if job.state == state]

    def running(self) -> list[Watched]:
        """In the order in which they began; not those whose process is gone."""
        return sorted(
            (job for job in self.of(RUNNING) if not job.killed), key=lambda job: job.started
        )

    @property
    def last_heard(self) -> float:
        return max([self.began, *(job.heard for job in self.jobs)])

    @property
    def state(self) -> str:
        """finished, reading (the workflow), running, waiting (its jobs are in a queue, perhaps),
        failed or stopped."""
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
        """Why the run failed, if it said so beside its jobs."""
        return self.announced.reason if self.announced else ""

    def killed(self) -> list[Watched]:
        return [job for job in self.of(RUNNING) if job.killed]

    def as_run(self) -> Run:
        """As `corpusmill run` shows it."""
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
        """Those that run and say nothing."""
        for job in self.running():
            if self.now - job.heard > STALLED_SECONDS:
                yield job

    def slow(self) -> Iterator[tuple[Watched, float]]:
        """Those that run far longer than others of their rule, and how long these took."""
        seconds = defaultdict(list)
        for job in self.of(DONE):
            seconds[job.rule].append(job.seconds)
        for job in self.running():
            if len(seconds[job.rule]) >= LEAST_TO_COMPARE:
                usual = statistics.median(seconds[job.rule])
                if self.now - job.started > max(SLOW * usual, STALLED_SECONDS):
                    yield job, usual

    def fullest(self) -> Watched | None:
        """Which has come nearest to the memory that it may hold."""
        bounded = [job for job in self.jobs if job.peak_mb and self.bound_of(job)]
        return max(bounded, default=None, key=lambda job: job.peak_mb / self.bound_of(job))

    def bound_of(self, job: Watched) -> int:
        """MB that it may hold; 0: not said."""
        return job.bound_mb or self.rules[job.rule].mem_mb

    def seconds_of(self, rule: str) -> float:
        """From the beginning of its first job to the end of its last, or to now."""
        jobs = [job for job in self.jobs if job.rule == rule and job.state in (DONE, RUNNING)]
        if not jobs:
            return 0.0
        ends = [job.heard if job.state == DONE or job.killed else self.now for job in jobs]
        return max(ends) - min(job.started for job in jobs)

    def disk(self) -> tuple[int, bool, int]:
        """Bytes that results/ takes, looked at now and then; whether these are all; bytes that are
        left."""
        results = self.path / "results"
        if self.now - self._disk[0] > DISK_EVERY_SECONDS:
            self._disk = self.now, *size_of(results)
        free = shutil.disk_usage(results if results.exists() else self.path).free
        return self._disk[1], self._disk[2], free


def size_of(folder: Path) -> tuple[int, bool]:
    """Bytes that the files of a folder take on disk; whether it has no more than MOST_FILES, which
    are all that is looked at."""
    files = (os.path.join(parent, name) for parent, _, names in os.walk(folder) for name in names)
    size = 0
    for path in itertools.islice(files, MOST_FILES):
        try:
            size += os.lstat(path).st_blocks * 512
        except (FileNotFoundError, PermissionError):
            continue  # a temporary file, moved by now; or one of somebody else
    return size, next(files, None) is None
