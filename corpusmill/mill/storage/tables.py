"""Decision tables: a few small columns, one row per document of a part."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather

from corpusmill.mill.storage.files import writing
from corpusmill.mill.storage.sums import CheckedFile

if TYPE_CHECKING:
    import pyarrow.parquet as pq

NOTES = b"corpusmill.notes"


def arrow_type(dtype: str) -> pa.DataType:
    """Return the Arrow type of a NumPy dtype or of `text`."""
    return pa.string() if dtype == "text" else pa.from_numpy_dtype(np.dtype(dtype))


def save_table(path: Path, notes: dict | None = None, **columns: np.ndarray | pa.Array) -> None:
    """Save columns as a table. notes: facts about the whole table, kept in the schema's
    metadata."""
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    if notes is not None:
        table = table.replace_schema_metadata({NOTES: json.dumps(notes)})
    with writing(path) as file:
        feather.write_feather(table, file, compression="lz4")


def load_table(path: Path, *names: str) -> list[np.ndarray]:
    """Return the named columns as arrays, in the order requested."""
    table = feather.read_table(CheckedFile(path), columns=list(names))
    return [table.column(name).to_numpy() for name in names]


def load_arrow(path: Path) -> pa.Table:
    """Return all columns as an Arrow table."""
    return feather.read_table(CheckedFile(path))


def load_column(path: Path, name: str) -> pa.Array:
    """Return a column as one Arrow array."""
    return in_one_piece(feather.read_table(CheckedFile(path), columns=[name]).column(name))


def in_one_piece(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array. combine_chunks may leave empty columns or large texts in
    chunks."""
    return pa.concat_arrays([pa.array([], column.type), *column.chunks])


def named(numbers: np.ndarray, names: dict[int, str]) -> pa.Array:
    """Return the names of numbers from 1 on; null for 0."""
    labels = pa.array([None, *(names[value] for value in sorted(names))], pa.string())
    return labels.take(pa.array(numbers.astype(np.int64)))


def load_notes(path: Path) -> dict | None:
    """Return the notes given to save_table, or None."""
    metadata = load_schema(path).metadata or {}
    return json.loads(metadata[NOTES]) if NOTES in metadata else None


def load_labels(path: Path, name: str) -> tuple[list[str], np.ndarray]:
    """Return a dictionary column: its labels, and each row's index into them."""
    table = feather.read_table(CheckedFile(path), columns=[name])
    column = table.column(name).combine_chunks()
    return column.dictionary.to_pylist(), column.indices.to_numpy(zero_copy_only=False)


def save_parquet(path: Path, table: pa.Table) -> None:
    """Save a table that the user keeps."""
    import pyarrow.parquet as pq

    with writing(path, kept=True) as file:
        pq.write_table(table, file, compression="zstd")


@contextlib.contextmanager
def parquet_writer(path: Path, schema: pa.Schema) -> Iterator["pq.ParquetWriter"]:
    """Yield a writer for a table that the user keeps."""
    import pyarrow.parquet as pq

    with (
        writing(path, kept=True) as file,
        pq.ParquetWriter(file, schema, compression="zstd") as writer,
    ):
        yield writer


def open_parquet(path: Path) -> "pq.ParquetFile":
    """Open a table that the user keeps, with all of it checked."""
    import pyarrow.parquet as pq

    file = CheckedFile(path)
    file.check(0, file.size)
    return pq.ParquetFile(file)


def load_parquet(path: Path, columns: list[str] | None = None) -> pa.Table:
    return open_parquet(path).read(columns)


def save_schema(path: Path, schema: pa.Schema) -> None:
    """Save a table without rows."""
    with writing(path) as file, pa.ipc.new_file(file, schema):
        pass


def load_schema(path: Path) -> pa.Schema:
    return pa.ipc.open_file(CheckedFile(path)).schema
