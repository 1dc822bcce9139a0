"""Tables of candidates: the documents of a block of parts that could be in train, and the values
by which a mixture divides them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpusmill.mill.decide.cells import Columns
from corpusmill.mill.decide.mixture import NONE, label_column
from corpusmill.mill.storage.files import writing
from corpusmill.mill.storage.sums import CheckedFile
from corpusmill.mill.storage.tables import in_one_piece

OWN = [("id", pa.uint64()), ("size", pa.int64()), ("source", pa.string())]


def save_candidates(
    path: Path, labels: list[str], numbers: list[str], parts: Iterator[pa.Table]
) -> None:
    """Save the candidates, part by part. labels, numbers: the columns of values."""
    values = [*((label_column(name), pa.string()) for name in labels),
              *((name, pa.float64()) for name in numbers)]  # fmt: skip
    schema = pa.schema([*OWN, *values])
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with writing(path) as file, pa.ipc.new_file(file, schema, options=options) as writer:
        for table in parts:
            columns = [in_one_piece(table.column(name)) for name in schema.names]
            writer.write_batch(pa.record_batch(columns, schema=schema))


def as_numbers(values: pa.Array) -> pa.Array:
    """Return a column as float64, null where there is no number: true is 1, text is read."""
    if pa.types.is_string(values.type) or pa.types.is_dictionary(values.type):
        told = [_number(one) for one in values.to_pylist()]
        return pa.array(told, pa.float64())
    return values.cast(pa.float64(), safe=False)


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def as_labels(values: pa.Array) -> pa.Array:
    """Return a column as names: a flag as true or false, a whole number in digits."""
    return values.cast(pa.string())


def names_in(table: pa.Table, labels: list[str]) -> dict[str, set[str]]:
    """Return the names that occur in each column of names."""
    return {
        name: {
            one for one in pc.unique(table.column(label_column(name))).to_pylist()
            if one is not None
        }
        for name in labels
    }  # fmt: skip


def names_of_blocks(blocks: list[dict], labels: list[str]) -> dict[str, list[str]]:
    """Return the names that occur in all blocks, in order. blocks: their counts."""
    return {
        name: sorted({one for block in blocks for one in block["labels"].get(name, [])} - {NONE})
        for name in labels
    }


class CandidateTables(NamedTuple):
    """The tables of all blocks, read part by part."""

    paths: list[Path]
    sources: list[str]
    labels: dict[str, list[str]]
    """The names of each column of names, in order."""
    numbers: list[str]
    is_used: Callable[[Columns], np.ndarray] | None = None
    """Says which candidates are left out, since other stages use them."""

    def pieces(self) -> Iterator[Columns]:
        for path in self.paths:
            file = pa.ipc.open_file(CheckedFile(path))
            for place in range(file.num_record_batches):
                yield self._left(self.columns_of(file.get_batch(place)))

    def _left(self, columns: Columns) -> Columns:
        if self.is_used is None:
            return columns
        left = ~self.is_used(columns)
        return {name: column[left] for name, column in columns.items()}

    def columns_of(self, batch: pa.RecordBatch) -> Columns:
        """Return the columns of some candidates."""
        found = {
            "id": batch.column("id").to_numpy(),
            "size": batch.column("size").to_numpy(),
            "source": places_of(batch.column("source"), self.sources),
        }
        for name, names in self.labels.items():
            column = label_column(name)
            found[column] = places_of(batch.column(column), names)
        for name in self.numbers:
            # Null becomes NaN.
            found[name] = batch.column(name).to_numpy(zero_copy_only=False)
        return found


def places_of(column: pa.Array, names: list[str]) -> np.ndarray:
    """Return int64: the place of each value in `names`, -1 for null."""
    places = pc.index_in(column, pa.array(names, pa.string()))
    return pc.fill_null(places, -1).to_numpy().astype(np.int64)


FIRST = "first"
CELL = "cell:"
"""Start of the names of the columns with cells; the names of splits have no colon."""
NO_CELL = -1


class CopiesOfPart(NamedTuple):
    """The copies of a part's candidates."""

    ids: np.ndarray  # uint64
    copies: dict[str, np.ndarray]
    """uint16 by split: train, or each stage."""
    cells: dict[str, np.ndarray]
    """int32 by split: the place of the cell in the composition; NO_CELL if the stage excludes
    it."""


def save_copies(path: Path, first: int, parts: list[CopiesOfPart], splits: list[str]) -> None:
    """Save the copies and cells of the candidates of each part of a block.

    first: number of the block's first part.
    """
    columns = [("id", pa.uint64()), *((split, pa.uint16()) for split in splits)]
    columns += [(f"{CELL}{split}", pa.int32()) for split in splits]
    schema = pa.schema(columns, {FIRST: str(first)})
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with writing(path) as file, pa.ipc.new_file(file, schema, options=options) as writer:
        for part in parts:
            arrays = [pa.array(part.ids, pa.uint64())]
            arrays += [pa.array(part.copies[split], pa.uint16()) for split in splits]
            arrays += [pa.array(part.cells[split].astype(np.int32)) for split in splits]
            writer.write_batch(pa.record_batch(arrays, schema=schema))


def load_copies(path: Path, part: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the ids of a part's candidates, and their copies by split."""
    file = pa.ipc.open_file(CheckedFile(path))
    first = int((file.schema.metadata or {})[FIRST.encode()])
    batch = file.get_batch(part - first)
    splits = [name for name in file.schema.names[1:] if not name.startswith(CELL)]
    return batch["id"].to_numpy(), {split: batch[split].to_numpy() for split in splits}


def load_cells(path: Path, split: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids of a block's documents in a split, and their cells."""
    file = pa.ipc.open_file(CheckedFile(path))
    ids, cells = [np.zeros(0, np.uint64)], [np.zeros(0, np.int32)]
    for place in range(file.num_record_batches):
        batch = file.get_batch(place)
        used = batch[split].to_numpy() > 0
        ids.append(batch["id"].to_numpy()[used])
        cells.append(batch[f"{CELL}{split}"].to_numpy()[used])
    return np.concatenate(ids), np.concatenate(cells)
