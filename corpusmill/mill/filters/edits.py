"""Cuts that filters make in texts: recorded and counted, never rewritten."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from corpusmill.mill.read.text_column import TextColumn

BYTES_PER_CUT = 8
"""Space for one cut is reserved for each group of this many bytes of text. Unused space takes no
memory."""


class Cuts(NamedTuple):
    """Pieces of texts by row and position. They do not overlap."""

    rows: np.ndarray  # int64, row of the document
    starts: np.ndarray  # int64, byte in the column
    stops: np.ndarray
    rules: np.ndarray  # uint8, number of the rule among the filter's edits, from 1

    @classmethod
    def made_by(cls, cut: Callable[[np.ndarray], int], text_bytes: int) -> "Cuts":
        """Return the cuts that a kernel makes.

        cut: fills int64 (room, 4) and returns the number of cuts; called again with more room if
        needed.
        """
        room = text_bytes // BYTES_PER_CUT
        while True:
            found = np.empty((room, 4), np.int64)
            count = cut(found)
            if count <= room:
                break
            room = count
        rows, starts, stops, rules = found[:count].T
        order = np.argsort(starts, kind="stable")  # texts are stored one after another
        return cls(rows[order], starts[order], stops[order], rules.astype(np.uint8)[order])

    def of(self, kept: np.ndarray) -> "Cuts":
        """Return the cuts in some documents. kept: bool (documents,)."""
        chosen = kept[self.rows]
        return Cuts(*(column[chosen] for column in self))


def without(texts: TextColumn, cuts: Cuts) -> TextColumn:
    """Return the texts with the cuts removed."""
    first, last = int(texts.offsets[0]), int(texts.offsets[-1])
    edges = np.concatenate([[first], np.column_stack([cuts.starts, cuts.stops]).ravel(), [last]])
    keep = np.zeros(edges.size - 1, bool)
    keep[::2] = True
    data = texts.data[first:last][np.repeat(keep, np.diff(edges))]
    lost = np.zeros(texts.offsets.size, np.int64)
    np.add.at(lost, cuts.rows + 1, cuts.stops - cuts.starts)
    return TextColumn(texts.offsets - first - np.cumsum(lost), data)
