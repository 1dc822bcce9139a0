"""Samples: windows of one length, cut from the stream of a split."""

from collections.abc import Iterable

import numpy as np

from corpusmill.reader.split import Split


class Samples:
    """Samples of a split. Sample i is tokens [i * length, i * length + length], end included.

    Inputs are all but its last token, targets all but its first. The last token of a sample is the
    first of the next, so every token but the very first is a target once. The incomplete end, fewer
    than `length` tokens, is in no sample.
    """

    def __init__(self, split: Split, length: int) -> None:
        check_length(split, length)
        self.split = split
        self.length = length

    def __len__(self) -> int:
        return (self.split.tokens - 1) // self.length

    def __getitem__(self, number: int) -> np.ndarray:
        """Return (length + 1,)."""
        if not 0 <= number < len(self):
            raise IndexError(f"expected a sample within [0, {len(self)}), got {number}")
        start = int(number) * self.length
        return self.split.read(start, start + self.length + 1)

    def rows(self, numbers: np.ndarray) -> np.ndarray:
        """Return (numbers, length + 1): samples by int64 numbers, in any order."""
        width = self.length + 1
        first = numbers * self.length
        shard = np.searchsorted(self.split.token_starts, first, "right") - 1
        local = first - self.split.token_starts[shard]
        # Samples that cross shards are assembled separately.
        inside = local + width <= self.split.shards.tokens[shard]
        rows = np.empty((numbers.size, width), self.split.vocabulary.dtype)
        fill(self.split, rows, np.where(inside, shard, -1), local)
        for place in np.flatnonzero(~inside).tolist():
            start = int(first[place])
            rows[place] = self.split.read(start, start + width)
        return rows


def fill(split: Split, rows: np.ndarray, shard: np.ndarray, local: np.ndarray) -> None:
    """Copy tokens [local, local + width) of shards into rows. Rows with shard -1 are skipped."""
    itemsize, width = rows.itemsize, rows.shape[1] * rows.itemsize
    into = rows.reshape(-1).view(np.uint8).data
    last, source = -1, memoryview(b"")
    order = np.argsort(shard, kind="stable")  # look each shard up once; it may have to be opened
    found = zip(order.tolist(), shard[order].tolist(), local[order].tolist(), strict=True)
    for row, number, first in found:
        if number < 0:
            continue
        if number != last:
            last, source = number, split.opened.tokens(number).view(np.uint8).data
        # Memory views copy in a third of the time that array slices take.
        into[row * width : (row + 1) * width] = source[first * itemsize : first * itemsize + width]


def check_length(split: Split, length: int, room: Iterable[int] = ()) -> None:
    """Raise ValueError if the length is impossible. room: tokens of each stretch, if samples cannot
    cross stretches."""
    most = max(room, default=split.tokens)
    if length < 1 or most <= length:
        raise ValueError(
            f"length {length}: expected 1 to {most - 1}, as {split.name} has {most} tokens"
            f"{' in its longest shard' if room else ''}. Take a shorter length or a larger split."
        )


def refuse_few_shards(split: Split, why: str) -> None:
    """Raise ValueError if the cache may not keep every shard of the split at once."""
    kept, shards = split.shelf.kept, split.shards.tokens.size
    if kept is not None and kept < shards:
        raise ValueError(
            f"keep_shards {kept}: expected at least {shards}, the number of shards of "
            f"{split.name}, because {why}. Use Windowed, or omit keep_shards."
        )
