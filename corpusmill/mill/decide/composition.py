"""Compose a corpus: from tables of candidates to the levels of all cells, and their account."""

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from corpusmill.mill.decide.apportioning import (
    Levels,
    apportion,
    copies_of_candidates,
    sums_of,
)
from corpusmill.mill.decide.candidates import CandidateTables
from corpusmill.mill.decide.cells import (
    Cells,
    Columns,
    Grid,
    all_candidates,
    candidates_of,
    cells_of,
)
from corpusmill.mill.decide.fates import TRAIN
from corpusmill.mill.decide.mixture import NONE, Mixture, Stage
from corpusmill.mill.decide.quantiles import quantiles_of
from corpusmill.mill.decide.shares import (
    Supply,
    given_shares,
    shares_of_cells,
    targets_of,
    unknown_faults,
)
from corpusmill.mill.storage.arrays import load_array
from corpusmill.mill.storage.files import load_json


class Tables(Protocol):
    """Candidates, which can be read several times."""

    @property
    def labels(self) -> dict[str, list[str]]:
        """The names of each column of names, in order."""

    def pieces(self) -> Iterator[Columns]: ...


class Composition(NamedTuple):
    """How the budget is divided among the cells."""

    grid: Grid
    cells: Cells
    supplies: list[Supply]
    shares: list[Fraction] | None
    """The wanted share of each cell; None without a budget."""
    targets: list[Fraction] | None
    reached: np.ndarray
    """int64: the size of each cell's copies."""
    levels: Levels
    quantiles: dict[str, list[float]]
    labels: dict[str, list[str]]
    """The names of each column of names, in order."""

    def lines(self) -> Iterator[str]:
        """Yield a line per cell."""
        for place, supply in enumerate(self.supplies):
            wanted = "" if self.targets is None else f" of {float(self.targets[place]):,.1f} wanted"
            yield (
                f"{':'.join(supply.names)}: {supply.documents:,} documents, size {supply.size:,}; "
                f"reached {int(self.reached[place]):,}{wanted}"
            )

    def told(self) -> dict[str, Any]:
        """Return it as JSON, without the classes."""
        cells = [
            {
                "cell": list(supply.names),
                "documents": supply.documents,
                "size": supply.size,
                "mass": [supply.mass.numerator, supply.mass.denominator],
                "capacity": supply.capacity,
                "share": None if self.shares is None else float(self.shares[place]),
                "wanted": None if self.targets is None else float(self.targets[place]),
                "reached": int(self.reached[place]),
                "level": float(self.levels.level[place]),
                "below": int(self.levels.below[place]),
            }
            for place, supply in enumerate(self.supplies)
        ]
        mixture = self.grid.mixture
        return {
            "corpusmill.mixture": 1,
            "unit": mixture.unit,
            "budget": mixture.budget,
            "by": [axis.name for axis in mixture.axes],
            "labels": self.labels,
            # As hexadecimal text, since JSON has no infinity.
            "quantiles": {
                name: [one.hex() for one in values] for name, values in self.quantiles.items()
            },
            "cells": cells,
        }


def compose(tables: Tables, mixture: Mixture) -> Composition:
    """Return the composition; raise ValueError if the mixture cannot be reached."""
    quantiles = quantiles_of(tables.pieces, mixture.quantiles)
    grid = Grid(mixture, tables.labels, quantiles)
    cells = cells_of(grid, tables.pieces(), mixture.most)
    supplies = supplies_of(grid, cells, tables)
    refuse_missing(mixture, supplies)

    def pieces() -> Iterator[Any]:
        return all_candidates(grid, cells, tables.pieces())

    sums = sums_of(pieces(), len(cells.pairs))
    if mixture.budget is None:
        levels = Levels(np.ones(len(supplies)), np.zeros(len(supplies), np.uint64))
        reached = reached_at(levels, cells, tables, grid)
        return Composition(
            grid, cells, supplies, None, None, reached, levels, quantiles, tables.labels
        )
    refuse_unknown(mixture, supplies, grid.scales[0].names)
    shares, groups = shares_of_cells(mixture.shares, supplies, mixture.budget, mixture.max_epochs)
    targets = targets_of(shares, supplies, mixture)
    done = apportion(
        pieces, cells.classes, sums, targets.sizes, targets.limits, groups, mixture.budget
    )
    return Composition(
        grid, cells, supplies, shares, targets.sizes, done.sizes, done.levels, quantiles,
        tables.labels,
    )  # fmt: skip


def supplies_of(grid: Grid, cells: Cells, tables: Tables) -> list[Supply]:
    """Return what each cell has."""
    classes = cells.classes
    documents, sizes = (np.zeros(len(cells.pairs), np.int64) for _ in range(2))
    for columns in tables.pieces():
        of_piece = candidates_of(grid, cells, columns)
        np.add.at(documents, of_piece.classes, 1)
        np.add.at(sizes, of_piece.classes, of_piece.sizes)
    found = []
    for place, number in enumerate(cells.numbers.tolist()):
        mine = np.flatnonzero(classes.cells == place)
        factors = [Fraction(one) for one in classes.factors[mine].tolist()]
        of_class = sizes[mine].tolist()
        found.append(
            Supply(
                grid.names(number),
                int(documents[mine].sum()),
                sum(of_class),
                sum((f * s for f, s in zip(factors, of_class, strict=True)), Fraction(0)),
                sum(s * classes.most for f, s in zip(factors, of_class, strict=True) if f),
            )
        )
    return found


def reached_at(levels: Levels, cells: Cells, tables: Tables, grid: Grid) -> np.ndarray:
    reached = np.zeros(len(cells.numbers), np.int64)
    for columns in tables.pieces():
        some = candidates_of(grid, cells, columns)
        copies = copies_of_candidates(some, cells.classes, levels)
        np.add.at(reached, cells.classes.cells[some.classes], copies * some.sizes)
    return reached


def refuse_missing(mixture: Mixture, supplies: list[Supply]) -> None:
    """Raise ValueError for documents without a value that must have one."""
    for place, axis in enumerate(mixture.axes):
        without = sum(one.documents for one in supplies if one.names[place] == NONE)
        if without and axis.missing == "fail" and axis.column:
            raise ValueError(
                f"mixture.by: {without:,} documents have no value for {axis.name}. Set missing to "
                f"none, so that they form a cell named {NONE}, or filter them out."
            )


def refuse_unknown(mixture: Mixture, supplies: list[Supply], first: list[str]) -> None:
    """Raise ValueError for cells in the configuration that do not exist. first: the names along
    the first axis."""
    limited = [(name,) for name in mixture.max_epochs.cells]
    faults = [
        f"mixture.max_epochs: {fault}"
        for fault in unknown_faults(limited, [(name,) for name in first])
    ]
    if isinstance(mixture.shares, Mapping) and set(mixture.shares) != {"temperature"}:
        given = [names for names, share in given_shares(mixture.shares).items() if share]
        cells = [one.names for one in supplies]
        faults += [f"mixture.shares: {fault}" for fault in unknown_faults(given, cells)]
    if faults:
        raise ValueError("\n".join(faults))


def copies_of_part(composed: Composition, columns: Columns) -> tuple[np.ndarray, np.ndarray]:
    """Return the copies of candidates, and their cells."""
    some = candidates_of(composed.grid, composed.cells, columns)
    copies = copies_of_candidates(some, composed.cells.classes, composed.levels)
    return copies, composed.cells.classes.cells[some.classes]


class StageComposition(NamedTuple):
    split: str
    exclude: list[str]
    """Earlier stages whose documents it does not use again."""
    composition: Composition


class Chosen(NamedTuple):
    """The copies and cells that a stage gives to some candidates."""

    copies: np.ndarray
    """uint16"""
    cells: np.ndarray
    """int64: their cells; -1 for excluded ones."""


def chosen_by_stages(stages: list[StageComposition], columns: Columns) -> dict[str, Chosen]:
    """Return what each stage does with candidates. stages: in order."""
    found: dict[str, Chosen] = {}
    for stage in stages:
        left = ~used_by([found[name] for name in stage.exclude], columns)
        copies, cells = np.zeros(left.size, np.uint16), np.full(left.size, -1, np.int64)
        some = {name: column[left] for name, column in columns.items()}
        copies[left], cells[left] = copies_of_part(stage.composition, some)
        found[stage.split] = Chosen(copies, cells)
    return found


def used_by(stages: list[Chosen], columns: Columns) -> np.ndarray:
    """Return bool: which candidates a stage uses."""
    found = np.zeros(columns["id"].size, bool)
    for chosen in stages:
        found |= chosen.copies > 0
    return found


def compose_stages(tables: CandidateTables, stages: list[Stage]) -> list[StageComposition]:
    """Return the composition of each stage; raise ValueError if one cannot be reached.

    It names the faults of all stages but those that exclude a stage with faults.
    """
    found: list[StageComposition] = []
    faults: list[str] = []
    failed: set[str] = set()
    for stage in stages:
        if failed & set(stage.exclude):
            failed.add(stage.split)
            continue

        def is_used(columns: Columns, exclude: list[str] = stage.exclude) -> np.ndarray:
            chosen = chosen_by_stages(found, columns)
            return used_by([chosen[name] for name in exclude], columns)

        try:
            composed = compose(
                tables._replace(is_used=is_used if stage.exclude else None), stage.mixture
            )
        except ValueError as error:
            place = "" if stage.split == TRAIN else f"stage {stage.split}: "
            faults += [place + line for line in str(error).splitlines()]
            failed.add(stage.split)
            continue
        found.append(StageComposition(stage.split, stage.exclude, composed))
    if faults:
        raise ValueError("\n".join(faults))
    return found


class Tally:
    """Documents of each cell by their number of copies, and the size of all copies. Cell -1 does
    not count."""

    def __init__(self, cells: int) -> None:
        self._sizes = np.zeros(cells, np.int64)
        self._documents: list[Counter] = [Counter() for _ in range(cells)]

    def add(self, cells: np.ndarray, sizes: np.ndarray, copies: np.ndarray) -> None:
        known = cells >= 0
        cells, sizes, copies = cells[known], sizes[known], copies[known]
        np.add.at(self._sizes, cells, copies * sizes)
        pairs, counts = np.unique(np.stack([cells, copies.astype(np.int64)]), axis=1,
                                  return_counts=True)  # fmt: skip
        for cell, number, count in zip(*pairs.tolist(), counts.tolist(), strict=True):
            self._documents[cell][number] += count

    def counts(self) -> list[dict]:
        """Return per cell the size of all copies, and the documents by number of copies."""
        return [
            {"size": size, "documents": {str(k): v for k, v in sorted(documents.items())}}
            for size, documents in zip(self._sizes.tolist(), self._documents, strict=True)
        ]


def load_composition(path: Path, classes: Path, mixture: Mixture) -> Composition:
    """Return a composition from what `Composition.told` says, and its classes."""
    told = load_json(path)
    quantiles = {name: [*map(float.fromhex, one)] for name, one in told["quantiles"].items()}
    grid = Grid(mixture, told["labels"], quantiles)
    cells = Cells.of(load_array(classes), mixture.most)
    rows = told["cells"]
    supplies = [
        Supply(tuple(one["cell"]), one["documents"], one["size"], Fraction(*one["mass"]),
               one["capacity"])
        for one in rows
    ]  # fmt: skip
    levels = Levels(
        np.array([one["level"] for one in rows], np.float64),
        np.array([one["below"] for one in rows], np.uint64),
    )
    reached = np.array([one["reached"] for one in rows], np.int64)
    return Composition(
        grid, cells, supplies, None, None, reached, levels, quantiles, told["labels"]
    )


def load_stages(
    compositions: list[Path], classes: list[Path], stages: list[Stage]
) -> list[StageComposition]:
    """Return the compositions of all stages from their files."""
    return [
        StageComposition(
            stage.split, stage.exclude, load_composition(path, of_stage, stage.mixture)
        )
        for stage, path, of_stage in zip(stages, compositions, classes, strict=True)
    ]
