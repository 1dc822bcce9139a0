"""What a mixture would take of each cell, from the sampled documents that the filters keep.

Cells are those along the first entry of `mixture.by`, as far as the sample has their values.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from corpusmill.messages.text_tables import aligned
from corpusmill.mill.decide.candidates import as_labels, as_numbers
from corpusmill.mill.decide.cells import names_between
from corpusmill.mill.decide.fates import TRAIN
from corpusmill.mill.decide.mixture import NONE, Axis, Mixture, Stage, as_fraction
from corpusmill.mill.decide.shares import (
    Supply,
    first_shares,
    limit_of,
    rescaled,
    shares_of_cells,
)

MOST_SHOWN = 40
"""Maximum number of cells in the text of an estimate."""
ALL_DOCUMENTS = "all documents"
"""The only cell if the sample has no values for others."""


class FirstCells:
    """The cells of sampled documents along the first axis of a mixture."""

    def __init__(self, axis: Axis, weights: dict[str, float]) -> None:
        self.axis = axis
        self.names: list[str] = []
        if not axis.column:
            self.names = sorted({self._of_source(name) for name in weights})
        elif axis.edges is not None:
            self.names = [*names_between(axis.edges), NONE]
        self.is_known = True

    def _of_source(self, name: str) -> str:
        return self.axis.groups[name] if self.axis.groups else name

    def places(self, table: pa.Table, sources: list[str]) -> np.ndarray:
        """Return int64: the place in `names` of each document. table: its values. sources: of the
        documents."""
        axis = self.axis
        if not axis.column:
            return np.array([self.names.index(self._of_source(one)) for one in sources], np.int64)
        if axis.column not in table.schema.names or axis.quantiles:
            self.is_known, self.names = False, [ALL_DOCUMENTS]
            return np.zeros(table.num_rows, np.int64)
        values = table.column(axis.column).combine_chunks()
        if axis.edges is not None:
            numbers = as_numbers(values).to_numpy(zero_copy_only=False)
            found = np.searchsorted(np.array(axis.edges), numbers, "right")
            return np.where(np.isnan(numbers), len(axis.edges) + 1, found)
        names = [NONE if name is None else name for name in as_labels(values).to_pylist()]
        self.names += sorted({*names} - {*self.names})
        place_of = {name: place for place, name in enumerate(self.names)}
        return np.array([place_of[name] for name in names], np.int64)


class Sampled(NamedTuple):
    """The documents of a sample that the filters keep. Arrays have an entry per document."""

    stays: np.ndarray
    """float64: the documents of train for which each stands, negative for surplus duplicates."""
    weights: np.ndarray
    """float64: weights of their sources."""
    bytes: np.ndarray
    """float64"""
    tokens: np.ndarray
    """float64"""

    def sizes(self, unit: str) -> np.ndarray:
        """Return the size of each document."""
        return {"bytes": self.bytes, "tokens": self.tokens}.get(unit, np.ones(self.bytes.size))


class ExpectedCell(NamedTuple):
    cell: str
    documents: float
    available: float
    """Size of its documents, in the unit of the budget."""
    wanted: float | None
    """None without a budget."""
    epochs: float
    max_epochs: float | None


class ExpectedMixture(NamedTuple):
    """The expected mixture of train or a stage."""

    unit: str
    budget: int | None
    by: str
    cells: list[ExpectedCell]
    shortages: list[str]
    unknown: list[str]
    """What only the run can know."""
    documents: float
    """Written, with all copies, as the next two."""
    bytes: float
    tokens: float


def expected_mixtures(
    stages: list[Stage],
    cells: list[tuple[FirstCells, np.ndarray]],
    sampled: Sampled,
    epochs: dict[str, float],
) -> dict[str, ExpectedMixture]:
    """Return the expected mixture of train or each stage. cells: of each stage, with the places of
    the documents. epochs: of stages without a budget, as in a trial run."""
    found: dict[str, ExpectedMixture] = {}
    unused: dict[str, np.ndarray] = {}
    for stage, (first, places) in zip(stages, cells, strict=True):
        left = sampled.stays.copy()
        for name in stage.exclude:
            left *= unused[name]
        one = _expected(stage, first, places, sampled._replace(stays=left), epochs)
        found[stage.split] = one
        used = np.array([cell.epochs for cell in one.cells])
        unused[stage.split] = 1 - np.minimum(used, 1)[places]
    return found


def _expected(
    stage: Stage,
    first: FirstCells,
    places: np.ndarray,
    sampled: Sampled,
    epochs_of: dict[str, float],
) -> ExpectedMixture:
    mixture, names = stage.mixture, first.names
    # Names occur in the order of the sample, and the last may be new since a document was read.
    totals = {
        unit: np.maximum(np.bincount(places, sampled.stays * sampled.sizes(unit), len(names)), 0)
        for unit in ("documents", "bytes", "tokens")
    }
    size = totals[mixture.unit]
    mass = np.bincount(places, sampled.stays * sampled.weights * sampled.sizes(mixture.unit),
                       len(names))  # fmt: skip
    supplies = [
        Supply((name,), round(totals["documents"][k]), round(size[k]),
               Fraction(max(round(mass[k]), 0)), round(size[k] * mixture.most))
        for k, name in enumerate(names)
    ]  # fmt: skip
    shortages: list[str] = []
    wanted: list[float] | None = None
    maxima = [_max_epochs(mixture, name, first.is_known) for name in names]
    if mixture.budget is None:
        epochs = np.full(len(names), epochs_of.get(stage.split, 1.0))
    else:
        limits = [limit_of(one, most) for one, most in zip(supplies, maxima, strict=True)]
        targets = _targets(mixture, supplies, first.is_known)
        if mixture.on_shortage == "rescale":
            targets = rescaled(targets, limits)
        wanted = [*map(float, targets)]
        epochs = np.array(wanted) / np.maximum(size, 1)
        place = "" if stage.split == TRAIN else f"stage {stage.split}: "
        axis = first.axis.name if first.is_known else ""
        told = _shortages(mixture, supplies, targets, limits, axis)
        shortages = [f"{place}mixture: {one}" for one in told]
    return ExpectedMixture(
        mixture.unit,
        mixture.budget,
        first.axis.name,
        [
            ExpectedCell(name, float(totals["documents"][k]), float(size[k]),
                         wanted[k] if wanted else None, float(epochs[k]), maxima[k])
            for k, name in enumerate(names)
        ],
        shortages,
        list(_unknown(mixture, first)),
        *(float(epochs @ totals[unit]) for unit in ("documents", "bytes", "tokens")),
    )  # fmt: skip


def _max_epochs(mixture: Mixture, name: str, is_known: bool) -> float | None:
    maxima = mixture.max_epochs
    if mixture.on_shortage == "repeat":
        return None
    if is_known:
        return maxima.of_cell((name,))
    return None if maxima.each is None else max(maxima.each, *maxima.cells.values(), 0)


def _targets(mixture: Mixture, supplies: list[Supply], is_known: bool) -> list[Fraction]:
    """Return what the budget wants of each cell."""
    budget = mixture.budget or 0
    if not is_known:
        return [Fraction(budget)]
    shares = first_shares(mixture.shares)
    if shares is None:
        found, _ = shares_of_cells(mixture.shares, supplies, budget, mixture.max_epochs)
        return [share * budget for share in found]
    return [shares.get(one.names[0], Fraction(0)) * budget for one in supplies]


def _shortages(
    mixture: Mixture,
    supplies: list[Supply],
    targets: list[Fraction],
    limits: list[int],
    axis: str,
) -> Iterator[str]:
    """Yield a sentence per cell with too little. axis: its name; empty for all documents."""
    unit = mixture.unit
    for supply, target, limit in zip(supplies, targets, limits, strict=True):
        if target <= limit:
            continue
        epochs = _max_epochs(mixture, supply.names[0], bool(axis))
        is_max = epochs is None or epochs > mixture.most
        remedy, times = ("max", mixture.most) if is_max else ("max_epochs", epochs)
        which = f" of {axis} {supply.names[0]}" if axis else ""
        yield (
            f"the budget wants about {about(target, unit)}{which}, but only about "
            f"{about(supply.size, unit)} x {remedy} {times:g} = {about(limit, unit)} are expected. "
            f"Lower {'its share or ' * bool(axis)}the budget, or raise {remedy}."
        )
    of_all, budget = mixture.max_epochs.all, mixture.budget or 0
    usable = sum(one.size for one in supplies if one.mass)
    if of_all is not None and mixture.on_shortage != "repeat":
        allowed = as_fraction(of_all) * usable
        if budget > allowed:
            yield (
                f"the budget wants {about(budget, unit)}, but only about {about(usable, unit)} x "
                f"max_epochs.all {of_all:g} = {about(allowed, unit)} are expected. Lower the "
                "budget, or raise max_epochs.all."
            )


def _unknown(mixture: Mixture, first: FirstCells) -> Iterator[str]:
    """Yield a sentence about each part that only the run can know."""
    if not first.is_known:
        yield (
            f"The sizes of the cells by {first.axis.name} are known only in the run, after the "
            "duplicates are found."
        )
    elif len(mixture.axes) > 1:
        yield (
            f"Cells by {', '.join(axis.name for axis in mixture.axes[1:])} are known only in the "
            f"run; one of them may be too small although its {first.axis.name} is not."
        )
    if mixture.factors:
        yield "The curves of mixture.copies apply only in the run; here no document gets factor 0."


def about(size: Fraction | float, unit: str) -> str:
    """Return a size with three digits."""
    return f"{float(f'{float(size):.3g}'):,.0f} {unit}"


def told_of_mixtures(mixtures: dict[str, ExpectedMixture]) -> Iterator[str]:
    """Yield a table per mixture, and sentences about shortages."""
    for split, one in mixtures.items():
        budget = "no budget" if one.budget is None else f"budget {one.budget:,} {one.unit}"
        yield f"mixture      {split}: {budget}; about {about(one.tokens, 'tokens')} to be written"
        yield aligned([*_rows(one)])
        yield from (f"Shortage: {sentence}" for sentence in one.shortages)
        yield from one.unknown
        yield ""


def _rows(one: ExpectedMixture) -> Iterator[list[str]]:
    yield [one.by, "documents", one.unit, "wanted", "epochs", "max_epochs"]
    ordered = sorted(one.cells, key=lambda cell: (-(cell.wanted or cell.available), cell.cell))
    for cell in ordered[:MOST_SHOWN]:
        yield [
            cell.cell, f"{cell.documents:,.0f}", f"{cell.available:,.0f}",
            "" if cell.wanted is None else f"{cell.wanted:,.0f}", f"{cell.epochs:.2f}",
            "" if cell.max_epochs is None else f"{cell.max_epochs:g}",
        ]  # fmt: skip
    if len(ordered) > MOST_SHOWN:
        yield [f"and {len(ordered) - MOST_SHOWN:,} more", *[""] * 5]


def in_json(mixtures: dict[str, ExpectedMixture]) -> dict[str, Any]:
    return {
        split: one._asdict() | {"cells": [cell._asdict() for cell in one.cells]}
        for split, one in mixtures.items()
    }
