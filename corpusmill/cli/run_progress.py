"""The progress of a run, collected from Snakemake and its running jobs."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from corpusmill.run.job_state import RUNNING, load_state
from corpusmill.run.step_log import memory_in_words
from corpusmill.run.steps import STEPS


@dataclass
class Job:
    rule: str
    log: Path | None
    started: float

    @property
    def name(self) -> str:
        """Name rule and job, such as `encode train/00001`."""
        if self.log is None:
            return self.rule
        parts = self.log.with_suffix("").parts
        which = "/".join(parts[parts.index(self.rule) + 1 :]) if self.rule in parts else ""
        return self.rule if which in ("", self.rule) else f"{self.rule} {which}"

    @property
    def does(self) -> str:
        """Return the purpose of the job's rule; "" for a rule of another workflow."""
        return STEPS[self.rule].does if self.rule in STEPS else ""

    def doing(self) -> str:
        """Return what the job does now; "" if it has not begun or has ended."""
        said = load_state(self.log) if self.log else None
        if said is None or said.state != RUNNING or not said.said:
            return ""
        return f"{said.said}, memory {memory_in_words(said.memory_mb, said.allowed_mb)}"


class Run:
    """The progress of a run. `apply` takes the events of the logger plugin."""

    def __init__(
        self, now: Callable[[], float] = time.monotonic, began: float | None = None
    ) -> None:
        self._now = now
        self.began = now() if began is None else began
        self.first_job: float | None = None
        """Start time of the first job; until then, Snakemake reads the workflow."""
        self.counts: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.jobs: dict[int, Job] = {}
        """Running jobs."""
        self.failed: list[Job] = []
        self.refused: list[str] = []
        self.notes: list[str] = []
        """Notes that have not been printed yet."""
        self.errors: list[tuple[str, str]] = []
        """Kind and text of each error that Snakemake reports."""
        self.stopping = False
        """Whether Snakemake is shutting down."""

    def apply(self, event: dict) -> None:
        match event["event"]:
            case "jobs":
                self.counts = Counter(event["counts"])
            case "job":
                if self.first_job is None:
                    self.first_job = self._now()
                self.jobs[event["id"]] = Job(event["rule"], _first(event["log"]), self._now())
            case "finished":
                if job := self.jobs.pop(event["id"], None):
                    self.done[job.rule] += 1
                    self.seconds[job.rule] += self._now() - job.started
            case "failed":
                self.jobs.pop(event["id"], None)
                self.failed.append(Job(event["rule"], _first(event["log"]), self._now()))
            case "refused":
                self.refused.append(event["text"])
            case "note":
                self.notes.append(event["text"])
            case "stopping":
                self.stopping = True
            case "error":
                self.errors.append((event["kind"] or "", event["text"]))

    @property
    def total(self) -> int:
        return self.counts.total()

    @property
    def finished(self) -> int:
        return self.done.total()

    @property
    def elapsed(self) -> float:
        return self._now() - self.began

    def running(self) -> list[Job]:
        """Return a copy of the running jobs, in the order of their start: the next event may change
        them."""
        return list(self.jobs.values())

    def seconds_left(self) -> float | None:
        """Estimate the time left from the finished jobs of each rule. None while most of the
        remaining jobs are of rules without a finished job."""
        left = {rule: count - self.done[rule] for rule, count in self.counts.items()}
        known = {rule: self.seconds[rule] / self.done[rule] for rule in left if self.done[rule]}
        jobs_known = sum(left[rule] for rule in known)
        if not jobs_known or 2 * jobs_known < sum(left.values()):
            return None
        seconds = sum(left[rule] * known[rule] for rule in known)
        worked = self.elapsed if self.first_job is None else self._now() - self.first_job
        at_once = max(1.0, sum(self.seconds.values()) / max(worked, 1e-9))
        return seconds * sum(left.values()) / jobs_known / at_once


def _first(paths: list[str]) -> Path | None:
    return Path(paths[0]) if paths else None
