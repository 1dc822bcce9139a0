"""Rows of a Parquet file by the values of some columns.

Without pyarrow.compute, Table.take and Table.filter: importing it takes longer than a look-up.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from corpusmill.mill.read.parquet_pages import opened, refuse_expanding, refuse_other_rows
from corpusmill.mill.storage.regular_files import open_regular
from corpusmill.mill.storage.untrusted import read_as_written

BATCH_ROWS = 1 << 16

Row = dict[str, Any]
"""A row without null values."""


class Rows:
    """A Parquet file of a run, read in pieces of bounded size whatever its metadata says."""

    def __init__(self, path: Path, rows: int | None = None) -> None:
        """Open it. rows: expected number, if another file states it."""
        self.path = path
        self._stored = open_regular(path)
        # Not mapped: a truncated mapped file kills the process silently.
        with read_as_written(path):
            schema = opened(path, self._stored).schema_arrow
            # One string may repeat in a million rows; as a dictionary it is stored once.
            texts = [field.name for field in schema if pa.types.is_string(field.type)]
            self._file = pq.ParquetFile(self._stored, read_dictionary=texts)
            size = os.fstat(self._stored.fileno()).st_size
            refuse_other_rows(path, self._file.metadata, size, rows)
        self.names: list[str] = self._file.schema_arrow.names
        self.count: int = self._file.metadata.num_rows
        groups = range(self._file.num_row_groups)
        sizes = [self._file.metadata.row_group(group).num_rows for group in groups]
        self._starts = np.cumsum([0, *sizes])
        self._looked_at: set[tuple[int, int]] = set()

    def __del__(self) -> None:
        if stored := getattr(self, "_stored", None):
            stored.close()

    def _batches(self, group: int, names: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield a row group in batches."""
        with read_as_written(self.path):
            columns = self.names if names is None else list(names)
            asked = {(group, self.names.index(name)) for name in columns} - self._looked_at
            numbers = sorted(number for _, number in asked)
            of_group = self._file.metadata.row_group(group)
            refuse_expanding(self.path, self._stored, of_group, numbers)
            self._looked_at |= asked
            yield from self._file.iter_batches(BATCH_ROWS, row_groups=[group], columns=columns)

    def columns(self, *names: str) -> pa.Table:
        """Return complete columns."""
        batches = [one for g in range(self._file.num_row_groups) for one in self._batches(g, names)]
        fields = [self._file.schema_arrow.field(name) for name in names]
        return pa.Table.from_batches(batches, None if batches else pa.schema(fields)).select(names)

    def places_with(self, wanted: dict[str, Any]) -> np.ndarray:
        """Return int64: the rows with these values, ascending."""
        found = [np.zeros(0, np.int64)]
        for group in self.groups_with(wanted):
            at = int(self._starts[group])
            for batch in self._batches(group, list(wanted)):
                here = np.ones(batch.num_rows, bool)
                for name, value in wanted.items():
                    here &= _in_chunk(batch.column(name), [value])
                found.append(np.flatnonzero(here) + at)
                at += batch.num_rows
        return np.concatenate(found)

    def groups_with(self, wanted: dict[str, Any]) -> Iterator[int]:
        """Yield the row groups that may have rows with these values, by their statistics."""
        columns = {name: self.names.index(name) for name in wanted}
        for group in range(self._file.num_row_groups):
            of_group = self._file.metadata.row_group(group)
            if all(_may_have(of_group.column(columns[n]).statistics, v) for n, v in wanted.items()):
                yield group

    def at(self, places: np.ndarray) -> list[Row]:
        """Return the rows at some places. places: int64, ascending."""
        found = []
        groups = np.searchsorted(self._starts, places, "right") - 1
        for group in np.unique(groups).tolist():
            before, wanted = int(self._starts[group]), places[groups == group]
            for batch in self._batches(group):
                here = wanted[(wanted >= before) & (wanted < before + batch.num_rows)] - before
                for place in here.tolist():
                    (row,) = batch.slice(place, 1).to_pylist()
                    found.append({name: value for name, value in row.items() if value is not None})
                before += batch.num_rows
                if before > wanted[-1]:
                    break
        return found


def _may_have(statistics: pq.Statistics | None, value: Any) -> bool:
    if statistics is None:
        return True
    if not statistics.has_min_max:  # only nulls, or values too long for statistics
        return bool(statistics.num_values)
    return bool(statistics.min <= value <= statistics.max)


def has_one_of(column: pa.ChunkedArray, values: Sequence[Any]) -> np.ndarray:
    """Return bool: rows with one of some values. column: of integers, or a dictionary."""
    return np.concatenate([np.zeros(0, bool), *(_in_chunk(one, values) for one in column.chunks)])


def _in_chunk(chunk: pa.Array, values: Sequence[Any]) -> np.ndarray:
    if pa.types.is_dictionary(chunk.type):
        names = chunk.dictionary.to_pylist()
        places = [names.index(one) for one in values if one in names]
        return np.isin(chunk.indices.to_numpy(), places)
    validity, data = chunk.buffers()
    rows, dtype = slice(chunk.offset, chunk.offset + len(chunk)), chunk.type.to_pandas_dtype()
    # to_numpy converts integers with nulls to floats, which cannot represent ids exactly.
    here = np.isin(np.frombuffer(data, dtype)[rows], np.array(values, dtype))
    if validity is not None:
        bits = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")
        here &= bits[rows].astype(bool)
    return here
