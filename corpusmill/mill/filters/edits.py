"""What a filter cuts out of texts: recorded, counted, never a rewriting."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from corpusmill.mill.read.text_column import TextColumn

BYTES_PER_CUT = 8
"""Of text, for each cut there is room; what is not written takes no memory."""


class Cuts(NamedTuple):
    """Pieces of texts, by row and place; none overlaps another."""

    rows: np.ndarray  # int64, of the documents
    starts: np.ndarray  # int64, bytes of the column
    stops: np.ndarray
    rules: np.ndarray  # uint8, the place of the rule among the filter's edits, from 1 on

    @classmethod
    def made_by(cls, cut: Callable[[np.ndarray], int], text_bytes: int) -> "Cuts":
        """What a kernel cuts. cut: writes as many as there is room for, int64 (room, 4), and says
        how many there are; it is called again if there are more."""
        room = text_bytes // BYTES_PER_CUT
        while True:
            found = np.empty((room, 4), np.int64)
            count = cut(found)
            if count <= room:
                break
            room = count
        rows, starts, stops, rules = found[:count].T
        order = np.argsort(starts, kind="stable")  # texts stand one behind the other
        return cls(rows[order], starts[order], stops[order], rules.astype(np.uint8)[order])

    def of(self, kept: np.ndarray) -> "Cuts":
        """Those of some documents, bool (documents,)."""
        chosen = kept[self.rows]
        return Cuts(*(column[chosen] for column in self))


def without(texts: TextColumn, cuts: Cuts) -> TextColumn:
    """The texts without what is cut."""
    first, last = int(texts.offsets[0]), int(texts.offsets[-1])
    edges = np.concatenate([[first], np.column_stack([cuts.starts, cuts.stops]).ravel(), [last]])
    keep = np.zeros(edges.size - 1, bool)
    keep[::2] = True
    data = texts.data[first:last][np.repeat(keep, np.diff(edges))]
    lost = np.zeros(texts.offsets.size, np.int64)
    np.add.at(lost, cuts.rows + 1, cuts.stops - cuts.starts)
    return TextColumn(texts.offsets - first - np.cumsum(lost), data)
