"""Rows of a shard: windows of its token stream, or whole documents packed together."""

import bisect
import heapq
from collections import OrderedDict
from typing import NamedTuple, Protocol

import numpy as np

from corpusmill.reader.samples import check_length, fill
from corpusmill.reader.split import Split


class ShardRows(Protocol):
    """Rows that lie within one shard."""

    kind: str

    def count(self, shard: int) -> int:
        """Return the number of rows of a shard."""

    def rows(self, shards: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Return (numbers, length + 1): row `numbers[i]` of shard `shards[i]`."""


class Cut:
    """Windows as in `Samples`, but separate for each shard. The rest at the end of a shard, at most
    `length` tokens, is in no row."""

    kind = "cut"

    def __init__(self, split: Split, length: int) -> None:
        check_length(split, length, split.shards.tokens.tolist())
        self._split = split
        self._length = length

    def count(self, shard: int) -> int:
        return max(0, int(self._split.shards.tokens[shard]) - 1) // self._length

    def rows(self, shards: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        rows = np.empty((numbers.size, self._length + 1), self._split.vocabulary.dtype)
        fill(self._split, rows, shards, numbers * self._length)
        return rows


class Pieces(NamedTuple):
    """The pieces of tokens in each row: row r has pieces [first[r], first[r + 1])."""

    start: np.ndarray  # int64 (pieces,), in the order of rows
    size: np.ndarray  # int64 (pieces,)
    first: np.ndarray  # int64 (rows + 1,)


class Packed:
    """Whole documents, packed into rows.

    Best fit, longest first, among the documents of a shard: each goes to the row with the least
    room in which it fits, the earliest of equal ones. Documents of more than length + 1 tokens are
    cut as a stream is: every token but the first is a target, and all pieces but the last fill a
    row. The rest of a row is filled with end-of-text ids.
    """

    kind = "packed"

    def __init__(self, split: Split, length: int, plans: int) -> None:
        """Prepare packing. plans: number of shards whose packing is cached."""
        if length < 1 or not split.documents:
            raise ValueError(
                f"length {length}: expected 1 or more, and a split with documents; {split.name} "
                f"has {split.documents} documents."
            )
        self._split = split
        self._length = length
        self._most = plans
        self._plans: OrderedDict[int, Pieces] = OrderedDict()

    def count(self, shard: int) -> int:
        return self._plan(shard).first.size - 1

    def rows(self, shards: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        vocabulary = self._split.vocabulary
        rows = np.full((numbers.size, self._length + 1), vocabulary.end_of_text, vocabulary.dtype)
        for row, shard, number in zip(rows, shards.tolist(), numbers.tolist(), strict=True):
            plan, tokens, at = self._plan(shard), self._split.opened.tokens(shard), 0
            for piece in range(*plan.first[number : number + 2].tolist()):
                start, size = int(plan.start[piece]), int(plan.size[piece])
                row[at : at + size] = tokens[start : start + size]
                at += size
        return rows

    def _plan(self, shard: int) -> Pieces:
        if shard in self._plans:
            self._plans.move_to_end(shard)
            return self._plans[shard]
        while len(self._plans) >= self._most:
            self._plans.popitem(last=False)
        starts = self._split.opened.starts(shard)
        self._plans[shard] = plan = packed(starts, self._length)
        return plan


def pieces_of(starts: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (start, size) of the pieces of documents: runs of length + 1 tokens that overlap by
    one."""
    sizes = np.diff(starts)
    counts = np.maximum(1, -(-(sizes - 1) // length))
    document = np.repeat(np.arange(sizes.size), counts)
    place = np.arange(document.size) - np.repeat(np.cumsum(counts) - counts, counts)
    start = starts[document] + place * length
    return start, np.minimum(starts[document + 1] - start, length + 1)


def packed(starts: np.ndarray, length: int) -> Pieces:
    """Pack by best fit, longest first; equal ones in the order of the shard."""
    start, size = pieces_of(starts, length)
    order = np.argsort(-size, kind="stable")
    row_of = np.empty(order.size, np.int64)
    rows_with: dict[int, list[int]] = {}  # room -> a heap of rows
    rooms: list[int] = []  # existing free sizes, ascending
    rows = 0
    for piece, needed in zip(order.tolist(), size[order].tolist(), strict=True):
        place = bisect.bisect_left(rooms, needed)
        if place == len(rooms):
            row, room = rows, length + 1
            rows += 1
        else:
            room = rooms[place]
            row = heapq.heappop(rows_with[room])
            if not rows_with[room]:
                del rooms[place], rows_with[room]
        row_of[piece] = row
        if left := room - needed:
            if left not in rows_with:
                bisect.insort(rooms, left)
                rows_with[left] = []
            heapq.heappush(rows_with[left], row)
    by_row = np.argsort(row_of, kind="stable")
    first = np.searchsorted(row_of[by_row], np.arange(rows + 1))
    return Pieces(start[by_row], size[by_row], first)
