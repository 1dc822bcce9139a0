"""Text parts: the normalised documents of one part as an Arrow file, row by row.

Row i of a part is row i of every decision about it.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

BATCH_BYTES = 32 << 20
"""Text bytes per record batch: what a job that streams a part holds at once."""

MAX_BATCH_ROWS = 1 << 16

SCHEMA = pa.schema(
    [
        ("text", pa.large_string()),
        ("rest", pa.large_binary()),
        ("file", pa.uint32()),
        ("line", pa.uint64()),
    ]
)
IPC_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


class TextColumn(NamedTuple):
    """A text column as kernels see it: document d is data[offsets[d]:offsets[d + 1]]."""

    offsets: np.ndarray  # int64 (documents + 1,)
    data: np.ndarray  # uint8, UTF-8

    @classmethod
    def of(cls, column: pa.Array) -> "TextColumn":
        """A view of a large_string or large_binary array, nothing copied."""
        _, offsets, data = column.buffers()
        if offsets is None or offsets.size == 0:
            return cls(np.zeros(1, np.int64), np.zeros(0, np.uint8))
        starts = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
        return cls(starts, np.frombuffer(data or b"", np.uint8))

    def sizes(self) -> np.ndarray:
        """int64 (documents,): UTF-8 bytes of each text."""
        return np.diff(self.offsets)

    def array(self) -> pa.LargeStringArray:
        """The column as Arrow has it, nothing copied."""
        buffers = pa.py_buffer(self.offsets), pa.py_buffer(self.data)
        return pa.LargeStringArray.from_buffers(self.offsets.size - 1, *buffers)


class TextRows:
    """A text column in several pieces, read in any order, nothing copied."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        empty = pa.array([], column.type)
        pieces = [TextColumn.of(chunk) for chunk in (empty, *column.chunks)]
        self._data = [memoryview(piece.data) for piece in pieces]
        self._piece = np.repeat(np.arange(len(pieces)), [piece.sizes().size for piece in pieces])
        self._start = np.concatenate([piece.offsets[:-1] for piece in pieces])
        self.sizes = np.concatenate([piece.sizes() for piece in pieces])

    def __getitem__(self, rows: np.ndarray) -> Iterator[memoryview]:
        start = self._start[rows]
        for piece, begin, end in zip(
            self._piece[rows].tolist(),
            start.tolist(),
            (start + self.sizes[rows]).tolist(),
            strict=True,
        ):
            yield self._data[piece][begin:end]


def string_array(texts: list[bytes | memoryview]) -> pa.LargeStringArray:
    """UTF-8 byte strings as one Arrow column."""
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return TextColumn(offsets, np.frombuffer(b"".join(texts), np.uint8)).array()


def new_part(path: Path, files: list[dict]) -> pa.ipc.RecordBatchFileWriter:
    """A text part to write batches to; files as in TextWriter."""
    schema = SCHEMA.with_metadata({"corpusmill.text": "1", "files": json.dumps(files)})
    return pa.ipc.new_file(path, schema, options=IPC_OPTIONS)


class TextWriter:
    """Writes documents to a text part, batch by batch."""

    def __init__(self, path: Path, files: list[dict]) -> None:
        """files: one {"source", "path"} per input file; rows name theirs by its place here."""
        self._writer = new_part(path, files)
        self._start_batch()

    def _start_batch(self) -> None:
        self._texts: list[bytes] = []
        self._rests: list[bytes] = []
        self._files: list[int] = []
        self._lines: list[int] = []
        self._bytes = 0

    def add(self, text: bytes, rest: bytes, file: int, line: int) -> None:
        self._texts.append(text)
        self._rests.append(rest)
        self._files.append(file)
        self._lines.append(line)
        self._bytes += len(text) + len(rest)
        if self._bytes >= BATCH_BYTES or len(self._texts) >= MAX_BATCH_ROWS:
            self._write_batch()

    def _write_batch(self) -> None:
        columns = [
            string_array(self._texts),
            string_array(self._rests).cast(pa.large_binary()),
            pa.array(self._files, pa.uint32()),
            pa.array(self._lines, pa.uint64()),
        ]
        self._writer.write_batch(pa.record_batch(columns, schema=SCHEMA))
        self._start_batch()

    def close(self) -> None:
        if self._texts:
            self._write_batch()
        self._writer.close()


class TextPart:
    """A text part for reading: its columns batch by batch, and who its files are."""

    def __init__(self, path: Path, columns: list[str]) -> None:
        wanted = [SCHEMA.get_field_index(name) for name in columns]
        options = pa.ipc.IpcReadOptions(included_fields=wanted)
        self._file = pa.ipc.open_file(pa.memory_map(str(path)), options=options)
        metadata = self._file.schema.metadata or {}
        if metadata.get(b"corpusmill.text") != b"1":
            raise ValueError(
                f"{path}: expected a corpusmill text part, version 1, found another Arrow file. "
                "Remove it and run again."
            )
        self.files: list[dict] = json.loads(metadata[b"files"])

    def batches(self) -> Iterator[pa.RecordBatch]:
        for i in range(self._file.num_record_batches):
            yield self._file.get_batch(i)

    def column(self, name: str) -> np.ndarray:
        """A whole numeric column."""
        columns = [batch.column(name).to_numpy() for batch in self.batches()]
        return np.concatenate(columns) if columns else np.zeros(0, np.uint64)

    def sources(self) -> pa.DictionaryArray:
        """The source of every row: each name once, in the order of the part's files."""
        names = list(dict.fromkeys(file["source"] for file in self.files))
        of_file = np.array([names.index(file["source"]) for file in self.files], np.int32)
        rows = of_file[self.column("file").astype(np.int64)]
        return pa.DictionaryArray.from_arrays(pa.array(rows), pa.array(names, pa.string()))
