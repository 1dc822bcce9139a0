"""Rows of a Parquet file by the values of some columns.

Without pyarrow.compute, Table.take and Table.filter: to import it takes longer than a look-up.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from corpusmill.storage.regular_files import regular_state
from corpusmill.storage.untrusted import read_as_written

Row = dict[str, Any]
"""A row without what is null."""


def opened(path: Path, names: Sequence[str] = ()) -> pq.ParquetFile:
    """names: columns of strings of which the file has few, to be read as dictionaries."""
    regular_state(path)
    # Not mapped: where somebody cuts off a file that is mapped, the process dies without a word.
    with read_as_written(path):
        return pq.ParquetFile(path, memory_map=False, read_dictionary=list(names))


def groups_with(file: pq.ParquetFile, wanted: dict[str, Any]) -> Iterator[int]:
    """The row groups that may have rows with these values, by their statistics."""
    columns = {name: file.schema_arrow.names.index(name) for name in wanted}
    for group in range(file.num_row_groups):
        of_group = file.metadata.row_group(group)
        if all(_may_have(of_group.column(columns[n]).statistics, v) for n, v in wanted.items()):
            yield group


def _may_have(statistics: pq.Statistics | None, value: Any) -> bool:
    if statistics is None:
        return True
    if not statistics.has_min_max:  # nothing but nulls, or values too long to be noted
        return bool(statistics.num_values)
    return bool(statistics.min <= value <= statistics.max)


def places_with(file: pq.ParquetFile, wanted: dict[str, Any]) -> np.ndarray:
    """int64: the rows that have these values, ascending."""
    starts = starts_of_groups(file)
    found = [np.zeros(0, np.int64)]
    for group in groups_with(file, wanted):
        table = file.read_row_group(group, list(wanted))
        here = np.ones(table.num_rows, bool)
        for name, value in wanted.items():
            here &= has_one_of(table[name], [value])
        found.append(np.flatnonzero(here) + starts[group])
    return np.concatenate(found)


def starts_of_groups(file: pq.ParquetFile) -> np.ndarray:
    """int64 (groups + 1,): where each begins, then the number of all rows."""
    sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
    return np.cumsum([0, *sizes])


def rows_at(file: pq.ParquetFile, places: np.ndarray) -> list[Row]:
    """The rows at some places. places: int64, ascending."""
    starts, found = starts_of_groups(file), []
    groups = np.searchsorted(starts, places, "right") - 1
    for group in np.unique(groups).tolist():
        table = file.read_row_group(group)
        for place in (places[groups == group] - starts[group]).tolist():
            (row,) = table.slice(place, 1).to_pylist()
            found.append({name: value for name, value in row.items() if value is not None})
    return found


def has_one_of(column: pa.ChunkedArray, values: Sequence[Any]) -> np.ndarray:
    """bool: which rows have one of some values. column: of whole numbers, or a dictionary."""
    return np.concatenate([np.zeros(0, bool), *(_in_chunk(one, values) for one in column.chunks)])


def _in_chunk(chunk: pa.Array, values: Sequence[Any]) -> np.ndarray:
    if pa.types.is_dictionary(chunk.type):
        names = chunk.dictionary.to_pylist()
        places = [names.index(one) for one in values if one in names]
        return np.isin(chunk.indices.to_numpy(), places)
    validity, data = chunk.buffers()
    rows, dtype = slice(chunk.offset, chunk.offset + len(chunk)), chunk.type.to_pandas_dtype()
    # to_numpy makes floats of numbers with nulls, and ids have more digits than these.
    here = np.isin(np.frombuffer(data, dtype)[rows], np.array(values, dtype))
    if validity is not None:
        bits = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")
        here &= bits[rows].astype(bool)
    return here
