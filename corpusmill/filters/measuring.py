"""All values of all filters, in one pass over the text of a part; and what the filters make of
them."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from corpusmill.documents.fate_columns import FateColumn
from corpusmill.filters.declaration import Filter, column_of
from corpusmill.filters.documents import Documents
from corpusmill.filters.registry import Entry, filter_of, measurer, module_file
from corpusmill.text.plugins import PLUGIN_ERRORS, one_line, place_of


def arrow_type(dtype: str) -> pa.DataType:
    """Of a value's dtype, one of DTYPES."""
    return pa.string() if dtype == "text" else pa.from_numpy_dtype(np.dtype(dtype))


def checked(
    filter: Filter, measured: Mapping[str, np.ndarray | list[str | None]], documents: int
) -> dict[str, pa.Array]:
    """The values of a filter as columns; ValueError if they are not what it declares."""
    where = f"filter {filter.fate}: measure"
    if not isinstance(measured, Mapping):
        raise ValueError(f"{where} gave {type(measured).__name__}, expected values by name")
    missing, surplus = set(filter.values) - set(measured), set(measured) - set(filter.values)
    if missing or surplus:
        raise ValueError(
            f"{where} gave {sorted(measured)}, its declaration has {sorted(filter.values)}"
        )
    columns = {}
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
        columns[column_of(filter.fate, name)] = pa.array(copied, arrow_type(value.dtype))
    return columns


class Measures:
    """The values of a part, some documents after others."""

    def __init__(self, entries: list[Entry]) -> None:
        self._filters = [
            (measurer(entry), str(module_file(entry)), "file" in entry) for entry in entries
        ]
        self._pieces = {
            column_of(filter.fate, name): [pa.array([], arrow_type(value.dtype))]
            for filter, *_ in self._filters
            for name, value in filter.values.items()
        }

    def add(self, documents: Documents) -> None:
        for filter, file, is_users in self._filters:
            try:
                seen = documents.read_only() if is_users else documents
                measured = filter.measure_documents(seen)
            except ValueError as error:
                if str(error).startswith(f"{file}:"):  # by keep, which knows the document
                    raise
                raise self._at(error, filter, file, documents) from error
            except PLUGIN_ERRORS as error:
                raise self._at(error, filter, file, documents) from error
            for name, column in checked(filter, measured, len(documents)).items():
                self._pieces[name].append(column)

    @staticmethod
    def _at(error: BaseException, filter: Filter, file: str, documents: Documents) -> ValueError:
        return ValueError(
            f"{place_of(error, file)}: filter {filter.fate}: {one_line(error)}, among the "
            f"documents from {documents.place(0)} to {documents.place(len(documents) - 1)}"
        )

    def columns(self) -> dict[str, pa.Array]:
        return {name: pa.concat_arrays(pieces) for name, pieces in self._pieces.items()}


def decided(entries: list[Entry], measures: Mapping[str, np.ndarray], documents: int) -> FateColumn:
    """The fates of documents by their measures: of several filters that object, the first.

    measures: the columns of the table, text_bytes among them.
    """
    fates = FateColumn(documents)
    for entry in entries:
        filter = filter_of(entry)
        own = {name: measures[column_of(filter.fate, name)] for name in filter.values}
        try:
            drops = filter.drops({"text_bytes": measures["text_bytes"], **own})
        except PLUGIN_ERRORS as error:
            file = str(module_file(entry))
            raise ValueError(
                f"{place_of(error, file)}: filter {filter.fate}: {one_line(error)}"
            ) from error
        if not isinstance(drops, np.ndarray) or drops.dtype != bool or drops.shape != (documents,):
            raise ValueError(
                f"filter {filter.fate}: drops gave {type(drops).__name__} "
                f"{getattr(drops, 'dtype', '')} {getattr(drops, 'shape', '')}, expected bool for "
                f"each of {documents} documents"
            )
        fates.drop(filter.fate, drops)
    return fates
