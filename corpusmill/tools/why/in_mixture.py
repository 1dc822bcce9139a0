"""Look-up of a document's cell in a mixture."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from corpusmill.mill.decide.candidates import columns_of
from corpusmill.mill.decide.cells import Grid
from corpusmill.mill.decide.mixture import Mixture
from corpusmill.mill.storage.regular_files import regular_state
from corpusmill.mill.storage.untrusted import json_of, whole_file


class InMixture(NamedTuple):
    """What a mixture knows of a document."""

    mixture: Mixture
    cell: dict[str, Any]
    """Its entry in results/mixture/cells.json."""
    size: int
    factors: dict[str, tuple[float, float]]
    """Value and factor of each curve, by the name of the value."""


def in_mixture(
    mixture: Mixture, composition: Path, candidates: list[Path], id: int
) -> InMixture | None:
    """Return what a mixture knows of a candidate; None if it is none, or if files are gone.

    candidates: tables of blocks, of which one has the document.
    """
    if not composition.exists():
        return None
    told = json_of(whole_file(composition), composition)
    quantiles = {name: [*map(float.fromhex, one)] for name, one in told["quantiles"].items()}
    grid = Grid(mixture, told["labels"], quantiles)
    for path in candidates:
        for batch in batches_of(path):
            ids = batch.column("id").to_numpy()
            place = int(np.searchsorted(ids, id))
            if place == ids.size or int(ids[place]) != id:
                continue
            columns = columns_of(batch.slice(place, 1), mixture, told["labels"])
            names = list(grid.names(int(grid.numbers(columns)[0])))
            cell = next(one for one in told["cells"] if one["cell"] == names)
            factors = {
                factor.column: (
                    float(columns[factor.column][0]),
                    float(grid.times(factor, columns[factor.column])[0]),
                )
                for factor in mixture.factors
            }
            return InMixture(mixture, cell, int(columns["size"][0]), factors)
    return None


def batches_of(path: Path) -> list[pa.RecordBatch]:
    if not path.exists():
        return []
    regular_state(path)
    with pa.memory_map(str(path)) as source:
        file = pa.ipc.open_file(source)
        return [file.get_batch(number) for number in range(file.num_record_batches)]


def in_words(found: InMixture, copies: int) -> str:
    """Say why a document has its number of copies."""
    cell, mixture = found.cell, found.mixture
    by = ", ".join(axis.name for axis in mixture.axes)
    said = [f"It is in the cell {':'.join(cell['cell'])} (by {by})"]
    unit = mixture.unit
    if cell["wanted"] is not None:
        said.append(
            f"which has a share of {cell['share']:.4g}: {cell['wanted']:,.0f} of "
            f"{mixture.budget:,} {unit}. "
        )
        said[-1] += (
            f"The {cell['documents']:,} documents of the cell have {cell['size']:,} {unit}, so "
            f"they are used {cell['reached'] / max(cell['size'], 1):.2f} times on average."
        )
    else:
        said[-1] += "."
    told = ", ".join(said)
    weight = "" if not found.factors else " Its factors: "
    weight += ", ".join(
        f"{times:g} for {name} {value:g}" for name, (value, times) in found.factors.items()
    )
    weight += "." if found.factors else ""
    number = {0: "no copy", 1: "one copy"}.get(copies, f"{copies} copies")
    own = f"{found.size:,} {unit} and gets " if unit != "documents" else ""
    return f"{told}{weight} This document has {own}{number} (at most {mixture.most})."
