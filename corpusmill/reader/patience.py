"""How long to try again, and telling people meanwhile."""

import contextlib
import random
import sys
import time
from collections.abc import Callable, Iterator
from threading import Event
from typing import NamedTuple, TypeVar

from corpusmill.messages.plain_text import shown
from corpusmill.messages.progress import Heartbeat, awaited, awaiting
from corpusmill.reader.stores import PassingError, SlowError

SAY_SECONDS = 2.0
"""Nobody waits longer than this without a line that says for what."""

LEAST_BYTES = 1 << 14
"""A server that brings fewer in an attempt sends drop by drop."""

Say = Callable[[str], None]
T = TypeVar("T")


def to_stderr(line: str) -> None:
    print(f"corpusmill: {shown(line)}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def speaking(say: Say, what: str) -> Iterator[None]:
    """Say every two seconds what this block waits for, or that it does `what`."""
    heartbeat = Heartbeat(say, lambda seconds: awaited() or f"{what} ({seconds:,.0f} s)")
    heartbeat.start()
    try:
        yield
    finally:
        heartbeat.stop()


class Patience(NamedTuple):
    """How often in a row a request may fail, and how long to wait before the next one."""

    attempts: int = 8
    first_seconds: float = 1.0
    longest_seconds: float = 60.0
    slow_attempts: int = 8
    """The same of a server that is too slow: each attempt takes half a minute."""

    def is_over(self, failures: int, fault: Exception) -> bool:
        slow = isinstance(fault, SlowError)
        return failures >= min(self.attempts, self.slow_attempts if slow else self.attempts)

    def seconds(self, failures: int) -> float:
        """A wait before the next attempt. Exponential with full jitter: a thousand nodes that
        lost one server at the same moment come back spread out. The one use of chance that is
        not a keyed hash; no token depends on it."""
        longest = min(self.longest_seconds, self.first_seconds * 2.0 ** (failures - 1))
        return random.uniform(0, longest)


class StoppedError(Exception):
    """Nobody waits for this any more."""


class Attempts:
    """Counts the attempts at one task that failed in a row, and waits between them."""

    def __init__(
        self,
        patience: Patience,
        say: Say,
        stopped: Event | None = None,
        advice: str = "Try again later.",
    ) -> None:
        """stopped: set once nobody waits for the task. advice: for whoever has waited in vain."""
        self._patience, self._say, self._advice = patience, say, advice
        self._stopped = stopped or Event()
        self._failures = 0

    def failed(self, fault: PassingError, came: int = 0) -> None:
        """Wait for the next attempt; OSError after the last one, StoppedError if nobody waits.

        came: bytes that this attempt brought. With enough of them, the store is alive.
        """
        self.check()
        self._failures = 1 if came >= LEAST_BYTES else self._failures + 1
        if self._patience.is_over(self._failures, fault):
            told = f"{fault}, {self._failures} times in a row. {self._advice}"
            raise OSError(told) from None
        line = f"{fault}; trying again, {self._failures} of {self._patience.attempts}"
        end = time.monotonic() + self._patience.seconds(self._failures)
        with awaiting(f"the next attempt: {fault}"):
            while (left := end - time.monotonic()) > 0:
                self._say(line)
                self._stopped.wait(min(left, SAY_SECONDS))
                self.check()

    def check(self) -> None:
        """StoppedError if nobody waits for the task any more."""
        if self._stopped.is_set():
            raise StoppedError from None


def patiently(action: Callable[[], T], attempts: Attempts) -> T:
    """What an action gives, tried again while its faults may pass."""
    while True:
        attempts.check()
        try:
            return action()
        except PassingError as fault:
            attempts.failed(fault)
