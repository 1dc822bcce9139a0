"""In which order samples come: what all orders have in common."""

from typing import Any, Protocol

import numpy as np

from corpusmill.reader.manifest import Vocabulary

Cursor = dict[str, Any]
"""A place in an order, as plain numbers: how much of it was given to all ranks together."""


class Order(Protocol):
    """An endless row of samples, epoch after epoch, of which any stretch can be read.

    Everything is counted over all ranks. An order itself does not move: a cursor is handed in.
    """

    length: int
    """Tokens of a row but one."""

    vocabulary: Vocabulary

    identity: dict[str, Any]
    """All that decides which sample comes where, as JSON can hold it."""

    def begin(self) -> Cursor: ...

    def available(self, cursor: Cursor, wanted: int, epochs: int | None) -> int:
        """How many of the next samples there are, `wanted` at most, before `epochs` are over."""

    def near(self, cursor: Cursor) -> int:
        """How many of the next samples can be read without a shard that may have to be fetched."""

    def read(self, cursor: Cursor, chosen: np.ndarray, epochs: int | None = None) -> np.ndarray:
        """(chosen, length + 1): samples counted from the cursor, by ascending int64 numbers.

        epochs: behind so many nothing will be read, so nothing is fetched for it.
        """

    def after(self, cursor: Cursor, count: int) -> Cursor:
        """The cursor behind the next `count` samples, in a time that hardly grows with `count`."""

    def check(self, cursor: Cursor) -> None:
        """Raise ValueError, KeyError or TypeError for a cursor of no place."""
