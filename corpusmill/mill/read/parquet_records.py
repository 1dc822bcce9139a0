"""Read Parquet rows as records. The columns beside the text become lossless JSON."""

import contextlib
import itertools
import os
from collections.abc import Iterator
from typing import IO

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from corpusmill.messages.progress import Progress
from corpusmill.mill.read.parquet_pages import opened, pages_of
from corpusmill.mill.read.parquet_values import (
    BytesAsText,
    Column,
    doubled_field,
    is_bytes,
    is_text,
)
from corpusmill.mill.read.records import Malformed, Record
from corpusmill.mill.storage.regular_files import open_regular
from corpusmill.mill.storage.streams import READ_LIMITS

_encode = msgspec.json.Encoder().encode

PARQUET_ROWS = 64  # rows per batch: a row may be a book
BUFFER_BYTES = 1 << 20
MOST_EXPANSION = 64
"""Maximum factor by which a large page may expand. Text never expands that much, and a whole page
has to fit in memory."""


def paged(path: str, stored: IO[bytes]) -> pq.ParquetFile:
    # With a buffer, columns are read page by page; without one, by row group.
    return opened(
        path, stored, buffer_size=BUFFER_BYTES, pre_buffer=False, page_checksum_verification=True
    )


def _opened(path: str, stored: IO[bytes], text_field: str) -> pq.ParquetFile:
    """Open a file; ValueError without the text column or with two columns or fields of one name."""
    file = paged(path, stored)
    schema = file.schema_arrow
    if (doubled := doubled_field(schema)) is not None:
        raise ValueError(
            f'{path}: two columns or fields are called "{doubled}". Rename one of the two.'
        )
    if text_field not in schema.names:
        raise ValueError(
            f'{path}: expected a column "{text_field}", found only {", ".join(schema.names)}. '
            "Set text_field of the source."
        )
    return file


def _rows(batch: pa.RecordBatch, text: Column | BytesAsText, others: list[Column]) -> list[tuple]:
    """Return (text, other values, fault) of each row."""
    try:
        texts = text.values(batch.column(text.name))
        values = [column.values(batch.column(column.name)) for column in others]
    except UnicodeDecodeError as error:
        if batch.num_rows == 1:
            return [(None, (), f"not UTF-8 ({error})")]
        rows = (_rows(batch.slice(k, 1), text, others) for k in range(batch.num_rows))
        return list(itertools.chain.from_iterable(rows))
    rests = zip(*values, strict=True) if values else itertools.repeat(())
    return list(zip(texts, rests, itertools.repeat("")))


@contextlib.contextmanager
def named_if_damaged(path: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        said = " ".join(str(error).split())  # Arrow's errors have several lines
        raise ValueError(f"{path}: damaged Parquet file ({said}). Fetch it again.") from error


def bounded_batches(
    path: str, stored: IO[bytes], file: pq.ParquetFile, most_bytes: int
) -> Iterator[pa.RecordBatch]:
    """Yield all rows in batches of PARQUET_ROWS, or fewer to stay below `most_bytes`.

    The estimate takes the rows of a group as equal, or each as large as the largest value that
    pages may repeat. Raises ValueError before a page that expands beyond `most_bytes` and
    MOST_EXPANSION.
    """
    for group in range(file.num_row_groups):
        of_group = file.metadata.row_group(group)
        if not of_group.num_rows:
            continue  # a footer of some megabytes may list a million of them
        per_row = max(of_group.total_byte_size // max(of_group.num_rows, 1), 1)
        for number in range(of_group.num_columns):
            for page in pages_of(stored, of_group.column(number)):
                if page.unpacked > max(most_bytes, MOST_EXPANSION * page.packed):
                    raise ValueError(
                        f"{path}: a page of {page.packed:,} bytes expands to {page.unpacked:,} "
                        "bytes, more than text usually does. For such pages, "
                        f"input.max_record_bytes allows at most {most_bytes:,} bytes. Raise this "
                        "limit, or write smaller pages."
                    )
                per_row = max(per_row, page.unpacked * page.repeats)
        rows = max(1, min(PARQUET_ROWS, most_bytes // per_row))
        yield from file.iter_batches(batch_size=rows, row_groups=[group])


def parquet_records(
    path: str, text_field: str, progress: Progress, most_bytes: int = READ_LIMITS.line_bytes
) -> Iterator[Record | Malformed]:
    """Yield every row of the file. If the text column has another type, all rows are malformed.

    most_bytes: limit per record; a page of the file is held whole all the same.
    """
    with named_if_damaged(path), open_regular(path) as stored:
        file = _opened(path, stored, text_field)
        columns = {field.name: Column(path, field) for field in file.schema_arrow}
        text: Column | BytesAsText = columns.pop(text_field)
        others = list(columns.values())
        for column in others:
            column.tell_if_written_as_text()
        names = list(columns)
        type = file.schema_arrow.field(text_field).type
        if is_bytes(type):
            text = BytesAsText(text_field)
        wrong = "" if is_text(type) or is_bytes(type) else f'"{text_field}" is {type}, not a string'
        null = f'"{text_field}" is null, not a string'
        bytes_per_row = os.path.getsize(path) / max(file.metadata.num_rows, 1)
        number = told = 0
        for batch in bounded_batches(path, stored, file, most_bytes):
            for value, rest, fault in _rows(batch, text, others):
                number += 1
                if fault:
                    yield Malformed(number, None, fault, "")
                elif wrong or value is None:
                    start = _encode(value).decode("utf-8")[:80]
                    yield Malformed(number, None, wrong or null, start)
                else:
                    yield Record(number, value, _encode(dict(zip(names, rest, strict=True)))[1:-1])
            read = int(number * bytes_per_row)  # of all rows: one may be less than a byte
            progress.advance(read - told)
            told = read
        refuse_other_count(path, number, file.metadata)


def refuse_other_count(path: str, read: int, told: pq.FileMetaData) -> None:
    """Raise ValueError if the number of rows read differs from the file's counts.

    With a flipped bit in a count, pyarrow reads fewer rows without an error.
    """
    of_groups = sum(told.row_group(group).num_rows for group in range(told.num_row_groups))
    if not read == of_groups == told.num_rows:
        raise ValueError(
            f"{path}: damaged Parquet file: its footer lists {told.num_rows} rows, its row "
            f"groups have {of_groups}, and {read} were read. Fetch it again."
        )
