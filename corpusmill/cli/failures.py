"""Short reasons for a failed run, taken from the logs of its jobs where they exist."""

import re
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil

from corpusmill.cli.run_progress import Job, Run
from corpusmill.messages.plain_text import short, shown, shown_lines
from corpusmill.mill.storage.files import replacing
from corpusmill.mill.storage.untrusted import whole_file
from corpusmill.run.job_state import FAILED, STOPPED, load_state

FULL = re.compile("No space left on device|Disk quota exceeded")
SAID, METADATA = Path("logs/snakemake.log"), Path(".snakemake/metadata")
REPORT = "This is a bug in corpusmill. Please report it with the following log:"


def reasons(run: Run, code: int, said: str, others: Iterable[psutil.Process]) -> Iterator[str]:
    """Yield the messages for a failed run, the most useful last.

    code: exit code of Snakemake, negative for a signal. said: its own output. others: other runs in
    the same folder.
    """
    if run.refused:
        yield from run.refused
    elif run.failed:
        # Parallel jobs may fail for the same reason.
        told = {reason_of(job, said): job for job in reversed(run.failed)}
        for reason, job in reversed(told.items()):
            yield f"{job.name} failed, log {job.log or 'not known'}:"
            yield reason
    elif any(kind == "LockException" for kind, _ in run.errors):
        yield lock_reason(others)
    elif run.errors and (full := FULL.search(said)):
        yield no_room(full[0])
    elif run.errors:
        yield from (without_traceback(text) for _, text in run.errors)
    elif code < 0:
        name = signal.Signals(-code).name
        yield (
            f"Snakemake was killed ({name}). Jobs of this run may still be running: check "
            "before you resume."
        )
    elif said.startswith("usage:"):
        yield said.strip().splitlines()[-1]  # the option that it does not know
    else:
        yield without_traceback(said) or "Snakemake failed without a message."


def without_traceback(said: str) -> str:
    """Return a message of Snakemake. If it has a traceback, save it and return only its last
    line."""
    said = said.strip()
    if "Traceback (most recent call last)" not in said:
        return said
    with replacing(SAID) as temporary:  # never through a symlink
        temporary.write_text(f"{shown_lines(said)}\n", "utf-8")
    last = short(shown(said.splitlines()[-1]))
    return (
        f"Snakemake itself failed: {last}. If {METADATA} is damaged, remove it. Otherwise please "
        f"report this error with the file {SAID}"
    )


def lock_reason(others: Iterable[psutil.Process]) -> str:
    alive = [process.pid for process in others]
    if alive:
        return (
            f"Another run is active in this folder (process {alive[0]}). Wait until it ends, "
            f"or stop it: kill {alive[0]}"
        )
    return (
        "An earlier run in this folder was killed and left its lock. No process on this machine "
        "uses this folder. Remove the lock with corpusmill run --unlock, then run the command "
        "again."
    )


def no_room(found: str) -> str:
    return (
        f"{Path.cwd()}: the disk is full ({found}). Free some space, or raise the quota, and run "
        "the command again: finished jobs are kept."
    )


def reason_of(job: Job, said: str = "") -> str:
    """Return the error of a job. said: output of Snakemake and its jobs, used if the log could not
    be written."""
    state = load_state(job.log) if job.log else None
    failed = state if state and state.state in (FAILED, STOPPED) else None
    if not failed and (full := FULL.search(said)):
        return no_room(full[0])
    if job.log is None or state is None:
        return (
            "the job left no log, so it was killed before it started. Check whether enough memory "
            "is free."
        )
    if not failed:
        return (
            "the job was killed, most likely for lack of memory. Run fewer jobs at once "
            "(--cores), give Snakemake a memory limit (--resources mem_mb=...), or lower "
            f"input.part_bytes and output.shard_bytes. Its last message: {job.doing() or 'none'}"
        )
    if not failed.is_fault:
        return failed.said
    return f"{failed.said}\n{REPORT} {_traceback(text_of(job.log))}"


def text_of(log: Path) -> str:
    """Return the text of a log; an empty text if it is missing or a symlink, which may lead outside
    the folder."""
    if log.is_symlink() or not log.exists():
        return ""
    return whole_file(log).decode("utf-8", "replace")


def _traceback(text: str) -> str:
    start = text.rfind("Traceback (most recent call last)")
    return "\n" + text[start:].strip() if start >= 0 else ""
