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
    pieces: Callable[[], Iterator[Mapping[str, np.ndarray]]],
    wanted: Mapping[str, list[Fraction]],
    sizes: str = "",
) -> dict[str, list[float]]:
    """Return the values at the wanted shares, by column; an empty list if there is no value.

    pieces: yields float64 columns; NaN stands for no value. sizes: int64 column with how often each
    value counts, at least 1; "": once.
    """
    if not wanted:
        return {}

    def counted(piece: Mapping[str, np.ndarray], column: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the values of a column, and how often each counts."""
        has = ~np.isnan(piece[column])
        times = piece[sizes][has] if sizes else np.ones(int(has.sum()), np.int64)
        return piece[column][has], times

    counts = dict.fromkeys(wanted, 0)
    for piece in pieces():
        for column in wanted:
            counts[column] += int(counted(piece, column)[1].sum())
    places = [
        _Place(column, rank_of(share, counts[column]))
        for column, shares in wanted.items()
        if counts[column]
        for share in shares
    ]
    for digit in range(PASSES):
        shift = np.uint64(64 - DIGIT_BITS * (digit + 1))
        of_columns = {
            column: _Histograms([one.prefix for one in places if one.column == column])
            for column in {one.column for one in places}
        }
        for piece in pieces():
            for column, histograms in of_columns.items():
                values, times = counted(piece, column)
                histograms.add(sortable(values) >> shift, times)
        for one in places:
            one.narrow(of_columns[one.column].of(one.prefix))
    found: dict[str, list[float]] = {column: [] for column in wanted}
    for one in places:
        found[one.column].append(value_of(one.prefix))
    return found


class _Histograms:
    """How often each digit follows each of some prefixes."""

    def __init__(self, prefixes: list[int]) -> None:
        self._prefixes = np.unique(np.array(prefixes, np.uint64))
        self._counts = np.zeros(self._prefixes.size << DIGIT_BITS, np.int64)

    def add(self, keys: np.ndarray, times: np.ndarray) -> None:
        """keys: uint64, a prefix and a digit. times: int64, how often each counts."""
        prefixes = keys >> np.uint64(DIGIT_BITS)
        places = np.searchsorted(self._prefixes, prefixes)
        places = np.minimum(places, self._prefixes.size - 1)
        known = self._prefixes[places] == prefixes
        digits = keys[known] & np.uint64((1 << DIGIT_BITS) - 1)
        np.add.at(self._counts, places[known] << DIGIT_BITS | digits.astype(np.int64), times[known])

    def of(self, prefix: int) -> np.ndarray:
        """Return int64 (2**DIGIT_BITS,): the counts of digits after a prefix."""
        place = int(np.searchsorted(self._prefixes, np.uint64(prefix)))
        return self._counts[place << DIGIT_BITS : place + 1 << DIGIT_BITS]


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
