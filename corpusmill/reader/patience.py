"""Retries: how often, how long, and the messages meanwhile."""

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
"""Maximum wait without a message, in seconds."""

LEAST_BYTES = 1 << 14
"""Minimum number of bytes that an attempt must receive to count as progress."""

Say = Callable[[str], None]
T = TypeVar("T")


def to_stderr(line: str) -> None:
    print(f"corpusmill: {shown(line)}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def speaking(say: Say, what: str) -> Iterator[None]:
    """Report every two seconds what this block waits for, or that it does `what`."""
    heartbeat = Heartbeat(say, lambda seconds: awaited() or f"{what} ({seconds:,.0f} s)")
    heartbeat.start()
    try:
        yield
    finally:
        heartbeat.stop()


class Patience(NamedTuple):
    """Limits of retries: failures in a row, and waits between them."""

    attempts: int = 8
    first_seconds: float = 1.0
    longest_seconds: float = 60.0
    slow_attempts: int = 8
    """Maximum number of attempts if a server is too slow. Each attempt takes half a minute."""

    def is_over(self, failures: int, fault: Exception) -> bool:
        slow = isinstance(fault, SlowError)
        return failures >= min(self.attempts, self.slow_attempts if slow else self.attempts)

    def seconds(self, failures: int) -> float:
        """Return the wait before the next attempt: exponential with full jitter, so that a thousand
        nodes that lost a server do not return at once. This is the only randomness without a keyed
        hash; no token depends on it."""
        longest = min(self.longest_seconds, self.first_seconds * 2.0 ** (failures - 1))
        return random.uniform(0, longest)


class StoppedError(Exception):
    """The result is no longer needed."""


class Attempts:
    """Counts the failed attempts in a row at one task, and waits between them."""

    def __init__(
        self,
        patience: Patience,
        say: Say,
        stopped: Event | None = None,
        advice: str = "Try again later.",
    ) -> None:
        """Start counting. stopped: set when the task is no longer needed. advice: last sentence of
        the final error."""
        self._patience, self._say, self._advice = patience, say, advice
        self._stopped = stopped or Event()
        self._failures = 0

    def failed(self, fault: PassingError, came: int = 0) -> None:
        """Wait before the next attempt. Raise OSError after the last one, StoppedError if stopped.

        came: bytes received by this attempt. With enough of them, the failures are counted anew.
        """
        self.check()
        self._failures = 1 if came >= LEAST_BYTES else self._failures + 1
        if self._patience.is_over(self._failures, fault):
            told = f"{fault}, {self._failures} times in a row. {self._advice}"
            raise OSError(told) from None
        failed = f"attempt {self._failures} of {self._patience.attempts} failed"
        line = f"{fault}; {failed}, trying again"
        end = time.monotonic() + self._patience.seconds(self._failures)
        with awaiting(f"the next attempt: {fault}"):
            while True:
                self._say(line)
                left = end - time.monotonic()
                self._stopped.wait(min(max(left, 0), SAY_SECONDS))
                self.check()
                if time.monotonic() >= end:
                    return

    def check(self) -> None:
        """Raise StoppedError if the task is no longer needed."""
        if self._stopped.is_set():
            raise StoppedError from None


def patiently(action: Callable[[], T], attempts: Attempts) -> T:
    """Return the result of an action, retried while its faults are temporary."""
    while True:
        attempts.check()
        try:
            return action()
        except PassingError as fault:
            attempts.failed(fault)
