"""Checksums of which copies are where: sets of any size are equal if their sums are.

The ledger says what each shard should contain, the shards say what they contain. Two numbers of
each copy are summed per shard: one of document id and copy number, one that includes the digest.
"""

import numpy as np

from corpusmill.mill.read.ids import mixed
from corpusmill.mill.shuffle.targets import emissions, first_targets


def copy_numbers(ids: np.ndarray, copies: np.ndarray) -> np.ndarray:
    """Return uint64: an evenly distributed number per copy. copies: index among the document's
    copies."""
    return mixed(mixed(ids.astype(np.uint64)) ^ mixed(copies.astype(np.uint64) + np.uint64(1)))


def text_numbers(ids: np.ndarray, copies: np.ndarray, digests: np.ndarray) -> np.ndarray:
    """Return uint64: such numbers that include the first eight bytes of each text's SHA-256."""
    return mixed(copy_numbers(ids, copies) ^ mixed(digests.astype(np.uint64)))


class CopySums:
    """For every shard: the number of copies, and the sums of their numbers modulo 2**64."""

    def __init__(self, shards: dict[str, int], seeds: dict[str, int]) -> None:
        """Start at zero. shards: number per split. seeds: of the order of shuffled splits. In other
        splits, the shard of a copy does not follow from its id, so sums are per split."""
        self._apart = set(seeds)
        self._seeds = dict.fromkeys(shards, 0) | seeds
        self._shards = {
            split: count if split in seeds else min(count, 1) for split, count in shards.items()
        }
        self._first = first_targets(self._shards)
        size = self._first["end"]
        self.count = np.zeros(size, np.int64)
        self.of_copies = np.zeros(size, np.uint64)
        self.of_texts = np.zeros(size, np.uint64)

    def add_kept(self, ids: np.ndarray, copies: dict[str, np.ndarray], digests: np.ndarray) -> None:
        """Add kept documents. copies: number per document, by split."""
        row, copy, _, target = emissions(ids, copies, self._shards, self._seeds)
        np.add.at(self.count, target, 1)
        np.add.at(self.of_copies, target, copy_numbers(ids[row], copy))
        np.add.at(self.of_texts, target, text_numbers(ids[row], copy, digests[row]))

    def add_held(self, place: int, ids: np.ndarray, copies: np.ndarray) -> None:
        """Add copies from the placements of a shard."""
        self.count[place] += ids.size
        self.of_copies[place : place + 1] += copy_numbers(ids, copies).sum(dtype=np.uint64)

    def add_texts(
        self, place: int, ids: np.ndarray, copies: np.ndarray, digests: np.ndarray
    ) -> None:
        """Add copies from a text shard. digests: the first eight bytes of each text's SHA-256."""
        numbers = text_numbers(ids, copies, digests)
        self.of_texts[place : place + 1] += numbers.sum(dtype=np.uint64)

    def place(self, split: str, shard: int) -> int:
        """Return the index of a shard's sums."""
        return self._first[split] + (shard if split in self._apart else 0)
