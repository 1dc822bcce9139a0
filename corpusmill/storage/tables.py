"""Decision tables: a few small columns, one row per document of a part."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

from corpusmill.storage.files import replacing

NOTES = b"corpusmill.notes"


def save_table(path: Path, notes: dict | None = None, **columns: np.ndarray | pa.Array) -> None:
    """notes: what is true of the table as a whole, kept in the metadata of its schema."""
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    if notes is not None:
        table = table.replace_schema_metadata({NOTES: json.dumps(notes)})
    with replacing(path) as temporary:
        feather.write_feather(table, str(temporary), compression="lz4")


def load_table(path: Path, *names: str) -> list[np.ndarray]:
    """The named columns as arrays, in the order asked for."""
    table = feather.read_table(str(path), columns=list(names), memory_map=True)
    return [table.column(name).to_numpy() for name in names]


def load_arrow(path: Path) -> pa.Table:
    """Every column as Arrow has it."""
    return feather.read_table(str(path), memory_map=True)


def load_column(path: Path, name: str) -> pa.Array:
    """A column as Arrow has it, in one piece."""
    return in_one_piece(feather.read_table(str(path), columns=[name]).column(name))


def in_one_piece(column: pa.ChunkedArray) -> pa.Array:
    """combine_chunks, which may leave a column of none or of large texts in chunks."""
    return pa.concat_arrays([pa.array([], column.type), *column.chunks])


def load_notes(path: Path) -> dict | None:
    """What save_table was told beside the columns, if anything."""
    with pa.memory_map(str(path)) as file:
        metadata = pa.ipc.open_file(file).schema.metadata or {}
    return json.loads(metadata[NOTES]) if NOTES in metadata else None


def load_labels(path: Path, name: str) -> tuple[list[str], np.ndarray]:
    """A dictionary column: its labels, and for each row the place of its label among them."""
    table = feather.read_table(str(path), columns=[name], memory_map=True)
    column = table.column(name).combine_chunks()
    return column.dictionary.to_pylist(), column.indices.to_numpy(zero_copy_only=False)


def save_parquet(path: Path, table: pa.Table) -> None:
    with replacing(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def save_schema(path: Path, schema: pa.Schema) -> None:
    """A table without rows."""
    with replacing(path) as temporary, pa.ipc.new_file(str(temporary), schema):
        pass


def load_schema(path: Path) -> pa.Schema:
    with pa.memory_map(str(path)) as file:
        return pa.ipc.open_file(file).schema
