"""Whom to tell how far one is, and what is waited for; the progress of a job is
corpusmill/run/job_progress.py."""

import contextlib
import time
from collections.abc import Iterator
from typing import Protocol


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
