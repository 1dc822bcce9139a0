"""Orders of a split other than shuffled: as found in the input, or a curriculum in bands.

Each replaces the hashed order keys by others. A key is a place in the split as a fraction of 2**64:
the size of all copies before it / the size of all copies. So shards, which are equal ranges of
keys, have about equal sizes in every order. The size of a document is its bytes of text plus 1, so
that an empty text has a place, too.
"""

from typing import NamedTuple, Protocol

import numpy as np

KEYS = 1 << 64
HALF = np.uint64(32)
LOW_HALF = np.uint64(0xFFFFFFFF)
DIGIT_BITS = 8
MOST_SIZE = 1 << 64 - DIGIT_BITS


class Order(Protocol):
    """The order of a part's documents in a split."""

    def keys(
        self, row: np.ndarray, copy: np.ndarray, copies: np.ndarray, hashed: np.ndarray
    ) -> np.ndarray:
        """Return uint64: the order key of each copy.

        row, copy: document and number of each copy. copies: of each document of the part. hashed:
        the keys in the shuffled order.
        """


class AsFound(NamedTuple):
    """Documents by id; second copies follow all first ones, and so on."""

    sizes: np.ndarray
    """int64 (documents,)"""
    starts: np.ndarray
    """int64 (most copies,): size of all copies before the part's first, second ... copies."""
    total: int

    def keys(
        self, row: np.ndarray, copy: np.ndarray, copies: np.ndarray, hashed: np.ndarray
    ) -> np.ndarray:
        before = np.zeros(row.size, np.int64)
        for number in np.unique(copy).tolist():
            sizes = np.where(copies > number, self.sizes, 0)
            starts = self.starts[number] + np.cumsum(sizes) - sizes
            mine = copy == number
            before[mine] = starts[row[mine]]
        return fractions_of(before, self.total)


class Banded(NamedTuple):
    """Bands one after another, each shuffled."""

    bands: np.ndarray
    """int64 (documents,): band of each."""
    starts: np.ndarray
    """uint64 (bands + 1,): first key of each band, and the end of the last one."""

    def keys(
        self, row: np.ndarray, copy: np.ndarray, copies: np.ndarray, hashed: np.ndarray
    ) -> np.ndarray:
        band = self.bands[row]
        start = self.starts[band]
        return start + high_product(hashed, self.starts[band + 1] - start)


def fractions_of(parts: np.ndarray, total: int) -> np.ndarray:
    """Return uint64: floor(part * 2**64 / total) of each part, which is below the total."""
    if total >= MOST_SIZE:
        raise ValueError(
            f"shuffle.order: the text of a split has {total:,} bytes, more than {MOST_SIZE:,}. Set "
            "the order to shuffled."
        )
    # Long division: each remainder is below the total, so it has room for one more digit.
    left, found = parts.astype(np.uint64), np.zeros(parts.size, np.uint64)
    bits, divisor = np.uint64(DIGIT_BITS), np.uint64(total)
    for _ in range(64 // DIGIT_BITS):
        digit, left = np.divmod(left << bits, divisor)
        found = found << bits | digit
    return found


def starts_of_bands(sizes: list[int]) -> np.ndarray:
    """Return uint64 (bands + 1,): the first key of each band, and the end. sizes: of the bands."""
    total, before, found = max(sum(sizes), 1), 0, []
    for size in [*sizes, 0]:
        # The end, 2**64, is no 64-bit number. One key less than that changes no order.
        found.append(min(before * KEYS // total, KEYS - 1))
        before += size
    return np.array(found, np.uint64)


def high_product(numbers: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return uint64: floor(number * other / 2**64) of 64-bit numbers."""
    high, low = numbers >> HALF, numbers & LOW_HALF
    other_high, other_low = others >> HALF, others & LOW_HALF
    middle = high * other_low + (low * other_low >> HALF)
    rest = low * other_high + (middle & LOW_HALF)
    return high * other_high + (middle >> HALF) + (rest >> HALF)
