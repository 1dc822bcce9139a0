"""What the pages of a Parquet file expand to, by their headers alone, before one is unpacked.

A header is a Thrift structure in the compact protocol: parquet.thrift, PageHeader.
"""

from collections.abc import Iterator
from typing import IO, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

DICTIONARY_PAGE = 2
DELTA_BYTE_ARRAY = 7
HEADER_BYTES = 1 << 10
MOST_HEADER_BYTES = 1 << 24
"""With the least and the greatest value in it, which some write in full."""

MOST_DEPTH = 8

TRUE, FALSE, BYTE, DOUBLE, BINARY, STRUCT = 1, 2, 3, 7, 8, 12
WHOLE_NUMBERS = (4, 5, 6)


class Page(NamedTuple):
    """Bytes of a page as it lies there and unpacked; whether one value in it may be many."""

    packed: int
    unpacked: int
    repeats: bool


class _Thrift:
    """Reads a structure from bytes; IndexError where these end too early."""

    def __init__(self, data: bytes) -> None:
        self._data, self.at = data, 0

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def _number(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)

    def _passed(self, size: int) -> None:
        self.at += size
        if self.at > len(self._data):
            raise IndexError

    def _value(self, kind: int, depth: int) -> Any:
        if kind in WHOLE_NUMBERS:
            return self._number()
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind == STRUCT and depth < MOST_DEPTH:
            return self.structure(depth + 1)
        if kind in (BYTE, DOUBLE, BINARY):
            return self._passed({BYTE: 1, DOUBLE: 8}.get(kind) or self._varint())
        raise pa.ArrowInvalid(f"no page header has a field of kind {kind} here")

    def structure(self, depth: int = 0) -> dict[int, Any]:
        """Field number -> value, of numbers, truths and structures."""
        found: dict[int, Any] = {}
        number = 0
        while True:
            head = self._data[self.at]
            self.at += 1
            if head == 0:
                return found
            number = number + (head >> 4) if head >> 4 else self._number()
            found[number] = self._value(head & 15, depth)


def _header(stored: IO[bytes], at: int) -> tuple[dict[int, Any], int]:
    """The page header that begins at a byte of the file, and how long it is."""
    size = HEADER_BYTES
    while True:
        stored.seek(at)
        data = stored.read(size)
        thrift = _Thrift(data)
        try:
            return thrift.structure(), thrift.at
        except IndexError:
            if len(data) < size or size >= MOST_HEADER_BYTES:
                raise pa.ArrowInvalid(f"a page header at byte {at} has no end") from None
            size *= 16


def pages_of(stored: IO[bytes], column: pq.ColumnChunkMetaData) -> Iterator[Page]:
    """The pages of a column of a row group; ArrowInvalid if they cannot be followed."""
    at = column.data_page_offset
    if column.has_dictionary_page and column.dictionary_page_offset is not None:
        at = min(at, column.dictionary_page_offset)
    values = 0
    while values < column.num_values:
        header, size = _header(stored, at)
        unpacked, packed = header.get(2), header.get(3)
        of_values = header.get(5, header.get(8, {}))
        if not (
            isinstance(unpacked, int) and isinstance(packed, int) and isinstance(of_values, dict)
            and min(unpacked, packed) >= 0
        ):  # fmt: skip
            raise pa.ArrowInvalid(f"the header at byte {at} is that of no page")
        encoding = of_values.get(2 if 5 in header else 4)
        repeats = header.get(1) == DICTIONARY_PAGE or encoding == DELTA_BYTE_ARRAY
        yield Page(packed, unpacked, repeats)
        count = of_values.get(1, 0)
        values += count if isinstance(count, int) else 0
        at += size + packed
