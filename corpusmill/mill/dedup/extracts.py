"""Extracts: the documents that are in pairs, sorted by the bin that resolves them.

An extract is a sequence of Arrow IPC streams, part by part, and bin by bin within a part. Its index
has the start of each. The pairs are in files beside it, sorted by bin.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpusmill.mill.dedup.edges import EDGE
from corpusmill.mill.dedup.order import Order
from corpusmill.mill.read.parts import TextPart
from corpusmill.mill.read.text_column import TextColumn
from corpusmill.mill.storage.arrays import StoredArray, load_array
from corpusmill.mill.storage.sliced_streams import read_stream, write_streams
from corpusmill.mill.storage.sums import SummedFile
from corpusmill.mill.storage.tables import in_one_piece

SCHEMA = pa.schema(
    [("id", pa.uint64()), ("rank", pa.uint64()), ("shorter", pa.uint64()),
     ("source", pa.uint32()), ("text", pa.large_string())]
)  # fmt: skip
PREFERENCE = pa.field("preference", pa.large_binary())
"""Additional column if a field is preferred."""


class Known(NamedTuple):
    """What is known of all documents of a part beside their texts."""

    ids: np.ndarray  # uint64
    order: Order
    sources: np.ndarray  # uint32, from numbers_of_sources


def write_extract(
    file: SummedFile, text: Path, known: Known, labels: np.ndarray, bins: int,
    advance: Callable[[int], None],
) -> np.ndarray:  # fmt: skip
    """Append the streams of one part; return their starts, uint64 (bins + 1,).

    known, labels: of all documents of the part; labels from bins_of. Texts that are not needed are
    null.
    """
    ids, order, sources = known
    rows = np.flatnonzero(labels)
    bin, needed = (labels[rows] - 1) >> 1, (labels[rows] - 1) & 1
    by_bin = np.argsort(bin, kind="stable")
    rows, bin, needed = rows[by_bin], bin[by_bin], needed[by_bin].astype(bool)
    pieces = []
    first = 0
    for batch in TextPart(text, ["text"]).batches():
        mask = np.zeros(batch.num_rows, bool)
        mine = rows[needed & (rows >= first) & (rows < first + batch.num_rows)]
        mask[mine - first] = True
        pieces.append(batch.column("text").filter(pa.array(mask)))
        first += batch.num_rows
        advance(batch.num_rows)
    texts = pa.chunked_array(pieces, pa.large_string()).combine_chunks()
    # Texts are in row order: find the place of each in bin order; null if it is not needed.
    place = np.zeros(rows.size, np.int64)
    place[needed] = np.argsort(np.argsort(rows[needed]))
    texts = texts.take(pa.array(place, mask=~needed))
    columns = [ids[rows], order.rank[rows], order.shorter[rows], sources[rows], texts]
    table = pa.table([pa.array(column) for column in columns], schema=SCHEMA)
    if order.preference is not None:
        table = table.append_column(PREFERENCE, order.preference.take(pa.array(rows)))
    sizes = pc.fill_null(pc.binary_length(texts), 0).to_numpy()
    return write_streams(
        file, table.schema, lambda block: table.slice(block.start, block.stop - block.start), sizes,
        bin, bins,
    )  # fmt: skip


@dataclass(frozen=True)
class ExtractFiles:
    """Outputs of `extract` for a block of parts."""

    data: Path
    index: Path
    edges: Path
    edge_starts: Path
    counts: Path


class Extract(NamedTuple):
    """The documents and the pairs of one bin, of all parts."""

    ids: np.ndarray  # uint64, ascending
    order: Order
    texts: TextColumn
    edges: np.ndarray  # EDGE
    sources: np.ndarray  # uint32, from numbers_of_sources


def read_extract(blocks: list[dict], bin: int) -> Extract:
    """Read the extract of one bin. blocks: the files of all blocks, as `extract` lists them."""
    tables: list[pa.Table] = []
    edges = [np.empty(0, EDGE)]
    for block in blocks:
        for offsets in load_array(block["index"]):
            tables.extend(read_stream(Path(block["data"]), offsets, bin))
        start, stop = load_array(block["edge_starts"])[bin : bin + 2]
        edges.append(np.array(StoredArray.open(block["edges"])[start:stop]))
    # Blocks come in part order and rows of a part in row order: ids ascend.
    rows = pa.concat_tables(tables or [SCHEMA.empty_table()])
    keys = in_one_piece(rows.column(PREFERENCE.name)) if PREFERENCE in rows.schema else None
    names = ("id", "rank", "shorter", "source")
    ids, rank, shorter, sources = (rows.column(name).to_numpy() for name in names)
    text = TextColumn.of(in_one_piece(rows.column("text")))
    return Extract(ids, Order(rank, keys, shorter), text, np.concatenate(edges), sources)
