"""Targets: the shards of all splits, numbered consecutively, train first."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from corpusmill.mill.decide.fates import SPLITS, in_order
from corpusmill.mill.decide.splits_and_copies import order_keys, shards_of
from corpusmill.mill.shuffle.orders import Order


class Emissions(NamedTuple):
    """Copies of documents, ordered by target."""

    row: np.ndarray  # int64, the document
    copy: np.ndarray  # uint16
    key: np.ndarray  # uint64
    target: np.ndarray  # int64

    def where(self, chosen: np.ndarray | slice) -> "Emissions":
        """Return some of them. chosen: bool (copies,), places, or a slice."""
        return Emissions(*(column[chosen] for column in self))


def first_targets(shards: Mapping[str, int]) -> dict[str, int]:
    """Return the target number of each split's shard 0; "end" is one past the last."""
    first, starts = 0, {}
    for split in in_order({*SPLITS, *shards}):
        starts[split] = first
        first += shards.get(split, 0)
    return starts | {"end": first}


def emissions(
    ids: np.ndarray,
    copies: Mapping[str, np.ndarray],
    shards: Mapping[str, int],
    seeds: Mapping[str, int],
    orders: Mapping[str, Order] | None = None,
) -> Emissions:
    """Return every copy, sorted by target, then key. Emissions.row: the place in `ids`.

    copies: of each document, by split. seeds: of the shuffled order, by split. orders: of the
    splits that are not shuffled.
    """
    starts = first_targets(shards)
    empty = np.zeros(0, np.int64)
    found = [Emissions(empty, empty.astype(np.uint16), empty.astype(np.uint64), empty)]
    for split, numbers in copies.items():
        row = np.repeat(np.arange(ids.size), numbers)
        if not row.size:
            continue
        first_of_row = np.cumsum(numbers, dtype=np.int64) - numbers
        copy = (np.arange(row.size) - first_of_row[row]).astype(np.uint16)
        key = order_keys(ids[row], copy, numbers[row], seeds[split], split)
        if orders and split in orders:
            key = orders[split].keys(row, copy, numbers, key)
        found.append(Emissions(row, copy, key, starts[split] + shards_of(key, shards[split])))
    every = Emissions(*map(np.concatenate, zip(*found, strict=True)))
    return every.where(np.lexsort((ids[every.row], every.key, every.target)))
