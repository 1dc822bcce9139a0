"""Measure the values of all filters in one pass over a part, and decide fates from them."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from corpusmill.mill.decide.fate_columns import FateColumn
from corpusmill.mill.filters.configured import ConfiguredFilter
from corpusmill.mill.filters.declaration import Filter
from corpusmill.mill.filters.documents import Documents
from corpusmill.mill.filters.edits import Cuts
from corpusmill.mill.filters.limits import in_words
from corpusmill.mill.read.plugins import UsersCode, one_line, place_of
from corpusmill.mill.storage.tables import arrow_type, in_one_piece


def checked(
    filter: ConfiguredFilter,
    measured: Mapping[str, np.ndarray | list[str | None]],
    documents: Documents,
) -> dict[str, pa.Array]:
    """Return a filter's values as columns; ValueError if they do not match its declaration."""
    where, values = f"filter {filter.name}: measure", filter.declaration.values
    if not isinstance(measured, Mapping):
        raise ValueError(f"{where} returned {type(measured).__name__}, expected names with values")
    missing, surplus = set(values) - set(measured), set(measured) - set(values)
    if missing or surplus:
        raise ValueError(
            f"{where} returned the values {sorted(measured)}, but the filter declares "
            f"{sorted(values)}"
        )
    columns = {}
    for name, value in values.items():
        got = measured[name]
        if value.dtype == "text":
            if not isinstance(got, list):
                found = f"{where}: value {name} is {type(got).__name__}"
                raise ValueError(f"{found}, expected a list of str and None")
            refuse_no_text(got, f"{where}: value {name}", documents)
        elif type(got) is not np.ndarray or got.dtype != np.dtype(value.dtype):
            kind = got.dtype if type(got) is np.ndarray else type(got).__name__
            raise ValueError(
                f"{where}: value {name} has the type {kind}, but is declared as {value.dtype}"
            )
        shape = (len(got),) if isinstance(got, list) else got.shape
        if shape != (len(documents),):
            raise ValueError(
                f"{where}: value {name} has the shape {shape}, expected one value for each "
                f"of {len(documents)} documents: {(len(documents),)}"
            )
        # Copied, because the filter may reuse the buffer.
        copied = got if isinstance(got, list) else got.copy()
        columns[filter.columns[name]] = pa.array(copied, arrow_type(value.dtype))
    return columns


def refuse_no_text(values: list, what: str, documents: Documents) -> None:
    """Raise ValueError for the first value that is neither a valid Unicode text nor None."""
    for row, one in enumerate(values[: len(documents)]):
        if one is None or (type(one) is str and not has_lone_surrogate(one)):
            continue
        raise ValueError(
            f"{what} is {one!r:.60}, expected valid Unicode text or None, at the document "
            f"{documents.place(row)}"
        )


def has_lone_surrogate(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= one <= "\udfff" for one in text)


class Edit(NamedTuple):
    """Pieces that a filter cut out of some documents."""

    filter: ConfiguredFilter
    before: Documents
    cuts: Cuts


def measured_by(
    filter: ConfiguredFilter, measurer: Filter, documents: Documents
) -> tuple[Mapping[str, np.ndarray | list[str | None]], Cuts | None]:
    """Return what a filter measures and what it cuts."""
    seen = documents.for_filter(filter.needs)
    if filter.file is not None:
        seen = seen.read_only()
    with UsersCode(f"filter {filter.name}"):
        if filter.edits:
            return measurer.measure_and_edit(seen)
        return measurer.measure_documents(seen), None


def failing_row(run: Callable[[int, int], object], rows: int) -> int | None:
    """Find a row that fails by itself, by bisection. Return None if the last candidate passes.

    run: processes the rows from `first` to before `stop`; raises if the user's code fails.
    """

    def fails(first: int, stop: int) -> bool:
        try:
            with UsersCode("a filter, to find the document on which it fails"):
                run(first, stop)
        except Exception:
            return True
        return False

    first, stop = 0, rows
    while stop - first > 1:
        middle = (first + stop) // 2
        first, stop = (first, middle) if fails(first, middle) else (middle, stop)
    return first if fails(first, stop) else None


def failed(error: BaseException, filter: ConfiguredFilter, about: str) -> ValueError:
    place = place_of(error, str(filter.code))
    return ValueError(f"{place}: filter {filter.name}: {one_line(error)}, {about}")


def failed_measuring(
    error: BaseException, filter: ConfiguredFilter, measurer: Filter, documents: Documents
) -> ValueError:
    """Return the error of a filter with the document that causes it."""
    row = failing_row(
        lambda first, stop: measured_by(filter, measurer, documents.some(first, stop)),
        len(documents),
    )
    if row is not None:
        return failed(error, filter, f"at the document {documents.place(row)}")
    last = documents.place(len(documents) - 1)
    about = f"among the documents from {documents.place(0)} to {last}; no single one fails alone"
    return failed(error, filter, about)


class Measures:
    """The values of a part, batch after batch."""

    def __init__(self, filters: list[ConfiguredFilter]) -> None:
        """filters: those that do not measure are skipped."""
        self._filters = [(filter, filter.measurer()) for filter in filters if filter.measures]
        self._pieces = {
            filter.columns[name]: [pa.array([], arrow_type(value.dtype))]
            for filter, _ in self._filters
            for name, value in filter.declaration.values.items()
        }

    def add(self, documents: Documents) -> tuple[Documents, list[Edit]]:
        """Measure a batch. Return the documents after all cuts, and each filter's edit."""
        edits = []
        for filter, measurer in self._filters:
            try:
                measured, cuts = measured_by(filter, measurer, documents)
            except ValueError as error:
                if str(error).startswith(f"{filter.code}:"):  # from `keep`, with its place
                    raise
                raise failed_measuring(error, filter, measurer, documents) from error
            except Exception as error:
                raise failed_measuring(error, filter, measurer, documents) from error
            for name, column in checked(filter, measured, documents).items():
                self._pieces[name].append(column)
            if cuts is not None:
                cuts = cuts.of(documents.outside(filter.untouched))
                edits.append(Edit(filter, documents, cuts))
                documents = documents.without(cuts)
        return documents, edits

    def columns(self) -> dict[str, pa.Array]:
        return {name: pa.concat_arrays(pieces) for name, pieces in self._pieces.items()}

    def last(self) -> dict[str, pa.Array]:
        """Return the values of the batch added last."""
        return {name: pieces[-1] for name, pieces in self._pieces.items()}


class Decision:
    """Fates and reasons of a part's documents. If several filters object, the first one decides."""

    def __init__(self, measures: pa.Table) -> None:
        """measures: the table of a part, with the columns text_bytes and source."""
        self._measures, documents = measures, measures.num_rows
        self.fates = FateColumn(documents)
        self.reasons: list[str | None] = [None] * documents
        source = in_one_piece(measures.column("source"))
        self._sources = source.dictionary.to_pylist()
        self._of_row = source.indices.to_numpy(zero_copy_only=False)

    def add(self, filter: ConfiguredFilter) -> None:
        others = np.ones(self._of_row.size, bool)
        for number, source in enumerate(self._sources):
            if source in filter.own_sources:
                rows = self._of_row == number
                others &= ~rows
                if decider := filter.decider(source):
                    self._drop(filter, decider, rows)
        if decider := filter.decider():
            self._drop(filter, decider, others)

    def _drop(self, filter: ConfiguredFilter, decider: Filter, rows: np.ndarray) -> None:
        """Let a filter decide on some documents. rows: bool (documents,)."""
        values = {
            value: in_one_piece(self._measures.column(column)).to_numpy(zero_copy_only=False)
            for value, column in {**filter.columns, "text_bytes": "text_bytes"}.items()
        }
        try:
            with UsersCode(f"filter {filter.name}"):
                drops = decider.drops(values)
        except Exception as error:
            row = failing_row(
                lambda first, stop: decider.drops({k: v[first:stop] for k, v in values.items()}),
                rows.size,
            )
            of_row = {} if row is None else {k: v[row] for k, v in values.items()}
            said = ", ".join(f"{name} {value!s:.60}" for name, value in of_row.items())
            about = f"at a document with {said}" if said else "but no single document fails alone"
            raise failed(error, filter, about) from error
        if not isinstance(drops, np.ndarray) or drops.dtype != bool or drops.shape != rows.shape:
            raise ValueError(
                f"filter {filter.name}: drops returned {type(drops).__name__} "
                f"{getattr(drops, 'dtype', '')} {getattr(drops, 'shape', '')}, expected bool for "
                f"each of {rows.size} documents"
            )
        dropped = np.flatnonzero(self.fates.drop(filter.name, drops & rows))
        for row, reason in zip(dropped.tolist(), reasons(decider, values, dropped), strict=True):
            self.reasons[row] = reason


def reasons(filter: Filter, values: dict[str, np.ndarray], rows: np.ndarray) -> list[str | None]:
    """Return why the filter drops each document: its own reason, or the first limit exceeded."""
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


def decided(filters: list[ConfiguredFilter], measures: pa.Table) -> Decision:
    decision = Decision(measures)
    for filter in filters:
        if filter.drops:
            decision.add(filter)
    return decision
