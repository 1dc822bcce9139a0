"""Decision tables: a few small columns, one row per document of a part."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

from corpusmill.mill.storage.files import writing
from corpusmill.mill.storage.sums import CheckedFile

NOTES = b"corpusmill.notes"


def arrow_type(dtype: str) -> pa.DataType:
    """Of a NumPy dtype, or of `text`."""
    return pa.string() if dtype == "text" else pa.from_numpy_dtype(np.dtype(dtype))


def save_table(path: Path, notes: dict | None = None, **columns: np.ndarray | pa.Array) -> None:
    """notes: what is true of the table as a whole, kept in the metadata of its schema."""
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    if notes is not None:
        table = table.replace_schema_metadata({NOTES: json.dumps(notes)})
    with writing(path) as file:
        feather.write_feather(table, file, compression="lz4")


def load_table(path: Path, *names: str) -> list[np.ndarray]:
    """The named columns as arrays, in the order asked for."""
    table = feather.read_table(CheckedFile(path), columns=list(names))
    return [table.column(name).to_numpy() for name in names]


def load_arrow(path: Path) -> pa.Table:
    """Every column as Arrow has it."""
    return feather.read_table(CheckedFile(path))


def load_column(path: Path, name: str) -> pa.Array:
    """A column as Arrow has it, in one piece."""
    return in_one_piece(feather.read_table(CheckedFile(path), columns=[name]).column(name))


def in_one_piece(column: pa.ChunkedArray) -> pa.Array:
    """combine_chunks, which may leave a column of none or of large texts in chunks."""
    return pa.concat_arrays([pa.array([], column.type), *column.chunks])


def load_notes(path: Path) -> dict | None:
    """What save_table was told beside the columns, if anything."""
    metadata = load_schema(path).metadata or {}
    return json.loads(metadata[NOTES]) if NOTES in metadata else None


def load_labels(path: Path, name: str) -> tuple[list[str], np.ndarray]:
    """A dictionary column: its labels, and for each row the place of its label among them."""
    table = feather.read_table(CheckedFile(path), columns=[name])
    column = table.column(name).combine_chunks()
    return column.dictionary.to_pylist(), column.indices.to_numpy(zero_copy_only=False)


def save_parquet(path: Path, table: pa.Table) -> None:
    """A table that stays with the user."""
    with writing(path, kept=True) as file:
        pq.write_table(table, file, compression="zstd")


@contextlib.contextmanager
def parquet_writer(path: Path, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """To write such a table piece by piece."""
    with (
        writing(path, kept=True) as file,
        pq.ParquetWriter(file, schema, compression="zstd") as writer,
    ):
        yield writer


def _whole(path: Path) -> CheckedFile:
    """A file that stays with the user: checked where it is not read, too."""
    file = CheckedFile(path)
    file.check(0, file.size)
    return file


def load_parquet(path: Path, columns: list[str] | None = None) -> pa.Table:
    return pq.read_table(_whole(path), columns=columns)


def parquet_columns(path: Path) -> list[str]:
    return list(pq.read_schema(_whole(path)).names)


def parquet_rows(path: Path) -> int:
    """How many there are."""
    return int(pq.read_metadata(_whole(path)).num_rows)


def save_schema(path: Path, schema: pa.Schema) -> None:
    """A table without rows."""
    with writing(path) as file, pa.ipc.new_file(file, schema):
        pass


def load_schema(path: Path) -> pa.Schema:
    return pa.ipc.open_file(CheckedFile(path)).schema
