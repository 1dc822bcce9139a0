"""Track the state of jobs on SLURM, and find out why they ended.

Version 2.8.0 of Snakemake's plug-in can wait forever for a job:
- if squeue forgot it (MinJobAge) before the plug-in asked,
- if sacct calls it "CANCELLED by 0",
- if it was preempted and is not queued again,
- for all jobs after squeue has failed five times.
`watched` replaces the status check of its executor. It asks squeue only. If squeue no longer knows
a job, the step's own state says whether it finished.
"""

import asyncio
import re
import subprocess
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from corpusmill.mill.storage.files import save_plain_json
from corpusmill.mill.storage.untrusted import load_plain_json
from corpusmill.run.job_state import (
    FAILED,
    FINISHED,
    RUNNING,
    STOPPED,
    JobState,
    load_state,
    save_state,
)  # fmt: skip

GOOD = "COMPLETED"
LOST = "LOST"
"""State of a job that squeue does not know and whose step did not finish. SLURM has no such
state."""
# Ends for which a retry needs no more memory.
OTHER_CAUSES = {"BOOT_FAIL", "CANCELLED", "DEADLINE", "NODE_FAIL", "PREEMPTED", "TIMEOUT"}
ENDS = {GOOD, "FAILED", "OUT_OF_MEMORY", *OTHER_CAUSES}
# SLURM may queue such a job again, or not.
PASSING = {"NODE_FAIL", "PREEMPTED"}

# A job must be gone for so many first intervals.
PATIENCE = 6
MOST_SECONDS_BETWEEN = 60
ANSWER_SECONDS = 60
TAIL_BYTES = 1 << 16

REASON = re.compile(
    r"^slurmstepd\S*: error: (.*(?:memory limit \(|oom.kill|CANCELLED AT).*)$",
    re.MULTILINE | re.IGNORECASE,
)
MEMORY = re.compile(
    r"memory limit|oom.kill|killed \(signal 9\)|Cannot allocate memory", re.IGNORECASE
)


def tail(path: Path | str | None) -> str:
    """Return the end of a log; "" if there is none."""
    try:
        with open(path or "", "rb") as file:
            file.seek(max(file.seek(0, 2) - TAIL_BYTES, 0))
            return file.read().decode("utf-8", "replace")
    except FileNotFoundError:
        return ""


def states_of(answer: str) -> dict[str, str]:
    """Return job -> state from lines like `17|CANCELLED by 0`."""
    rows = (line.split("|") for line in answer.splitlines() if "|" in line)
    return {number.strip(): state.split()[0] for number, state, *_ in rows if state.strip()}


def steps_of(job: Any) -> list[Any]:
    return list(job.jobs) if job.is_group() else [job]


def logs_of(job: Any) -> list[Path]:
    return [Path(log) for step in steps_of(job) for log in step.log]


def has_finished(job: Any) -> bool:
    """Say whether all steps of a job finished. A run removes earlier states before it begins."""
    states = states_of_steps(job)
    return bool(states) and all(state and state.state == FINISHED for state in states)


def states_of_steps(job: Any) -> list[JobState | None]:
    return [load_state(log) for log in logs_of(job)]


def why(job: Any, slurm_log: Path | None) -> tuple[str, bool]:
    """Return the reason of a failure and whether it explains the failure.

    The reason is SLURM's if it wrote one, else a step's own, else "".
    """
    if found := REASON.findall(tail(slurm_log)):
        # SLURM also reports a step killed for memory as cancelled.
        return next(filter(MEMORY.search, found), found[-1]).strip("* "), True
    for state in states_of_steps(job):
        if state and state.state in (FAILED, STOPPED):
            return state.said.strip(), not state.is_fault
    return "", False


def tell_logs(job: Any, told: str) -> None:
    """Append the reason to the logs of the steps that were interrupted."""
    logs = logs_of(job)
    for log, state in zip(logs, states_of_steps(job), strict=True):
        if state.state == RUNNING if state else len(logs) == 1:
            log.parent.mkdir(parents=True, exist_ok=True)
            with open(log, "a", encoding="utf-8") as file:
                file.write(f"{time.strftime('%H:%M:%S')} error: {told}\n")
            save_state(log, replace(state or JobState(FAILED), state=FAILED, said=told))


class Spared:
    """A count of attempts that failed for another reason than memory; retries then need no more.

    It is a file, as the Snakemake inside a job has to compute the same memory.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def clear(self) -> None:
        self.path.unlink(missing_ok=True)

    def _counts(self) -> dict[str, int]:
        return load_plain_json(self.path) if self.path.exists() else {}

    def add(self, job: Any) -> None:
        counts = self._counts()
        for step in steps_of(job):
            key = self._key(step.rule.name, step.wildcards)
            counts[key] = counts.get(key, 0) + 1
        save_plain_json(self.path, counts)

    def of(self, rule: str, wildcards: Any) -> int:
        return self._counts().get(self._key(rule, wildcards), 0)

    @staticmethod
    def _key(rule: str, wildcards: Any) -> str:
        return " ".join([rule, *map(str, wildcards)])


class Queue:
    """The jobs that are missing or preempted, and since when."""

    def __init__(self) -> None:
        self._unsettled: dict[str, float] = {}

    def end_of(
        self, number: str, state: str | None, finished: Callable[[], bool], now: float, wait: float
    ) -> str | None:
        """Return how a job ended; None if it has not ended or that is uncertain.

        state: None if squeue does not know the job. wait: seconds until the job counts as lost.
        """
        if state is None and finished():
            return GOOD
        if state is None or state in PASSING:
            since = self._unsettled.setdefault(number, now)
            return (state or LOST) if now - since >= wait else None
        self._unsettled.pop(number, None)
        return state if state in ENDS else None


async def squeue(run: str) -> str:
    """Return squeue's states of all jobs of a run; raise ValueError if SLURM does not answer."""
    command = ["squeue", "--noheader", "--array", "--states=all", "--format=%i|%T", "--name", run]
    process = await asyncio.create_subprocess_exec(
        *command, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        said, error = await asyncio.wait_for(process.communicate(), ANSWER_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()
        raise ValueError(f"no answer within {ANSWER_SECONDS} s") from None
    if process.returncode:
        raise ValueError(error.decode("utf-8", "replace").strip() or f"exit {process.returncode}")
    return said.decode("utf-8", "replace")


def watched(executor: Any, hear: Callable[[str], None], spared: Spared) -> Any:
    """Return the plug-in's executor with our status check.

    hear: called with one line per failed job.
    """

    class Watched(executor):  # type: ignore[misc]
        def __post_init__(self, *arguments: Any) -> None:
            self.queue, self.answers = Queue(), True
            super().__post_init__(*arguments)

        async def check_active_jobs(self, active_jobs: list[Any]) -> AsyncIterator[Any]:
            first = self.workflow.executor_settings.init_seconds_before_status_checks
            if not active_jobs:
                self.next_seconds_between_status_checks = first
                return
            try:
                states = states_of(await squeue(self.run_uuid))
            except (OSError, ValueError) as error:
                if self.answers:
                    self.logger.warning(f"squeue does not answer ({error}); retrying.")
                self.answers = False
                for submitted in active_jobs:
                    yield submitted
                return
            self.answers = True
            before = self.next_seconds_between_status_checks
            self.next_seconds_between_status_checks = min(before + first, MOST_SECONDS_BETWEEN)
            for submitted in active_jobs:
                number = submitted.external_jobid
                finished = partial(has_finished, submitted.job)
                state, wait = states.get(number), PATIENCE * first
                end = self.queue.end_of(number, state, finished, time.monotonic(), wait)
                if end is None:
                    yield submitted
                    continue
                self.next_seconds_between_status_checks = first
                if end == GOOD:
                    self.report_job_success(submitted)
                    if not self.workflow.executor_settings.keep_successful_logs:
                        submitted.aux["slurm_logfile"].unlink(missing_ok=True)
                else:
                    self.report_end(submitted, end)

        def report_end(self, submitted: Any, end: str) -> None:
            number, job = submitted.external_jobid, submitted.job
            log = submitted.aux["slurm_logfile"]
            if end == LOST:
                # If it still exists, it must not start beside the next attempt.
                subprocess.run(["scancel", number], capture_output=True, check=False)
            reason, explained = why(job, log)
            told = f"SLURM job {number} {end}"
            if reason:
                told += f": {reason}"
            elif end not in OTHER_CAUSES:
                told += f": no reason found; the node may be out of memory. Its log: {log}"
            if (explained or end in OTHER_CAUSES) and not MEMORY.search(reason):
                spared.add(job)
            tell_logs(job, told)
            hear(f"{job.name}: {told}")
            self.report_job_error(submitted, msg=f"{told.rstrip('.')}. ", aux_logs=[str(log)])

    return Watched
