"""Each job's own log file: what it did, how it ended, what it took."""

import contextlib
import logging
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from corpusmill.messages.disk_errors import in_words
from corpusmill.messages.plain_text import ShownLines, shown_lines
from corpusmill.mill.read.plugins import Stopped
from corpusmill.run.job_progress import Heartbeat

SAY_KILLED = (
    '[ "$1" != 137 ] || echo "error: killed (signal 9), most likely for memory: its rule asked for'
    ' $2 MB (mem_mb)" | tee -a "$0" >&2; exit "$1"'
)
"""A shell's last words for a step that SIGKILL has ended, which says nothing itself.

$0: its log; $1: its exit code, which is kept; $2: its mem_mb.
"""

BOUND = "CORPUSMILL_MEM_MB"
"""The variable that has the mem_mb of this job: of this attempt, where it was tried before."""


class LogFile(logging.FileHandler):
    """A log of which is said once, at the terminal, that it could not be written."""

    told = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        error = sys.exception()
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self.told:
            self.told = True
            error.filename = error.filename or self.baseFilename
            print(f"error: {in_words(error)}", file=sys.stderr)


ENDED_BY_HAND = "error: stopped: somebody has ended the run"
"""The last line of a job that a person ended by Ctrl-C, which is no fault of it."""


def stop(number: int, _: Any) -> NoReturn:
    if number == signal.SIGINT:
        raise Stopped(ENDED_BY_HAND.removeprefix("error: "))
    raise Stopped(f"stopped by signal {number}: the job was cancelled, or its time was over")


@contextlib.contextmanager
def step_log(path: str) -> Iterator[None]:
    """Log this job to `path`: its lines, its progress, and its traceback if it fails.

    Wrong input (ValueError, OSError) ends the job with its one-line message on the terminal.
    """
    log = LogFile(path, "w", "utf-8")
    log.setFormatter(ShownLines("%(asctime)s %(message)s", "%H:%M:%S"))
    logging.basicConfig(handlers=[log], level=logging.INFO, force=True)
    for number in (signal.SIGTERM, signal.SIGINT):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)
    started = time.monotonic()
    heartbeat = Heartbeat(logging.info, memory_in_words)
    heartbeat.start()
    try:
        yield
    except Stopped as stopped:
        heartbeat.stop()
        logging.error("error: %s", stopped)
        sys.exit(f"error: {stopped}")
    except Exception as error:
        heartbeat.stop()
        logging.exception("failed after %.1f s", time.monotonic() - started)
        if isinstance(error, (ValueError, OSError)):
            reason = in_words(error) if isinstance(error, OSError) else str(error)
            logging.error("error: %s", reason)
            sys.exit(shown_lines(f"error: {reason}"))
        logging.error("fault of corpusmill: %s: %s", type(error).__name__, error)
        raise
    heartbeat.stop()
    logging.info(
        "finished: %.2f s, %.2f s of CPU, peak memory %s",
        time.monotonic() - started,
        time.process_time(),
        memory_in_words(),
    )


def memory_in_words() -> str:
    """`312 MB of 1500`: the most that was held, and what may be, where a rule has said so."""
    bound = os.environ.get(BOUND, "")
    return f"{peak_memory_mb():.0f} MB" + (f" of {bound}" if bound.isdecimal() else "")


def peak_memory_mb() -> float:
    """The most memory this process has held.

    Linux hands ru_maxrss down from the process that started this one, so it may be Snakemake's;
    its own is the high-water mark in /proc. Elsewhere ru_maxrss has to do (macOS: bytes).
    """
    status = Path("/proc/self/status")
    if status.exists():
        marks = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(marks["VmHWM"].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
