"""Exact quantiles of values that do not fit into memory, by counting 16 bits of them per pass."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

import numpy as np

DIGIT_BITS = 16
PASSES = 64 // DIGIT_BITS
SIGN = np.uint64(1 << 63)


def sortable(values: np.ndarray) -> np.ndarray:
    """Return uint64 keys with the order of float64 values. -0.0 equals 0.0."""
    bits = (values + 0.0).view(np.uint64)
    return np.where(bits & SIGN, ~bits, bits | SIGN)


def value_of(key: int) -> float:
    """Return the value of a key."""
    bits = np.array([key], np.uint64)
    return float(np.where(bits & SIGN, bits ^ SIGN, ~bits).view(np.float64)[0])


def rank_of(share: Fraction, count: int) -> int:
    """Return the rank, from 0, of the lowest value above this share of `count` values."""
    return min(int(share * count), count - 1)


def quantiles_of(
    pieces: Callable[[], Iterator[Mapping[str, np.ndarray]]], wanted: Mapping[str, list[Fraction]]
) -> dict[str, list[float]]:
    """Return the values at the wanted shares, by column; an empty list if there is no value.

    pieces: yields float64 columns; NaN stands for no value.
    """
    if not wanted:
        return {}
    counts = dict.fromkeys(wanted, 0)
    for piece in pieces():
        for column in wanted:
            counts[column] += int((~np.isnan(piece[column])).sum())
    places = [
        _Place(column, rank_of(share, counts[column]))
        for column, shares in wanted.items()
        if counts[column]
        for share in shares
    ]
    for digit in range(PASSES):
        shift = np.uint64(64 - DIGIT_BITS * (digit + 1))
        histograms: dict[tuple[str, int], np.ndarray] = {
            (one.column, one.prefix): np.zeros(1 << DIGIT_BITS, np.int64) for one in places
        }
        for piece in pieces():
            keys = {column: sortable(piece[column][~np.isnan(piece[column])]) for column in wanted}
            for (column, prefix), histogram in histograms.items():
                digits = keys[column] >> shift
                if digit:
                    digits = digits[digits >> np.uint64(DIGIT_BITS) == prefix]
                low = (digits & np.uint64((1 << DIGIT_BITS) - 1)).astype(np.int64)
                histogram += np.bincount(low, minlength=1 << DIGIT_BITS)
        for one in places:
            one.narrow(histograms[one.column, one.prefix])
    found: dict[str, list[float]] = {column: [] for column in wanted}
    for one in places:
        found[one.column].append(value_of(one.prefix))
    return found


class _Place:
    """The search for the value of one rank."""

    def __init__(self, column: str, rank: int) -> None:
        self.column, self.prefix, self._rank = column, 0, rank

    def narrow(self, histogram: np.ndarray) -> None:
        """histogram: counts of the next digit among keys with this prefix."""
        ends = np.cumsum(histogram)
        digit = int(np.searchsorted(ends, self._rank, "right"))
        self._rank -= int(ends[digit] - histogram[digit])
        self.prefix = self.prefix << DIGIT_BITS | digit
