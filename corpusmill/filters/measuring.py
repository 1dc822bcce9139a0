"""All values of all filters, in one pass over the text of a part; and what the filters make of
them."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from corpusmill.documents.fate_columns import FateColumn
from corpusmill.filters.declaration import Filter
from corpusmill.filters.documents import Documents
from corpusmill.filters.edits import Cuts
from corpusmill.filters.limits import in_words
from corpusmill.filters.registry import (
    Entry,
    columns_of,
    drops_any,
    measurer,
    module_file,
    of_source,
    untouched,
)
from corpusmill.storage.tables import in_one_piece
from corpusmill.text.plugins import PLUGIN_ERRORS, one_line, place_of


def arrow_type(dtype: str) -> pa.DataType:
    """Of a value's dtype, one of DTYPES."""
    return pa.string() if dtype == "text" else pa.from_numpy_dtype(np.dtype(dtype))


def checked(
    entry: Entry,
    filter: Filter,
    measured: Mapping[str, np.ndarray | list[str | None]],
    documents: int,
) -> dict[str, pa.Array]:
    """The values of a filter as columns; ValueError if they are not what it declares."""
    where = f"filter {entry['name']}: measure"
    if not isinstance(measured, Mapping):
        raise ValueError(f"{where} gave {type(measured).__name__}, expected values by name")
    missing, surplus = set(filter.values) - set(measured), set(measured) - set(filter.values)
    if missing or surplus:
        raise ValueError(
            f"{where} gave {sorted(measured)}, its declaration has {sorted(filter.values)}"
        )
    columns, called = {}, columns_of(entry)
    for name, value in filter.values.items():
        got = measured[name]
        if value.dtype == "text":
            if not isinstance(got, list) or not all(one is None or type(one) is str for one in got):
                raise ValueError(f"{where}: value {name} is no list of str and None")
        elif type(got) is not np.ndarray or got.dtype != np.dtype(value.dtype):
            kind = got.dtype if type(got) is np.ndarray else type(got).__name__
            raise ValueError(f"{where}: value {name} is {kind}, its declaration says {value.dtype}")
        shape = (len(got),) if isinstance(got, list) else got.shape
        if shape != (documents,):
            raise ValueError(
                f"{where}: value {name} has the shape {shape}, expected one for each of "
                f"{documents} documents: {(documents,)}"
            )
        # Copied: it may be a buffer that the filter takes again.
        copied = got if isinstance(got, list) else got.copy()
        columns[called[name]] = pa.array(copied, arrow_type(value.dtype))
    return columns


class Edit(NamedTuple):
    """What a filter cut out of some documents."""

    entry: Entry
    before: Documents
    cuts: Cuts


class Measures:
    """The values of a part, some documents after others."""

    def __init__(self, entries: list[Entry]) -> None:
        self._filters = [(entry, measurer(entry)) for entry in entries]
        self._pieces = {
            columns_of(entry)[name]: [pa.array([], arrow_type(value.dtype))]
            for entry, filter in self._filters
            for name, value in filter.values.items()
        }

    def add(self, documents: Documents) -> tuple[Documents, list[Edit]]:
        """Measure documents; what is left of them, and what each filter cut out of what the ones
        before it left."""
        edits = []
        for entry, filter in self._filters:
            file = str(module_file(entry))
            try:
                seen = documents.read_only() if "file" in entry else documents
                if filter.edits:
                    measured, cuts = filter.measure_and_edit(seen)
                else:
                    measured, cuts = filter.measure_documents(seen), None
            except ValueError as error:
                if str(error).startswith(f"{file}:"):  # by keep, which knows the document
                    raise
                raise self._at(error, entry, documents) from error
            except PLUGIN_ERRORS as error:
                raise self._at(error, entry, documents) from error
            for name, column in checked(entry, filter, measured, len(documents)).items():
                self._pieces[name].append(column)
            if cuts is not None:
                cuts = cuts.of(documents.outside(untouched(entry)))
                edits.append(Edit(entry, documents, cuts))
                documents = documents.without(cuts)
        return documents, edits

    @staticmethod
    def _at(error: BaseException, entry: Entry, documents: Documents) -> ValueError:
        return ValueError(
            f"{place_of(error, str(module_file(entry)))}: filter {entry['name']}: "
            f"{one_line(error)}, among the documents from {documents.place(0)} to "
            f"{documents.place(len(documents) - 1)}"
        )

    def columns(self) -> dict[str, pa.Array]:
        return {name: pa.concat_arrays(pieces) for name, pieces in self._pieces.items()}


class Decision:
    """The fates of the documents of a part by their measures: of several filters that object, the
    first; and its reason where it has one."""

    def __init__(self, measures: pa.Table) -> None:
        """measures: the table of a part, text_bytes and source among its columns."""
        self._measures, documents = measures, measures.num_rows
        self.fates = FateColumn(documents)
        self.reasons: list[str | None] = [None] * documents
        source = in_one_piece(measures.column("source"))
        self._sources = source.dictionary.to_pylist()
        self._of_row = source.indices.to_numpy(zero_copy_only=False)

    def add(self, entry: Entry) -> None:
        own = entry.get("sources", {})
        others = np.ones(self._of_row.size, bool)
        for number, source in enumerate(self._sources):
            if source in own:
                rows = self._of_row == number
                others &= ~rows
                if filter := of_source(entry, source):
                    self._drop(entry, filter, rows)
        if filter := of_source(entry, ""):
            self._drop(entry, filter, others)

    def _drop(self, entry: Entry, filter: Filter, rows: np.ndarray) -> None:
        """What the filter decides on some documents, bool (documents,)."""
        values = {
            value: in_one_piece(self._measures.column(column)).to_numpy(zero_copy_only=False)
            for value, column in {**columns_of(entry), "text_bytes": "text_bytes"}.items()
        }
        try:
            drops = filter.drops(values)
        except PLUGIN_ERRORS as error:
            file = str(module_file(entry))
            raise ValueError(
                f"{place_of(error, file)}: filter {entry['name']}: {one_line(error)}"
            ) from error
        if not isinstance(drops, np.ndarray) or drops.dtype != bool or drops.shape != rows.shape:
            raise ValueError(
                f"filter {entry['name']}: drops gave {type(drops).__name__} "
                f"{getattr(drops, 'dtype', '')} {getattr(drops, 'shape', '')}, expected bool for "
                f"each of {rows.size} documents"
            )
        dropped = np.flatnonzero(self.fates.drop(entry["name"], drops & rows))
        for row, reason in zip(dropped.tolist(), reasons(filter, values, dropped), strict=True):
            self.reasons[row] = reason


def reasons(filter: Filter, values: dict[str, np.ndarray], rows: np.ndarray) -> list[str | None]:
    """Why the filter drops these documents: its own word, or the first limit they are beyond."""
    if "reason" in values:
        return values["reason"][rows].tolist()
    if filter.drops.__func__ is not Filter.drops:  # type: ignore[attr-defined]
        return [None] * rows.size
    limits = filter.beyond(values)[rows].tolist()
    beyond = [filter.limits[place - 1] for place in limits]
    return [
        in_words(limit, values[limit.value][row], getattr(filter, limit.setting))
        for row, limit in zip(rows.tolist(), beyond, strict=True)
    ]


def decided(entries: list[Entry], measures: pa.Table) -> Decision:
    decision = Decision(measures)
    for entry in entries:
        if drops_any(entry):
            decision.add(entry)
    return decision
