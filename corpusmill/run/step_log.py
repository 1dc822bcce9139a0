"""The log file of a job: what it did, how it ended, and its time and memory."""

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
from corpusmill.run.job_state import FAILED, FINISHED, RUNNING, STOPPED, JobState, save_state

SAY_KILLED = """
[ "$1" != 137 ] || {
  told="killed (signal 9), most likely for memory: its rule asked for $2 MB (mem_mb)"
  echo "error: $told" | tee -a "$0" >&2
  state="$(dirname "$0")/.$(basename "$0").json"
  echo "{\\"state\\": \\"failed\\", \\"said\\": \\"$told\\"}" > "$state"
}
exit "$1"
"""
"""Shell code that reports a step killed by SIGKILL, which cannot report itself.

$0: its log; $1: its exit code, which is passed on; $2: its mem_mb.
"""

BOUND = "CORPUSMILL_MEM_MB"
"""Environment variable with the mem_mb of this attempt of the job."""


class LogFile(logging.FileHandler):
    """A log file that reports once, on the terminal, if it cannot be written."""

    told = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        error = sys.exception()
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self.told:
            self.told = True
            error.filename = error.filename or self.baseFilename
            print(f"error: {in_words(error)}", file=sys.stderr)


MOST_SAID = 20_000
"""Maximum number of characters of a reason in the state."""


class Told:
    """The messages of a job: in its log for people, in its state for programs."""

    def __init__(self, path: Path) -> None:
        bound = os.environ.get(BOUND, "")
        self._log, self.state = path, JobState.begun(int(bound) if bound.isdecimal() else 0)
        self._save()

    def _save(self) -> None:
        # On a full disk the job fails when it writes its results, and its log says so.
        with contextlib.suppress(OSError):
            save_state(self._log, self.state)

    def says(self, state: str, said: str, is_fault: bool = False) -> None:
        self.state = self.state.now(state, said[:MOST_SAID], peak_memory_mb(), is_fault)
        self._save()

    def goes_on(self, line: str) -> None:
        self.says(RUNNING, line)
        logging.info("%s, memory %s", line, self.memory)

    def ends(self) -> None:
        self.says(FINISHED, "")
        logging.info(
            "finished: %.2f s, %.2f s of CPU, memory %s",
            self.state.seconds,
            self.state.cpu_seconds,
            self.memory,
        )

    @property
    def memory(self) -> str:
        """Peak memory: `312 of 1,500 MB allowed`."""
        return memory_in_words(self.state.memory_mb, self.state.allowed_mb)


def memory_in_words(megabytes: int, allowed: int) -> str:
    return f"{megabytes:,}" + (f" of {allowed:,} MB allowed" if allowed else " MB")


def stop(number: int, _: Any) -> NoReturn:
    # The process group and the command of a job may both be told to stop.
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, signal.SIG_IGN)
    if number == signal.SIGINT:
        raise EndedByHand("stopped: the run was interrupted")
    raise Stopped(f"stopped by signal {number}: the job was cancelled, or ran out of time")


class EndedByHand(Stopped):
    """An interrupt by Ctrl-C, which is not a failure of the job."""


@contextlib.contextmanager
def step_log(path: str) -> Iterator[None]:
    """Log this job to `path`: its lines, its progress, and its traceback if it fails.

    Wrong input (ValueError, OSError) ends the job with its one-line message on the terminal.
    """
    told = Told(Path(path))  # first: a log beside an earlier state would belong to that
    log = LogFile(path, "w", "utf-8")
    log.setFormatter(ShownLines("%(asctime)s %(message)s", "%H:%M:%S"))
    logging.basicConfig(handlers=[log], level=logging.INFO, force=True)
    for number in (signal.SIGTERM, signal.SIGINT):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)
    heartbeat = Heartbeat(told.goes_on)
    heartbeat.start()
    try:
        yield
    except Stopped as stopped:
        heartbeat.stop()
        told.says(STOPPED if isinstance(stopped, EndedByHand) else FAILED, str(stopped))
        logging.error("error: %s", stopped)
        sys.exit(f"error: {stopped}")
    except Exception as error:
        heartbeat.stop()
        logging.exception("failed after %.1f s", time.time() - told.state.began)
        if isinstance(error, (ValueError, OSError)):
            reason = in_words(error) if isinstance(error, OSError) else str(error)
            told.says(FAILED, reason)
            logging.error("error: %s", reason)
            sys.exit(shown_lines(f"error: {reason}"))
        told.says(FAILED, f"{type(error).__name__}: {error}", is_fault=True)
        logging.error("fault of corpusmill: %s", told.state.said)
        raise
    heartbeat.stop()
    told.ends()


def peak_memory_mb() -> float:
    """Return the peak memory of this process in MiB.

    On Linux a process inherits ru_maxrss from its parent, so it may be Snakemake's; the mark in
    /proc is its own. Elsewhere ru_maxrss is all there is (macOS: bytes).
    """
    status = Path("/proc/self/status")
    if status.exists():
        marks = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(marks["VmHWM"].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
