"""Of texts of which nothing is left, what cut the last of it."""

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpusmill.mill.read.ids import ROW_MASK
from corpusmill.mill.storage.tables import in_one_piece, load_parquet, parquet_columns

SPANS = "repeated spans were the last of it"


def emptied_by(records: Sequence[Path], emptied: np.ndarray) -> pa.Array:
    """For each document `SPANS`, or `c4 cut the last of it: few_words, no_end_mark`; null of those
    that are not asked for, and of which nothing was cut.

    records: what was cut of the texts of a part, in the order in which it was: of a document the
    pieces of one filter before those of the next. emptied: bool (documents,).
    """
    reasons = pa.nulls(emptied.size, pa.string())
    for record in records:
        by_filters = "filter" in parquet_columns(record)
        table = load_parquet(record, ["id", "filter", "rule"] if by_filters else ["id"])
        table = table.filter(pa.array(emptied[rows_of(table)]))
        mine, words = last_filters(table) if by_filters else (rows_of(table), [SPANS])
        at = np.full(emptied.size, -1)
        at[mine] = np.arange(mine.size) if by_filters else 0
        told = pa.array(words, pa.string()).take(pa.array(at, mask=at < 0))
        reasons = pc.coalesce(told, reasons)
    return reasons


def rows_of(table: pa.Table) -> np.ndarray:
    """int64: the row in its part of the document of each piece."""
    return (table["id"].to_numpy() & np.uint64(ROW_MASK)).astype(np.int64)


def last_filters(pieces: pa.Table) -> tuple[np.ndarray, list[str]]:
    """Documents, by their rows; of each the filter of its last piece, and all rules by which that
    filter cut."""
    rows, of_piece = np.unique(rows_of(pieces), return_inverse=True)
    filters, of_filter = coded(pieces["filter"])
    rules, of_rule = coded(pieces["rule"])
    last = np.zeros(rows.size, np.int64)
    last[of_piece] = of_filter  # of a document that comes again, the last stays
    his = of_filter == last[of_piece]
    cut_by = np.zeros((rows.size, len(rules)), bool)
    cut_by[of_piece[his], of_rule[his]] = True
    return rows, [
        f"{filters[number]} cut the last of it: {', '.join(itertools.compress(rules, by))}"
        for number, by in zip(last, cut_by, strict=True)
    ]


def coded(column: pa.ChunkedArray) -> tuple[list[str], np.ndarray]:
    """The texts of a column in order, and the place of each row's among them."""
    whole = in_one_piece(column.cast(pa.string())).dictionary_encode()
    names = whole.dictionary.to_pylist()
    place = np.argsort(np.argsort(np.array(names, "U")))
    return sorted(names), place[whole.indices.to_numpy(zero_copy_only=False)]
