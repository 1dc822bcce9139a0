"""The cells of a mixture: their names, and the cell and factor of each candidate."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from corpusmill.mill.decide.apportioning import Candidates, Classes
from corpusmill.mill.decide.mixture import (
    NONE,
    Axis,
    Factor,
    Mixture,
    as_fraction,
    label_column,
    shares_of_quantiles,
)
from corpusmill.mill.read.ids import unit_hash

MOST_CELLS = 10_000
MOST_CLASSES = 40_000

Columns = Mapping[str, np.ndarray]
"""Columns of candidates: id, size, source, and those of the mixture: names as places in a list, -1
for none, in `label_column`; numbers as float64, NaN for none."""


class Scale(NamedTuple):
    """The cells along one axis: their names, and how to find that of a candidate."""

    axis: Axis
    names: list[str]
    edges: np.ndarray | None = None
    of_source: np.ndarray | None = None
    """int64: place in `names` of each source."""

    def places(self, columns: Columns) -> np.ndarray:
        """Return int64: the place in `names` of each candidate."""
        if self.of_source is not None:
            return self.of_source[columns["source"]]
        missing = len(self.names) - 1
        if self.edges is None:
            values = columns[label_column(self.axis.column)]
            return np.where(values < 0, missing, values)
        values = columns[self.axis.column]
        found = np.searchsorted(self.edges, values, "right")
        return np.where(np.isnan(values), missing, found)


def number_name(value: float) -> str:
    return f"{value:g}" if value != int(value) or abs(value) >= 1e15 else str(int(value))


def names_between(edges: list[float]) -> list[str]:
    """Name the cells between limits: `<10`, `10-20`, `>=20`."""
    told = [number_name(edge) for edge in edges]
    between = [f"{low}-{high}" for low, high in itertools.pairwise(told)]
    return [f"<{told[0]}", *between, f">={told[-1]}"]


def quantile_names(count: int) -> list[str]:
    return [f"q{place}" for place in range(1, count + 1)]


class Grid:
    """The cells of a mixture over candidates."""

    def __init__(
        self,
        mixture: Mixture,
        labels: Mapping[str, list[str]],
        quantiles: Mapping[str, list[float]],
    ) -> None:
        """labels: the names of each column of labels. quantiles: from `quantiles_of`."""
        self.mixture = mixture
        self._quantiles = {
            column: dict(zip(shares, quantiles[column], strict=False))
            for column, shares in mixture.quantiles.items()
        }
        self.scales = [self._scale(axis, labels) for axis in mixture.axes]
        self._weights = np.array([*mixture.weights.values()], np.float64)

    def _scale(self, axis: Axis, labels: Mapping[str, list[str]]) -> Scale:
        if not axis.column:
            of_source = axis.groups or {name: name for name in self.mixture.weights}
            names = sorted(set(of_source.values()))
            places = [names.index(of_source[name]) for name in self.mixture.weights]
            return Scale(axis, names, of_source=np.array(places, np.int64))
        if axis.quantiles:
            values = self._quantiles[axis.column]
            edges = [values[share] for share in shares_of_quantiles(axis.quantiles) if values]
            names = quantile_names(axis.quantiles)
            return Scale(axis, [*names, NONE], np.array(edges, np.float64))
        if axis.edges is not None:
            return Scale(axis, [*names_between(axis.edges), NONE], np.array(axis.edges, np.float64))
        return Scale(axis, [*labels[axis.column], NONE])

    def numbers(self, columns: Columns) -> np.ndarray:
        """Return int64: the number of each candidate's cell among all possible ones."""
        number = np.zeros(columns["id"].size, np.int64)
        for scale in self.scales:
            number = number * len(scale.names) + scale.places(columns)
        return number

    def names(self, number: int) -> tuple[str, ...]:
        """Return the name of a cell along each axis."""
        found = []
        for scale in reversed(self.scales):
            number, place = divmod(number, len(scale.names))
            found.append(scale.names[place])
        return tuple(reversed(found))

    def factors(self, columns: Columns) -> np.ndarray:
        """Return float64: how many copies each candidate gets, relative to others of its cell."""
        found = self._weights[columns["source"]]
        for factor in self.mixture.factors:
            found = found * self.times(factor, columns[factor.column])
        return found

    def times(self, factor: Factor, values: np.ndarray) -> np.ndarray:
        """Return the factors of a curve. Below its first limit, and without a value, it is the
        first."""
        limits = factor.limits
        if factor.of_quantiles:
            at = self._quantiles[factor.column]
            limits = [at.get(as_fraction(limit), 0.0) for limit in limits]
        place = np.searchsorted(np.array(limits, np.float64), values, "right") - 1
        place = np.where(np.isnan(values), 0, np.maximum(place, 0))
        return np.array(factor.times, np.float64)[place]


class Cells(NamedTuple):
    """The cells that have candidates, and their classes."""

    numbers: np.ndarray
    """int64, ascending: the number of each cell in the grid."""
    classes: Classes
    pairs: np.ndarray
    """PAIR, ascending: cell number and factor of each class."""

    @classmethod
    def of(cls, pairs: np.ndarray, most: int) -> "Cells":
        numbers, cells = np.unique(pairs["cell"], return_inverse=True)
        return cls(numbers, Classes(cells.astype(np.int64), pairs["factor"].copy(), most), pairs)


PAIR = np.dtype([("cell", "<i8"), ("factor", "<f8")])


def pairs_of(grid: Grid, columns: Columns) -> np.ndarray:
    """Return PAIR: cell number and factor of each candidate."""
    pairs = np.empty(columns["id"].size, PAIR)
    pairs["cell"], pairs["factor"] = grid.numbers(columns), grid.factors(columns)
    return pairs


def cells_of(grid: Grid, pieces: Iterable[Columns], most: int) -> Cells:
    """Return the cells and classes of all candidates; raise ValueError if there are too many."""
    known = np.empty(0, PAIR)
    for columns in pieces:
        known = np.unique(np.concatenate([known, pairs_of(grid, columns)]))
        refuse_too_many(np.unique(known["cell"]).size, MOST_CELLS, "cells", "mixture.by")
        refuse_too_many(known.size, MOST_CLASSES, "cells times factors", "mixture.copies")
    return Cells.of(known, most)


def refuse_too_many(count: int, most: int, what: str, key: str) -> None:
    if count > most:
        raise ValueError(
            f"{key}: expected at most {most:,} {what}, found {count:,}. Use fewer or wider bins, "
            "or remove an entry."
        )


def candidates_of(grid: Grid, cells: Cells, columns: Columns) -> Candidates:
    """Return candidates with the classes to which they belong."""
    ids, mixture = columns["id"], grid.mixture
    return Candidates(
        ids,
        np.searchsorted(cells.pairs, pairs_of(grid, columns)).astype(np.int64),
        unit_hash(ids, mixture.seed, mixture.purpose),
        columns["size"],
    )


def all_candidates(grid: Grid, cells: Cells, pieces: Iterable[Columns]) -> Iterator[Candidates]:
    for columns in pieces:
        yield candidates_of(grid, cells, columns)
