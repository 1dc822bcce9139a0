"""Choose split, number of copies and order of documents by keyed hash."""

from typing import NamedTuple

import numpy as np

from corpusmill.mill.decide.fates import SPLITS, TRAIN
from corpusmill.mill.read.ids import keyed_hash, unit_hash


class Sampling(NamedTuple):
    """The settings: weights of the sources, shares of the splits, the seed."""

    weights: dict[str, float]
    fractions: dict[str, float]
    seed: int
    mixes: bool
    """Whether a mixture chooses the copies of documents in train later."""


def splits_of(ids: np.ndarray, fractions: dict[str, float], seed: int) -> np.ndarray:
    """Return uint8: the index in SPLITS of each document's split.

    It depends on the document only, not on others that are added or removed.
    """
    bounds = np.cumsum([fractions["validation"], fractions["test"]])
    chance = unit_hash(ids, seed, "split")
    place = np.digitize(chance, bounds)  # 0 validation, 1 test, 2 train
    return np.array([SPLITS.index("validation"), SPLITS.index("test"), 0], np.uint8)[place]


def copies_of(
    ids: np.ndarray, weights: np.ndarray, splits: np.ndarray, seed: int, mixes: bool
) -> np.ndarray:
    """Return uint16: how often each document appears; weight 2.5 means two or three times.

    A hash decides the fraction, so a smaller weight keeps a subset. Held-out documents appear
    at most once. mixes: 1 for documents of train that a mixture may use.
    """
    if mixes:
        weights = np.where(splits == 0, np.sign(weights), weights)
    whole = np.floor(weights)
    copies = whole + (unit_hash(ids, seed, "sample") < weights - whole)
    return np.where(splits == 0, copies, np.minimum(copies, 1)).astype(np.uint16)


def copies_by_split(split: np.ndarray, copies: np.ndarray) -> dict[str, np.ndarray]:
    """Return uint16 by split: the copies of documents that are in it; 0 for others.

    split: index in SPLITS.
    """
    return {
        name: np.where(split == place, copies, 0).astype(np.uint16)
        for place, name in enumerate(SPLITS)
    }


def purpose_in(split: str, purpose: str) -> str:
    """Return the purpose of a hash for a split: each stage has its own."""
    return purpose if split in SPLITS else f"{purpose} {split}"


def order_keys(
    ids: np.ndarray, copy: np.ndarray, copies: np.ndarray, seed: int, split: str = TRAIN
) -> np.ndarray:
    """Return uint64: sort keys of the shuffled order; copies of a document are evenly spaced."""
    stride = np.array(-1, np.int64).astype(np.uint64) // np.maximum(copies, 1).astype(np.uint64)
    return keyed_hash(ids, seed, purpose_in(split, "order")) + copy.astype(np.uint64) * stride


def shards_of(keys: np.ndarray, shards: int) -> np.ndarray:
    """Return int64: the shard of each order key. Shards are equal ranges of keys, in order."""
    # floor(key * shards / 2**64) in two halves, since the product needs more than 64 bits.
    low = (keys & np.uint64(0xFFFFFFFF)) * np.uint64(shards) >> np.uint64(32)
    high = (keys >> np.uint64(32)) * np.uint64(shards)
    return ((high + low) >> np.uint64(32)).astype(np.int64)
