"""Even samples of records: those with the least keyed hashes of file and place in it.

The same whatever the order in which files are given; a smaller sample is part of a larger one.
"""

import itertools
from collections.abc import Iterator

import numpy as np

from corpusmill.mill.read.ids import ROW_BITS, keyed_hash

KEYS_AT_ONCE = 4096


def keys_of_file(number: int, seed: int, purpose: str) -> Iterator[int]:
    """The sampling key of every record of a file, in order, without end."""
    for start in itertools.count(0, KEYS_AT_ONCE):
        records = np.arange(start, start + KEYS_AT_ONCE, dtype=np.uint64)
        yield from keyed_hash(np.uint64(number << ROW_BITS) | records, seed, purpose).tolist()


class LeastKeys:
    """The rows with the least keys among all that were added, so many at most."""

    def __init__(self, most: int, *columns: np.ndarray) -> None:
        """columns: empty, of the right types and shapes; the first are the keys, uint64."""
        self._most = most
        self.kept = columns
        self.bound = 1 << 64
        """A row with a greater key would not stay."""

    def add(self, *columns: np.ndarray) -> None:
        both = [np.concatenate(halves) for halves in zip(self.kept, columns, strict=True)]
        least = np.argsort(both[0])[: self._most]
        self.kept = tuple(values[least] for values in both)
        if least.size == self._most:
            self.bound = int(self.kept[0][-1])
