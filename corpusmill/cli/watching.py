"""How a run stands, from the files of its folder alone: here or elsewhere, now or later."""

import itertools
import os
import re
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

from corpusmill.cli.failures import REASON
from corpusmill.cli.run_progress import HEARTBEAT_BYTES, HELD, Job, Run
from corpusmill.mill.storage.regular_files import open_regular
from corpusmill.mill.storage.untrusted import load_plain_json
from corpusmill.run.announcement import (
    ANNOUNCEMENT,
    FINISHED,
    LOCKS,
    NOTHING,
    Announcement,
    load_announcement,
)
from corpusmill.run.job_list import (
    JOB_LIST,
    JobList,
    RuleJobs,
    load_job_list,
    refuse_foreign_logs,
)
from corpusmill.run.step_log import ENDED_BY_HAND

STALLED_SECONDS = 30
"""A job says something every two; this long it may be kept from it by a slow disk."""
SLOW = 3
"""Times as long as half of the jobs of its rule."""
LEAST_TO_COMPARE = 5
CLOCK_TICK = 0.02
"""A file's time may be that much before the clock's."""
DISK_EVERY_SECONDS = 30

ENDED = re.compile(
    r"finished: (?P<seconds>\d{1,12}(\.\d{1,9})?) s, [\d.]+ s of CPU, "
    r"peak memory (?P<peak>\d{1,12}) MB( of (?P<bound>\d{1,12}))?$"
)
HOLDER = re.compile(r"process (?P<pid>\d{1,9}) on (?P<host>[^\s,]{1,255})(, SLURM job \S{1,99})?")
MOST_LOCK_BYTES = 4096
MOST_FILES = 200_000
"""Most files of the results to count the bytes of. A slow disk takes some seconds for them."""

OVER = ("finished", "failed", "stopped")
WAITING, RUNNING, DONE, FAILED, STOPPED = "waiting", "running", "done", "failed", "stopped"


@dataclass
class Watched:
    """A job, as its log has it."""

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
    def name(self) -> str:
        return Job(self.rule, self.log, self.started).name

    def look(self, heard: float, locked: float | None) -> None:
        """heard: when its log was written; locked: when its lock was, if there is one."""
        if self.state == DONE or (heard == self.heard and locked is None):
            return
        self.heard = heard
        last = end_of(self.log)
        if found := ENDED.search(last):
            self.state, self.seconds = DONE, float(found["seconds"])
            self.peak_mb, self.bound_mb = int(found["peak"]), int(found["bound"] or 0)
            self.started = heard - self.seconds
        elif REASON.search(last):
            self.state = STOPPED if ENDED_BY_HAND in last else FAILED
        else:
            self.state = RUNNING
            self.started = locked or self.started or heard
            self.killed = locked is not None and is_gone(self.lock)
            if found := HELD.search(last):
                self.peak_mb, self.bound_mb = int(found["mb"]), int(found["bound"] or 0)

    @property
    def lock(self) -> Path:
        return self.log.with_name(f".{self.log.name}.lock")


def end_of(log: Path) -> str:
    """The last line of a log; of a failed job all that its log ends with."""
    try:
        with open_regular(log) as file:
            file.seek(max(0, log.stat().st_size - HEARTBEAT_BYTES))
            text = file.read().decode("utf-8", "replace").rstrip("\n")
    except FileNotFoundError:  # Snakemake has removed it just now
        return ""
    return text if REASON.search(text) else text.rpartition("\n")[2]


def is_gone(lock: Path) -> bool:
    """Whether the process that wrote a lock was of this machine and lives no more."""
    try:
        with open_regular(lock) as file:
            found = HOLDER.fullmatch(file.read(MOST_LOCK_BYTES).decode("utf-8", "replace").strip())
    except FileNotFoundError:
        return False
    return bool(
        found and found["host"] == os.uname().nodename and not psutil.pid_exists(int(found["pid"]))
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
            heard = times.get(job.log)
            if heard is None or heard < written - CLOCK_TICK:
                continue
            was = job.state
            job.look(heard, times.get(job.lock))
            if job.state == DONE != was:
                self.done.add(job, self.path / "results")

    def _times(self) -> dict[Path, float]:
        """When the logs and locks of jobs were written; of no others, and of none behind a link:
        only what is here is opened and shown."""
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
        if outcome in (FINISHED, NOTHING):
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
        run.jobs = {n: Job(job.rule, job.log, job.started) for n, job in enumerate(self.running())}
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
