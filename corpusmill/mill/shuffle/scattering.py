"""Scatter files: the kept documents of a part as streams by target shard, with an index.

A part is written in windows of some record batches. Each has one stream per target shard, so that
only the texts of one window are in memory.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpusmill.messages.progress import Progress
from corpusmill.mill.read.ids import ids_of_part
from corpusmill.mill.read.parts import TextPart
from corpusmill.mill.read.text_column import TextRows, string_array
from corpusmill.mill.shuffle.targets import Emissions
from corpusmill.mill.storage.arrays import load_array, save_array
from corpusmill.mill.storage.files import writing
from corpusmill.mill.storage.sliced_streams import read_stream, write_streams
from corpusmill.mill.storage.sums import CheckedFile, SummedFile

SCHEMA = pa.schema(
    [
        ("key", pa.uint64()),
        ("id", pa.uint64()),
        ("copy", pa.uint16()),
        ("source", pa.string()),
        ("text", pa.large_string()),
        ("rest", pa.large_binary()),
    ]
)


WITH_IDS = SCHEMA.append(pa.field("ids", pa.large_binary()))
"""SCHEMA with token ids, each document with its end-of-text id, if they were counted before the
shuffle. Empty for documents of other splits than train."""


class TokenIds:
    """The token ids of a part, from the step `count`."""

    def __init__(self, ids: Path, starts: Path) -> None:
        file = CheckedFile(ids)
        self._bytes = memoryview(file.view(0, file.size))
        self._starts = load_array(starts).astype(np.int64)
        total = int(self._starts[-1])
        self._size = file.size // total if total else 1

    def of(self, rows: np.ndarray) -> list[memoryview]:
        """Return the bytes of the ids of some documents."""
        begin, end = self._starts[rows] * self._size, self._starts[rows + 1] * self._size
        return [self._bytes[a:b] for a, b in zip(begin.tolist(), end.tolist(), strict=True)]


@dataclass(frozen=True)
class ScatterFiles:
    """Outputs of `scatter` for one part."""

    data: Path
    index: Path
    counts: Path


NOT_COMPRESSED = pa.ipc.IpcWriteOptions()
"""For scatter files: to compress them, and to unpack them in gather, takes a twentieth of a run."""

WINDOW_BYTES = 8 << 20
"""Minimum size of a window; the last one may be smaller."""

TARGET_BYTES = 1 << 20
"""Minimum size of a window per target. With many targets, smaller streams would take long to
read."""


class Window:
    """Some record batches of a text part, and the copies of their documents."""

    def __init__(
        self, batches: list[pa.RecordBatch], sources: pa.DictionaryArray, ids: np.ndarray,
        emitted: Emissions, first: int, token_ids: TokenIds | None,
    ) -> None:  # fmt: skip
        """sources, ids: of the documents. emitted: its rows count from the first of these, which
        is row `first` of the part."""
        self._first, self._token_ids = first, token_ids
        # Not take(): for every block it would copy a chunked column whole, and combining the chunks
        # is a copy too.
        read = pa.Table.from_batches(batches)
        self._texts, self._rests = TextRows(read.column("text")), TextRows(read.column("rest"))
        self._sources, self._ids, self._emitted = sources, ids, emitted

    def write(self, file: SummedFile, targets: int, progress: Progress) -> np.ndarray:
        """Write a stream per target. Return uint64 (targets + 1,), the start of each."""

        def rows_of(block: slice) -> pa.Table:
            progress.advance(block.stop - block.start)
            return self._rows(self._emitted.where(block))

        sizes = (self._texts.sizes + self._rests.sizes)[self._emitted.row]
        schema = WITH_IDS if self._token_ids else SCHEMA
        return write_streams(
            file, schema, rows_of, sizes, self._emitted.target, targets, NOT_COMPRESSED
        )

    def _rows(self, those: Emissions) -> pa.Table:
        columns = [
            pa.array(those.key),
            pa.array(self._ids[those.row]),
            pa.array(those.copy),
            self._sources.take(pa.array(those.row)).cast(pa.string()),
            string_array(list(self._texts[those.row])),
            string_array(list(self._rests[those.row])).cast(pa.large_binary()),
        ]
        if self._token_ids is None:
            return pa.table(columns, schema=SCHEMA)
        token_ids = string_array(self._token_ids.of(those.row + self._first))
        return pa.table([*columns, token_ids.cast(pa.large_binary())], schema=WITH_IDS)


def windows(text: Path, targets: int) -> Iterator[list[pa.RecordBatch]]:
    """Yield the batches of a text part, window by window."""
    least = max(WINDOW_BYTES, targets * TARGET_BYTES)
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in TextPart(text, ["text", "rest"]).batches():
        held.append(batch)
        size += batch.nbytes
        if size >= least:
            yield held
            held, size = [], 0
    if held:
        yield held


def write_scattered(
    data: Path, index: Path, text: Path, part: int, emitted: Emissions, targets: int,
    progress: Progress, token_ids: TokenIds | None = None,
) -> None:  # fmt: skip
    """Write copies of a part's documents, and to `index` the start of each stream: uint64
    (windows, targets + 1).

    text: the part. progress: counts copies. token_ids: written beside the texts, if given.
    """
    sources = TextPart(text, ["file"]).sources()
    ids = ids_of_part(part, len(sources))
    if emitted.row.max(initial=-1) >= ids.size:
        raise ValueError(
            f"{text}: expected a document in row {emitted.row.max()}, found {ids.size} documents"
        )
    starts = []
    stop = 0
    with writing(data) as file:
        for batches in windows(text, targets):
            first, stop = stop, stop + sum(batch.num_rows for batch in batches)
            mine = emitted.where((emitted.row >= first) & (emitted.row < stop))
            mine = mine._replace(row=mine.row - first)
            of_window = sources[first:stop], ids[first:stop]
            window = Window(batches, *of_window, mine, first, token_ids)
            starts.append(window.write(file, targets, progress))
            del batches, window  # before the next one is read
    save_array(index, np.array(starts, np.uint64).reshape(-1, targets + 1))


def read_scattered(data: Path, index: Path, target: int) -> Iterator[pa.Table]:
    """Yield the rows of one target of a part."""
    for offsets in load_array(index):
        yield from read_stream(data, offsets, target)


BYTES_PER_TEXT = 100
"""Approximate memory of the objects that a step holds per text."""


class ShardRows(NamedTuple):
    """The rows of a target shard, which stay where the scatter files are mapped."""

    rows: pa.Table
    """SCHEMA, as the parts have them."""
    order: np.ndarray
    """int64: the rows in shuffled order."""

    @classmethod
    def read(cls, parts: list[dict], target: int, progress: Progress) -> "ShardRows":
        """parts: the names of each part's files, `data` and `index`. progress: counts parts."""
        tables: list[pa.Table] = []
        for part in parts:
            tables.extend(read_scattered(Path(part["data"]), Path(part["index"]), target))
            progress.advance(1)
        rows = pa.concat_tables(tables or [SCHEMA.empty_table()])
        return cls(rows, np.lexsort((rows.column("id").to_numpy(), rows.column("key").to_numpy())))

    def sizes(self) -> np.ndarray:
        """Return int64 (rows,): the UTF-8 bytes of the text of each row."""
        return pc.binary_length(self.rows.column("text")).to_numpy()

    def documents(self) -> pa.Table:
        """Return the columns that say which documents these are, in shuffled order."""
        columns = ["id", "copy", "source"]
        return self.rows.select(columns).combine_chunks().take(pa.array(self.order))

    def token_ids(self, dtype: str) -> Callable[[slice], list[np.ndarray]] | None:
        """Return a function from places in shuffled order to the ids of these documents, without
        their last; None if ids were not counted before the shuffle."""
        if "ids" not in self.rows.column_names:
            return None
        ids = TextRows(self.rows.column("ids"))
        if not ids.sizes.all():
            return None
        kind = np.dtype(dtype).newbyteorder("<")
        return lambda places: [np.frombuffer(one, kind)[:-1] for one in ids[self.order[places]]]

    def texts(self, size: int) -> Iterator[list[bytes]]:
        """Yield the texts in shuffled order, in lists of about this many bytes.

        Each text counts BYTES_PER_TEXT more, for what is held beside it.
        """
        texts = TextRows(self.rows.column("text"))
        ends = np.cumsum(self.sizes()[self.order] + BYTES_PER_TEXT)
        marks = np.arange(size, ends[-1] if ends.size else 0, size)
        bounds = np.unique([0, *np.searchsorted(ends, marks, "right"), self.order.size])
        for start, stop in itertools.pairwise(bounds.tolist()):
            yield [*map(bytes, texts[self.order[start:stop]])]
