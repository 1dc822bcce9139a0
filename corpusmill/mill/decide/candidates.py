"""Tables of candidates: the documents of a block of parts that could be in train, and the values
by which a mixture divides them."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpusmill.mill.decide.cells import Columns
from corpusmill.mill.decide.mixture import Mixture
from corpusmill.mill.storage.files import writing
from corpusmill.mill.storage.sums import CheckedFile
from corpusmill.mill.storage.tables import in_one_piece

OWN = [("id", pa.uint64()), ("size", pa.int64()), ("source", pa.string())]


def schema_of(mixture: Mixture) -> pa.Schema:
    labels = [(name, pa.string()) for name in mixture.labels]
    return pa.schema([*OWN, *labels, *((name, pa.float64()) for name in mixture.numbers)])


def save_candidates(path: Path, mixture: Mixture, parts: Iterator[pa.Table]) -> None:
    """Save the candidates, part by part."""
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    schema = schema_of(mixture)
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


def labels_of(table: pa.Table, names: list[str]) -> dict[str, set[str]]:
    """Return the names that occur in each column of labels."""
    return {
        name: {one for one in pc.unique(table.column(name)).to_pylist() if one is not None}
        for name in names
    }


class CandidateTables(NamedTuple):
    """The tables of all blocks, read part by part."""

    paths: list[Path]
    mixture: Mixture
    labels: dict[str, list[str]]
    """The names of each column of labels, in order."""

    def pieces(self) -> Iterator[Columns]:
        for path in self.paths:
            file = pa.ipc.open_file(CheckedFile(path))
            for place in range(file.num_record_batches):
                yield columns_of(file.get_batch(place), self.mixture, self.labels)


def columns_of(batch: pa.RecordBatch, mixture: Mixture, labels: Mapping[str, list[str]]) -> Columns:
    """Return the columns of some candidates, with names as their places in `labels`."""
    found = {
        "id": batch.column("id").to_numpy(),
        "size": batch.column("size").to_numpy(),
        "source": places_of(batch.column("source"), list(mixture.weights)),
    }
    for name in mixture.labels:
        found[name] = places_of(batch.column(name), labels[name])
    for name in mixture.numbers:
        # Null becomes NaN.
        found[name] = batch.column(name).to_numpy(zero_copy_only=False)
    return found


def places_of(column: pa.Array, names: list[str]) -> np.ndarray:
    """Return int64: the place of each value in `names`, -1 for null."""
    places = pc.index_in(column, pa.array(names, pa.string()))
    return pc.fill_null(places, -1).to_numpy().astype(np.int64)


COPIES = pa.schema([("id", pa.uint64()), ("copies", pa.uint16())])
FIRST = "first"


def save_copies(path: Path, first: int, parts: list[tuple[np.ndarray, np.ndarray]]) -> None:
    """Save ids and copies of the candidates of each part of a block.

    first: number of the block's first part.
    """
    schema = COPIES.with_metadata({FIRST: str(first)})
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with writing(path) as file, pa.ipc.new_file(file, schema, options=options) as writer:
        for ids, copies in parts:
            columns = [pa.array(ids, pa.uint64()), pa.array(copies, pa.uint16())]
            writer.write_batch(pa.record_batch(columns, schema=schema))


def load_copies(path: Path, part: int) -> tuple[np.ndarray, np.ndarray]:
    """Return ids and copies of the candidates of a part."""
    file = pa.ipc.open_file(CheckedFile(path))
    first = int((file.schema.metadata or {})[FIRST.encode()])
    batch = file.get_batch(part - first)
    return batch.column("id").to_numpy(), batch.column("copies").to_numpy()
