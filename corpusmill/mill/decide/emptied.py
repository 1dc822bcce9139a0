"""Find out what cut the last piece of a text that is empty now."""

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpusmill.mill.read.ids import ROW_MASK
from corpusmill.mill.storage.tables import in_one_piece, open_parquet

SPANS = "repeated spans were the last of it"


def emptied_by(records: Sequence[Path], emptied: np.ndarray) -> pa.Array:
    """Return per document `SPANS`, or `c4 cut the last of it: few_words, no_end_mark`.

    Null for documents that are not emptied or that lost nothing. records: the cuts in a part's
    texts, in the order in which they were made, filter by filter. emptied: bool (documents,).
    """
    reasons = pa.nulls(emptied.size, pa.string())
    for record in records:
        file = open_parquet(record)
        by_filters = "filter" in file.schema_arrow.names
        table = file.read(["id", "filter", "rule"] if by_filters else ["id"])
        table = table.filter(pa.array(emptied[rows_of(table)]))
        mine, words = last_filters(table) if by_filters else (rows_of(table), [SPANS])
        at = np.full(emptied.size, -1)
        at[mine] = np.arange(mine.size) if by_filters else 0
        told = pa.array(words, pa.string()).take(pa.array(at, mask=at < 0))
        reasons = pc.coalesce(told, reasons)
    return reasons


def rows_of(table: pa.Table) -> np.ndarray:
    """Return int64: the row of each piece's document in its part."""
    return (table["id"].to_numpy() & np.uint64(ROW_MASK)).astype(np.int64)


def last_filters(pieces: pa.Table) -> tuple[np.ndarray, list[str]]:
    """Return the rows of documents, and for each the last filter that cut it, with its rules."""
    rows, of_piece = np.unique(rows_of(pieces), return_inverse=True)
    filters, of_filter = coded(pieces["filter"])
    rules, of_rule = coded(pieces["rule"])
    last = np.zeros(rows.size, np.int64)
    last[of_piece] = of_filter  # if a document occurs again, the last assignment wins
    his = of_filter == last[of_piece]
    cut_by = np.zeros((rows.size, len(rules)), bool)
    cut_by[of_piece[his], of_rule[his]] = True
    return rows, [
        f"{filters[number]} cut the last of it: {', '.join(itertools.compress(rules, by))}"
        for number, by in zip(last, cut_by, strict=True)
    ]


def coded(column: pa.ChunkedArray) -> tuple[list[str], np.ndarray]:
    """Return the sorted distinct texts of a column, and each row's place among them."""
    whole = in_one_piece(column.cast(pa.string())).dictionary_encode()
    names = whole.dictionary.to_pylist()
    place = np.argsort(np.argsort(np.array(names, "U")))
    return sorted(names), place[whole.indices.to_numpy(zero_copy_only=False)]
