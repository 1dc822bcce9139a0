"""Look-up of a document's cell in a mixture."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from corpusmill.mill.decide.candidates import CandidateTables
from corpusmill.mill.decide.cells import Grid
from corpusmill.mill.decide.fates import TRAIN
from corpusmill.mill.decide.mixture import Mixture
from corpusmill.mill.storage.regular_files import regular_state
from corpusmill.mill.storage.untrusted import json_of, whole_file


class InMixture(NamedTuple):
    """What a mixture knows of a document."""

    split: str
    mixture: Mixture
    cell: dict[str, Any] | None
    """Its entry in results/mixture; None if no document of the cell was left for the stage."""
    size: int
    factors: dict[str, tuple[float, float]]
    """Value and factor of each curve, by the name of the value."""


def in_mixtures(
    stages: dict[str, Mixture], folder: Path, candidates: Path, id: int
) -> list[InMixture]:
    """Return what train or each stage knows of a candidate; [] if it is none, or if files are gone.

    folder: has the cells of each stage. candidates: the table of the document's block.
    """
    paths = {split: folder / f"{split}.json" for split in stages}
    if not all(path.exists() for path in paths.values()):
        return []
    told = {split: json_of(whole_file(path), path) for split, path in paths.items()}
    for batch in batches_of(candidates):
        ids = batch.column("id").to_numpy()
        place = int(np.searchsorted(ids, id))
        if place < ids.size and int(ids[place]) == id:
            row = batch.slice(place, 1)
            return [of_stage(split, one, told[split], row) for split, one in stages.items()]
    return []


def of_stage(split: str, mixture: Mixture, told: Any, row: pa.RecordBatch) -> InMixture:
    """told: the cells of the stage. row: the candidate."""
    quantiles = {name: [*map(float.fromhex, one)] for name, one in told["quantiles"].items()}
    labels = {name: told["labels"][name] for name in mixture.labels}
    grid = Grid(mixture, labels, quantiles)
    tables = CandidateTables([], list(mixture.weights), labels, mixture.numbers)
    columns = tables.columns_of(row)
    names = list(grid.names(int(grid.numbers(columns)[0])))
    factors = {
        factor.column: (
            float(columns[factor.column][0]),
            float(grid.times(factor, columns[factor.column])[0]),
        )
        for factor in mixture.factors
    }
    cell = next((one for one in told["cells"] if one["cell"] == names), None)
    return InMixture(split, mixture, cell, int(columns["size"][0]), factors)


def batches_of(path: Path) -> list[pa.RecordBatch]:
    if not path.exists():
        return []
    regular_state(path)
    with pa.memory_map(str(path)) as source:
        file = pa.ipc.open_file(source)
        return [file.get_batch(number) for number in range(file.num_record_batches)]


def in_words(found: InMixture, copies: int, used: list[str]) -> str:
    """Say why a document has its number of copies. used: excluded stages that use it."""
    cell, mixture, unit = found.cell, found.mixture, found.mixture.unit
    where = "" if found.split == TRAIN else f"Stage {found.split}: "
    if cell is None or used:
        by_others = " and ".join(used) or "an earlier stage"
        return f"{where}It is used by {by_others}, whose documents are excluded."
    by = ", ".join(axis.name for axis in mixture.axes)
    told = f"{where}It is in the cell {':'.join(cell['cell'])} (by {by})"
    if cell["wanted"] is None:
        told += "."
    else:
        told += (
            f", which has a share of {cell['share']:.4g}: {cell['wanted']:,.0f} of "
            f"{mixture.budget:,} {unit}. The {cell['documents']:,} documents of the cell have "
            f"{cell['size']:,} {unit}, so they are used "
            f"{cell['reached'] / max(cell['size'], 1):.2f} times on average."
        )
    if found.factors:
        each = (f"{times:g} for {name} {value:g}" for name, (value, times) in found.factors.items())
        told += f" Its factors: {', '.join(each)}."
    number = {0: "no copy", 1: "one copy"}.get(copies, f"{copies} copies")
    own = f"has {found.size:,} {unit} and " if unit != "documents" else ""
    return f"{told} This document {own}gets {number} (at most {mixture.most})."
