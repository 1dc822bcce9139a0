"""Text columns: many texts in two buffers, bytes and offsets, without copying."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa


class TextColumn(NamedTuple):
    """A text column as kernels see it: document d is data[offsets[d]:offsets[d + 1]]."""

    offsets: np.ndarray  # int64 (documents + 1,)
    data: np.ndarray  # uint8, UTF-8

    @classmethod
    def of(cls, column: pa.Array) -> "TextColumn":
        """Return a view of a large_string or large_binary array."""
        _, offsets, data = column.buffers()
        if offsets is None or offsets.size == 0:
            return cls(np.zeros(1, np.int64), np.zeros(0, np.uint8))
        starts = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
        return cls(starts, np.frombuffer(data or b"", np.uint8))

    def sizes(self) -> np.ndarray:
        """Return int64 (documents,): the UTF-8 bytes of each text."""
        return np.diff(self.offsets)

    def array(self) -> pa.LargeStringArray:
        """Return the column as an Arrow array, without copying."""
        buffers = pa.py_buffer(self.offsets), pa.py_buffer(self.data)
        return pa.LargeStringArray.from_buffers(self.offsets.size - 1, *buffers)


class TextRows:
    """A text column in several pieces, read in any order without copying."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        empty = pa.array([], column.type)
        pieces = [TextColumn.of(chunk) for chunk in (empty, *column.chunks)]
        self._data = [memoryview(piece.data.data) for piece in pieces]
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


def string_array(texts: Sequence[bytes | memoryview]) -> pa.LargeStringArray:
    """Return UTF-8 byte strings as one Arrow column."""
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return TextColumn(offsets, np.frombuffer(b"".join(texts), np.uint8)).array()
