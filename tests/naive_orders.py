"""Slow twins of the orders of documents: one copy after another."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

KEYS = 2**64


class Document(NamedTuple):
    id: int
    size: int
    value: float
    copies: int


def as_found(documents: Sequence[Document]) -> list[tuple[int, int]]:
    """(id, copy) in the order of the input, pass after pass."""
    passes = range(max((one.copies for one in documents), default=0))
    return [(one.id, copy) for copy in passes for one in documents if one.copies > copy]


def keys_as_found(documents: Sequence[Document]) -> list[int]:
    """Keys in the order of `as_found`."""
    size = {one.id: one.size for one in documents}
    sizes = [size[id] for id, _ in as_found(documents)]
    return [math.floor(Fraction(sum(sizes[:k]), sum(sizes)) * KEYS) for k in range(len(sizes))]


def limits(documents: Sequence[Document], bands: int) -> list[float]:
    """The value of the byte at each share of all bytes that have a value."""
    known = sorted(one.value for one in documents if not math.isnan(one.value)
                   for _ in range(one.size * one.copies))  # fmt: skip
    at = [math.floor(Fraction(k * len(known), bands)) for k in range(1, bands)]
    return [known[place] for place in at if known]


def band(value: float, limits: list[float], bands: int) -> int:
    return bands if math.isnan(value) else sum(limit <= value for limit in limits)


def starts(sizes: Sequence[int]) -> list[int]:
    total = max(1, sum(sizes))
    found = [KEYS * sum(sizes[:k]) // total for k in range(len(sizes) + 1)]
    return [min(start, KEYS - 1) for start in found]
