"""Read how far the pages of a Parquet file expand, from page headers alone, before unpacking any.

A header is a Thrift structure in the compact protocol: parquet.thrift, PageHeader.
"""

import os
from collections.abc import Iterable, Iterator
from typing import IO, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

DICTIONARY_PAGE = 2
DELTA_BYTE_ARRAY = 7
HEADER_BYTES = 1 << 10
MOST_HEADER_BYTES = 1 << 24
"""Maximum size of a page header. Headers include the smallest and largest value, which some writers
store in full."""

MOST_DEPTH = 8

MAGIC, FOOTER_END = b"PAR1", 8
"""The last bytes of a Parquet file, and the number of bytes after its footer: the footer's length
and MAGIC."""

MOST_GROUP_ROWS = 1 << 20
"""Maximum number of rows of a row group that corpusmill wrote; pyarrow never writes more."""
LARGEST_VALUES = 1 << 26
MOST_ROW_BYTES = 512
"""Maximum unpacked size of a row group that corpusmill wrote: LARGEST_VALUES for the longest
values, and MOST_ROW_BYTES per row."""
MOST_ROWS_PER_BYTE = 64
"""Maximum number of rows per byte of a table that corpusmill wrote. Each row has an id or a digest,
which hardly compresses."""
MOST_GROUP_PAGES = 1 << 14
MOST_COLUMNS = 1 << 10

MOST_FIELDS = 10_000
"""Maximum number of columns and nested fields of an untrusted file. Each of them costs time, even
without rows."""

TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, STRUCT = 1, 2, 3, 7, 8, 9, 12
SCHEMA = 2
"""The footer field that lists columns and fields; parquet.thrift, FileMetaData."""
WHOLE_NUMBERS = (4, 5, 6)
MOST_NUMBER_BYTES = 10
"""Maximum bytes of a stored 64-bit number, which has 7 bits in each byte."""


class Page(NamedTuple):
    """A page: stored bytes, unpacked bytes, encoding, and whether one stored value may repeat."""

    packed: int
    unpacked: int
    encoding: int | None
    repeats: bool


class _Thrift:
    """A parser of a Thrift structure; IndexError if the bytes end too early."""

    def __init__(self, data: bytes) -> None:
        self._data, self.at = data, 0

    def _varint(self) -> int:
        value = shift = 0
        while shift < 7 * MOST_NUMBER_BYTES:
            byte = self._data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
        raise pa.ArrowInvalid("expected a 64-bit number, found a longer one")

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
        raise pa.ArrowInvalid(f"no field of kind {kind} is expected here")

    def list_size(self, wanted: int) -> int:
        """Return the number of elements of the list in field `wanted`, which precedes all other
        lists."""
        number = 0
        while True:
            head = self._data[self.at]
            self.at += 1
            number = number + (head >> 4) if head >> 4 else self._number()
            if number == wanted and head & 15 == LIST:
                size = self._data[self.at] >> 4
                self.at += 1
                return size if size < 15 else self._varint()
            self._value(head & 15, MOST_DEPTH)

    def structure(self, depth: int = 0) -> dict[int, Any]:
        """Return field number -> value, for numbers, booleans and structures."""
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
    """Return the page header at a byte of the file, and its length."""
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


def fields_told(stored: IO[bytes]) -> int:
    """Return the number of columns and fields in the footer, without parsing them. 0 for a file of
    another format."""
    size = stored.seek(0, os.SEEK_END)
    stored.seek(max(size - FOOTER_END, 0))
    end = stored.read(FOOTER_END)
    if not end.endswith(MAGIC):
        return 0
    footer = int.from_bytes(end[:4], "little")
    if footer > size - FOOTER_END - len(MAGIC):
        raise pa.ArrowInvalid(f"a footer of {footer:,} bytes in a file of {size:,} bytes")
    stored.seek(size - FOOTER_END - footer)
    try:
        return _Thrift(stored.read(min(footer, HEADER_BYTES))).list_size(SCHEMA)
    except IndexError:
        raise pa.ArrowInvalid("its footer lists no columns") from None


def refuse_many_fields(where: object, fields: int) -> None:
    if fields > MOST_FIELDS:
        raise ValueError(
            f"{where}: expected at most {MOST_FIELDS:,} columns and fields, found {fields:,}. "
            "Write the file again with only the columns that you want."
        )


def opened(where: object, stored: IO[bytes], **options: Any) -> pq.ParquetFile:
    """Open an untrusted file with options of pyarrow; ValueError if it has too many columns."""
    refuse_many_fields(where, fields_told(stored))
    file = pq.ParquetFile(stored, **options)
    refuse_many_fields(where, file.metadata.num_columns)  # a footer may have two lists of them
    return file


def refuse_other_rows(where: object, told: pq.FileMetaData, size: int, rows: int | None) -> None:
    """Raise ValueError unless the footer describes a flat table with the expected number of rows.

    size: bytes of the file. rows: None if the number is not known.
    """
    columns = [told.schema.column(number) for number in range(told.num_columns)]
    if len(columns) > MOST_COLUMNS or any(one.max_repetition_level for one in columns):
        raise _no_table(where, f"lists, or {len(columns):,} columns")
    sizes = [told.row_group(group).num_rows for group in range(told.num_row_groups)]
    if rows is not None and told.num_rows != rows:
        raise ValueError(
            f"{where}: expected {rows:,} rows, as many as documents in the token index, found "
            f"{told.num_rows:,}. The files are from different runs, or damaged. Finish the later "
            "run: corpusmill run"
        )
    if told.num_rows > MOST_ROWS_PER_BYTE * size:
        raise _no_table(where, f"{told.num_rows:,} rows in {size:,} bytes")
    if sum(sizes) != told.num_rows or not all(0 <= size <= MOST_GROUP_ROWS for size in sizes):
        raise _no_table(where, "row groups of other sizes")


def refuse_expanding(
    where: object, stored: IO[bytes], group: pq.RowGroupMetaData, columns: Iterable[int]
) -> None:
    """Raise ValueError if columns of a row group expand to more than corpusmill writes.

    Call it before reading them: a few bytes can claim any size.
    """
    most = LARGEST_VALUES + MOST_ROW_BYTES * group.num_rows
    size = 0
    try:
        pages = (page for number in columns for page in pages_of(stored, group.column(number)))
        for count, page in enumerate(pages):
            size += page.unpacked
            if page.encoding == DELTA_BYTE_ARRAY or count > MOST_GROUP_PAGES:
                raise _no_table(where, "pages of an unexpected kind, or too many pages")
            if size > most:
                raise _no_table(where, f"a row group of more than {most:,} bytes")
    except pa.ArrowInvalid as error:
        raise _no_table(where, str(error)) from error


def _no_table(where: object, found: str) -> ValueError:
    return ValueError(
        f"{where}: expected a table written by corpusmill, found {found}. Copy it again."
    )


def pages_of(stored: IO[bytes], column: pq.ColumnChunkMetaData) -> Iterator[Page]:
    """Yield the pages of a column of a row group; ArrowInvalid if they cannot be followed."""
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
            raise pa.ArrowInvalid(f"no page header at byte {at}")
        encoding = of_values.get(2 if 5 in header else 4)
        repeats = header.get(1) == DICTIONARY_PAGE or encoding == DELTA_BYTE_ARRAY
        yield Page(packed, unpacked, encoding, repeats)
        count = of_values.get(1, 0)
        values += count if isinstance(count, int) else 0
        at += size + packed
