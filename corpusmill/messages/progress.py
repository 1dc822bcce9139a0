"""Progress of long work, and what it is waiting for.

corpusmill/run/job_progress.py has the progress of a job.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Protocol

SAY_EVERY_SECONDS = 1.9


class Progress(Protocol):
    """A receiver of progress."""

    def advance(self, amount: int) -> None:
        """Add to the amount done, in bytes, documents or another unit."""


class Silence:
    """A receiver that ignores progress."""

    def advance(self, amount: int) -> None:
        pass


AWAITED: list[tuple[float, str]] = []
"""Start time and name of each wait in progress, over all threads."""


@contextlib.contextmanager
def awaiting(what: str) -> Iterator[None]:
    """Name what this block waits for. It is shown after some seconds of waiting."""
    one = time.monotonic(), what
    AWAITED.append(one)
    try:
        yield
    finally:
        AWAITED.remove(one)


class Heartbeat(threading.Thread):
    """A thread that reports progress or waiting until stopped, so that work never looks hung."""

    def __init__(self, say: Callable[[str], object], doing: Callable[[float], str]) -> None:
        """doing: describes the work after that many seconds."""
        super().__init__(daemon=True)
        self._say, self._doing = say, doing
        self._over = threading.Event()
        self._since = time.monotonic()

    def run(self) -> None:
        while not self._over.wait(SAY_EVERY_SECONDS):
            self._say(self._doing(time.monotonic() - self._since))

    def stop(self) -> None:
        self._over.set()
        self.join()


def awaited() -> str:
    """Return the oldest wait in progress if it has lasted some seconds, else an empty text."""
    for since, what in AWAITED[:1]:
        if (waited := time.monotonic() - since) > SAY_EVERY_SECONDS:
            return f"waiting for {what} ({waited:,.0f} s)"
    return ""
