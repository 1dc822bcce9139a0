"""Progress: who hears how much is done, and what is being waited for.

corpusmill/run/job_progress.py has the progress of a job.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Protocol

SAY_EVERY_SECONDS = 1.9


class Progress(Protocol):
    """Whoever wants to know."""

    def advance(self, amount: int) -> None:
        """So many bytes, documents or whatever is counted are done."""


class Silence:
    """Whoever does not."""

    def advance(self, amount: int) -> None:
        pass


AWAITED: list[tuple[float, str]] = []
"""Since when somebody waits for what, in any thread."""


@contextlib.contextmanager
def awaiting(what: str) -> Iterator[None]:
    """Name what this block waits for: said where it does not come for some seconds."""
    one = time.monotonic(), what
    AWAITED.append(one)
    try:
        yield
    finally:
        AWAITED.remove(one)


class Heartbeat(threading.Thread):
    """Says what is done or waited for until stopped: whoever works never looks hung."""

    def __init__(self, say: Callable[[str], object], doing: Callable[[float], str]) -> None:
        """doing: what is done, in words, after so many seconds."""
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
    """What somebody waits for longest, if it does not come for some seconds; else nothing."""
    for since, what in AWAITED[:1]:
        if (waited := time.monotonic() - since) > SAY_EVERY_SECONDS:
            return f"waiting for {what} ({waited:,.0f} s)"
    return ""
