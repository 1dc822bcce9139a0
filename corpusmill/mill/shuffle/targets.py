"""Targets: the shards of all splits, numbered consecutively, train first."""

from typing import NamedTuple

import numpy as np

from corpusmill.mill.decide.fates import SPLITS
from corpusmill.mill.decide.splits_and_copies import order_keys, shards_of


class Emissions(NamedTuple):
    """Copies of documents, ordered by target."""

    row: np.ndarray  # int64, the document
    copy: np.ndarray  # uint16
    key: np.ndarray  # uint64
    target: np.ndarray  # int64

    def where(self, chosen: np.ndarray | slice) -> "Emissions":
        """Return some of them. chosen: bool (copies,), places, or a slice."""
        return Emissions(*(column[chosen] for column in self))


def first_targets(shards: dict[str, int]) -> dict[str, int]:
    """Return the target number of each split's shard 0; "end" is one past the last."""
    first, starts = 0, {}
    for split in SPLITS:
        starts[split] = first
        first += shards.get(split, 0)
    return starts | {"end": first}


def emissions(
    ids: np.ndarray, copies: np.ndarray, splits: np.ndarray, shards: dict[str, int], seed: int
) -> Emissions:
    """Return every copy, sorted by target, then key. Emissions.row: the place in `ids`."""
    row = np.repeat(np.arange(ids.size), copies)
    first_of_row = np.cumsum(copies, dtype=np.int64) - copies
    copy = (np.arange(row.size) - first_of_row[row]).astype(np.uint16)
    key = order_keys(ids[row], copy, copies[row], seed)
    starts = first_targets(shards)
    target = np.zeros(row.size, np.int64)
    for number, split in enumerate(SPLITS):
        here = splits[row] == number
        if here.any():
            target[here] = starts[split] + shards_of(key[here], shards[split])
    order = np.lexsort((ids[row], key, target))
    return Emissions(row, copy, key, target).where(order)
