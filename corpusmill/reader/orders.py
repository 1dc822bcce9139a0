"""The interface of all orders of samples."""

from typing import Any, Protocol

import numpy as np

from corpusmill.reader.manifest import Vocabulary

Cursor = dict[str, Any]
"""A position in an order, as plain numbers. It counts the samples that all ranks together have
received."""


class Order(Protocol):
    """An endless sequence of samples, epoch after epoch, with random access.

    Everything is counted over all ranks. An order has no state: callers pass a cursor.
    """

    length: int
    """Number of tokens of a sample, minus one."""

    vocabulary: Vocabulary

    identity: dict[str, Any]
    """Everything that determines the sequence of samples, as JSON."""

    def begin(self) -> Cursor: ...

    def available(self, cursor: Cursor, wanted: int, epochs: int | None) -> int:
        """Return how many of the next `wanted` samples exist before `epochs` are over."""

    def near(self, cursor: Cursor) -> int:
        """Return how many of the next samples need no shard that may have to be fetched."""

    def read(self, cursor: Cursor, chosen: np.ndarray, epochs: int | None = None) -> np.ndarray:
        """Return (chosen, length + 1): samples counted from the cursor, by ascending int64 numbers.

        epochs: nothing will be read after them, so nothing is fetched for it.
        """

    def after(self, cursor: Cursor, count: int) -> Cursor:
        """Return the cursor after the next `count` samples, in nearly constant time."""

    def check(self, cursor: Cursor) -> None:
        """Raise ValueError, KeyError or TypeError for an invalid cursor."""
