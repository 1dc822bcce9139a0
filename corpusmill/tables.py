"""Decision tables: a few small columns, one row per document of a part."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather

from corpusmill.files import replacing


def save_table(path: Path, **columns: np.ndarray | pa.Array) -> None:
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    with replacing(path) as temporary:
        feather.write_feather(table, str(temporary), compression="lz4")


def load_table(path: Path, *names: str) -> list[np.ndarray]:
    """The named columns as arrays, in the order asked for."""
    table = feather.read_table(str(path), columns=list(names), memory_map=True)
    return [table.column(name).to_numpy() for name in names]


def load_labels(path: Path, name: str) -> tuple[list[str], np.ndarray]:
    """A dictionary column: its labels, and for each row the place of its label among them."""
    table = feather.read_table(str(path), columns=[name], memory_map=True)
    column = table.column(name).combine_chunks()
    return column.dictionary.to_pylist(), column.indices.to_numpy(zero_copy_only=False)
