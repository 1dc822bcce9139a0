"""Text parts: the normalized documents of one part as an Arrow file, row by row.

Row i of a part is row i of every decision about it.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from corpusmill.mill.read.text_column import string_array
from corpusmill.mill.storage.sliced_streams import IPC_OPTIONS
from corpusmill.mill.storage.sums import CheckedFile, DamagedError, SummedFile

BATCH_BYTES = 8 << 20
"""Text bytes per record batch. A job that reads a part has one batch in memory at a time."""

MAX_BATCH_ROWS = 1 << 16

SCHEMA = pa.schema(
    [
        ("text", pa.large_string()),
        ("rest", pa.large_binary()),
        ("file", pa.uint32()),
        ("line", pa.uint64()),
    ]
)


def new_part(file: SummedFile, files: list[dict]) -> pa.ipc.RecordBatchFileWriter:
    """Open a text part for writing batches. files: as in TextWriter."""
    schema = SCHEMA.with_metadata({"corpusmill.text": "1", "files": json.dumps(files)})
    return pa.ipc.new_file(file, schema, options=IPC_OPTIONS)


class TextWriter:
    """A writer of documents to a text part, batch by batch."""

    def __init__(self, file: SummedFile, files: list[dict]) -> None:
        """files: one {"source", "path"} per input file. Rows refer to files by position in this
        list."""
        self._writer = new_part(file, files)
        self.text_bytes = self.largest = 0
        """Total bytes of text, and the bytes of the largest document, its text and its rest
        together."""
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
        size = len(text) + len(rest)
        self._bytes += size
        self.text_bytes += len(text)
        self.largest = max(self.largest, size)
        if self._bytes >= BATCH_BYTES or len(self._texts) >= MAX_BATCH_ROWS:
            self._write_batch()

    def _write_batch(self) -> None:
        columns = [
            string_array(self._texts),
            string_array(self._rests).view(pa.large_binary()),
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
    """A reader of a text part: its columns, batch by batch, and its files."""

    def __init__(self, path: Path, columns: list[str]) -> None:
        self._path = path
        wanted = [SCHEMA.get_field_index(name) for name in columns]
        options = pa.ipc.IpcReadOptions(included_fields=wanted)
        self._file = pa.ipc.open_file(CheckedFile(path), options=options)
        metadata = self._file.schema.metadata or {}
        if metadata.get(b"corpusmill.text") != b"1":
            raise DamagedError(path, "expected a text part of version 1, found another file")
        self.files: list[dict] = json.loads(metadata[b"files"])

    def batches(self) -> Iterator[pa.RecordBatch]:
        for i in range(self._file.num_record_batches):
            yield self._file.get_batch(i)

    def column(self, name: str) -> np.ndarray:
        """Return a numeric column without reading the others."""
        alone = TextPart(self._path, [name])
        columns = [batch.column(name).to_numpy() for batch in alone.batches()]
        return np.concatenate(columns) if columns else np.zeros(0, np.uint64)

    def text(self, row: int) -> str:
        """Return one text, reading only its batch of texts."""
        before = 0
        for number, batch in enumerate(TextPart(self._path, ["line"]).batches()):
            if row < before + batch.num_rows:
                return str(self._file.get_batch(number).column("text")[row - before].as_py())
            before += batch.num_rows
        raise IndexError(f"{self._path} has {before} rows, so there is no row {row}")

    def sources(self) -> pa.DictionaryArray:
        """Return the source of every row: each name once, in the order of the part's files."""
        names = list(dict.fromkeys(file["source"] for file in self.files))
        of_file = np.array([names.index(file["source"]) for file in self.files], np.int32)
        rows = of_file[self.column("file").astype(np.int64)]
        return pa.DictionaryArray.from_arrays(pa.array(rows), pa.array(names, pa.string()))
