"""Whom to tell how far one is; the progress of a job is corpusmill/run/progress.py."""

from typing import Protocol


class Progress(Protocol):
    """Whoever wants to know."""

    def advance(self, amount: int) -> None:
        """So many bytes, documents or whatever is counted are done."""


class Silence:
    """Whoever does not."""

    def advance(self, amount: int) -> None:
        pass
