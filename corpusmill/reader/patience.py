"""How long to try again, and telling people meanwhile."""

import contextlib
import random
import sys
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

from corpusmill.messages.plain_text import shown
from corpusmill.messages.progress import Heartbeat, awaited
from corpusmill.reader.stores import SlowError

SAY_SECONDS = 2.0
"""Nobody waits longer than this without a line that says for what."""

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


def wait(seconds: float, line: str, say: Say) -> None:
    """Sleep, and say every two seconds why."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        say(line)
        time.sleep(min(left, SAY_SECONDS))


def patiently(action: Callable[[], T], passing: type[Exception], patience: Patience, say: Say) -> T:
    """What an action gives, tried again while it raises `passing`; OSError in the end."""
    failures = 0
    while True:
        try:
            return action()
        except passing as fault:
            failures += 1
            if patience.is_over(failures, fault):
                raise OSError(f"{fault}, {failures} times in a row. Try again later.") from None
            wait(patience.seconds(failures), f"{fault}; trying again", say)
