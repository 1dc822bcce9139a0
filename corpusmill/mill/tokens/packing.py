"""Pack the documents of a whole split into rows, as an index into its token stream."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from corpusmill.kernels.packing import best_fit, by_row, cut_documents
from corpusmill.mill.read.ids import keyed_hash
from corpusmill.mill.storage.arrays import append_array
from corpusmill.mill.storage.files import save_json, writing
from corpusmill.mill.storage.sums import SummedFile
from corpusmill.mill.tokens.pack_files import DTYPE, PURPOSE, PackFiles, npy_header, runs

MOST_PIECES = (1 << 31) - 1  # the kernels count in int32
BLOCK_ROWS = 1 << 16


class Packing(NamedTuple):
    """Rows in the order in which they were opened: row r has pieces[first[r] : first[r + 1]]."""

    start: np.ndarray  # int64 (pieces,), by place in the stream
    size: np.ndarray  # int32 (pieces,)
    pieces: np.ndarray  # int32 (pieces,)
    first: np.ndarray  # int64 (rows + 1,)
    cut_documents: int

    @property
    def rows(self) -> int:
        return self.first.size - 1


def packing_of(starts: np.ndarray, length: int) -> Packing:
    """Pack the documents of a split by best fit, longest first, into rows of length + 1 tokens.

    starts: int64 (documents + 1,), the starts of the documents in the stream, and its end. Memory:
    at most 72 bytes per piece. There are at most documents + tokens / length pieces.
    """
    cuts = np.maximum((np.diff(starts) - 2) // length, 0)
    count = cuts.size + int(cuts.sum())
    if count > MOST_PIECES:
        raise ValueError(
            f"length {length}: expected at most {MOST_PIECES:,} pieces of documents in a split, "
            f"found {count:,}. Use a larger length in output.pack."
        )
    cut = int(np.count_nonzero(cuts))
    del cuts
    start, size = np.empty(count, np.int64), np.empty(count, np.int32)
    cut_documents(starts, length, start, size)
    row_of = np.empty(count, np.int32)
    rows = best_fit(size, length + 1, row_of)
    first, pieces = np.zeros(rows + 1, np.int64), np.empty(count, np.int32)
    by_row(row_of, first, pieces)
    return Packing(start, size, pieces, first, cut)


def row_order(packed: Packing, seed: int) -> np.ndarray:
    """Return int64 (rows,): the rows in the order of the keyed hash of their first token's place.

    Two rows never start at the same place, so there are no ties. The ids of documents would have
    some: the rows of one long document, and the copies of a document.
    """
    heads = packed.start[packed.pieces[packed.first[:-1]]]
    return np.argsort(keyed_hash(heads, seed, PURPOSE))


def save_packing(
    files: PackFiles, packed: Packing, length: int, seed: int, documents: int
) -> dict[str, Any]:
    """Write the index and, last, its description, which is returned."""
    order, count = row_order(packed, seed), packed.pieces.size
    ends = np.zeros(packed.rows + 1, DTYPE)
    np.cumsum(np.diff(packed.first)[order], out=ends[1:])
    with writing(files.rows, kept=True) as rows:
        append_array(rows, ends)
    del ends
    with writing(files.pieces, kept=True) as pieces:
        pieces.write(npy_header((count, 2)))
        for block in _spans(packed, order):
            pieces.write(block.reshape(-1).view(np.uint8))
    tokens = int(packed.size.sum(dtype=np.int64))
    facts = {
        "corpusmill.pack": 1,
        "length": length,
        "seed": seed,
        "documents": documents,
        "cut_documents": packed.cut_documents,
        "rows": packed.rows,
        "pieces": count,
        "filled_tokens": tokens,
        "fill_rate": tokens / max(1, packed.rows * (length + 1)),
        **_sums(pieces, rows),
    }
    save_json(files.facts, facts, kept=True)
    return facts


def _spans(packed: Packing, order: np.ndarray) -> Iterator[np.ndarray]:
    """Yield uint64 (pieces, 2): start and end of the pieces of the next rows."""
    for at in range(0, order.size, BLOCK_ROWS):
        rows = order[at : at + BLOCK_ROWS]
        first = packed.first[rows]
        pieces = packed.pieces[runs(first, packed.first[rows + 1] - first)]
        start = packed.start[pieces]
        yield np.stack([start, start + packed.size[pieces]], axis=1).astype(DTYPE)


def _sums(pieces: SummedFile, rows: SummedFile) -> dict[str, Any]:
    return {"sha256": pieces.sha256, "rows_sha256": rows.sha256}
