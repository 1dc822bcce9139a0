"""Which copies of which documents are where, as sums: two sets of any size are equal if they are.

The ledger says what each shard has to hold, the shards say what they hold. Of each copy two
numbers are added up per shard: one of id and number of the copy, one of these and its digest.
"""

import numpy as np

from corpusmill.mill.read.ids import mixed
from corpusmill.mill.shuffle.targets import emissions, first_targets


def copy_numbers(ids: np.ndarray, copies: np.ndarray) -> np.ndarray:
    """uint64: of each copy, evenly spread. copies: which of its document's it is, from 0."""
    return mixed(mixed(ids.astype(np.uint64)) ^ mixed(copies.astype(np.uint64) + np.uint64(1)))


def text_numbers(ids: np.ndarray, copies: np.ndarray, digests: np.ndarray) -> np.ndarray:
    """The same with the first eight bytes of each text's SHA-256."""
    return mixed(copy_numbers(ids, copies) ^ mixed(digests.astype(np.uint64)))


class CopySums:
    """Of every shard: how many copies, and the sums of their numbers modulo 2**64."""

    def __init__(self, shards: dict[str, int], seed: int | None) -> None:
        """shards: how many each split has. seed: of the shuffle; without it nobody knows which
        shard of its split a copy is in, and the sums are those of a split."""
        self._apart = seed is not None
        self._seed = seed or 0
        self._shards = shards if self._apart else {split: 1 for split in shards if shards[split]}
        self._first = first_targets(self._shards)
        size = self._first["end"]
        self.count = np.zeros(size, np.int64)
        self.of_copies = np.zeros(size, np.uint64)
        self.of_texts = np.zeros(size, np.uint64)

    def add_kept(
        self, ids: np.ndarray, copies: np.ndarray, splits: np.ndarray, digests: np.ndarray
    ) -> None:
        """Documents that are kept. copies: of each how many; splits: the place in SPLITS."""
        row, copy, _, target = emissions(ids, copies, splits, self._shards, self._seed)
        np.add.at(self.count, target, 1)
        np.add.at(self.of_copies, target, copy_numbers(ids[row], copy))
        np.add.at(self.of_texts, target, text_numbers(ids[row], copy, digests[row]))

    def add_held(self, place: int, ids: np.ndarray, copies: np.ndarray) -> None:
        """Copies that the placements of a shard have."""
        self.count[place] += ids.size
        self.of_copies[place : place + 1] += copy_numbers(ids, copies).sum(dtype=np.uint64)

    def add_texts(
        self, place: int, ids: np.ndarray, copies: np.ndarray, digests: np.ndarray
    ) -> None:
        """Copies that a text shard has. digests: the first eight bytes of each text's SHA-256."""
        numbers = text_numbers(ids, copies, digests)
        self.of_texts[place : place + 1] += numbers.sum(dtype=np.uint64)

    def place(self, split: str, shard: int) -> int:
        """Where the sums of a shard are."""
        return self._first[split] + (shard if self._apart else 0)
