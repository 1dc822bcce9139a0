"""Parquet files as records: a row is a document, its other columns are JSON that loses nothing."""

import contextlib
import os
from collections.abc import Iterator

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from corpusmill.parquet_values import Column, doubled_field, is_text
from corpusmill.records import Malformed, Record

PARQUET_ROWS = 64  # at once: a row may be a book


def _opened(path: str, text_field: str) -> pq.ParquetFile:
    """The file, if it has the text column and no two columns or fields of one name."""
    file = pq.ParquetFile(path)
    schema = file.schema_arrow
    if (doubled := doubled_field(schema)) is not None:
        raise ValueError(
            f'{path}: two columns or fields are called "{doubled}". Give each a name of its own.'
        )
    if text_field not in schema.names:
        raise ValueError(
            f'{path}: no "{text_field}" column; it has {", ".join(schema.names)}. '
            "Set text_field of the source."
        )
    return file


def _rows(batch: pa.RecordBatch, columns: list[Column]) -> Iterator[tuple | str]:
    """The values of each row, or why there are none."""
    try:
        arrays = zip(columns, batch.columns, strict=True)
        yield from zip(*(column.values(array) for column, array in arrays), strict=True)
    except UnicodeDecodeError as error:
        if batch.num_rows == 1:
            yield f"not UTF-8 ({error})"
            return
        for k in range(batch.num_rows):
            yield from _rows(batch.slice(k, 1), columns)


@contextlib.contextmanager
def _named_if_damaged(path: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path}: damaged Parquet file ({error}). Fetch it again.") from error


def parquet_records(path: str, text_field: str, progress) -> Iterator[Record | Malformed]:
    """Every row of the file; a text column of another type than text has none that is a record."""
    with _named_if_damaged(path):
        file = _opened(path, text_field)
        columns = [Column(path, field) for field in file.schema_arrow]
        names = [column.name for column in columns if column.name != text_field]
        place = file.schema_arrow.names.index(text_field)
        for column in columns[:place] + columns[place + 1 :]:
            column.tell_if_written_as_text()
        type = file.schema_arrow.field(place).type
        wrong = "" if is_text(type) else f'"{text_field}" is {type}, not a string'
        bytes_per_row = os.path.getsize(path) / max(file.metadata.num_rows, 1)
        number = 0
        for batch in file.iter_batches(batch_size=PARQUET_ROWS):
            for row in _rows(batch, columns):
                number += 1
                if isinstance(row, str):
                    yield Malformed(number, None, row, "")
                elif row[place] is None or wrong:
                    reason = wrong or f'"{text_field}" is null, not a string'
                    start = msgspec.json.encode(row[place]).decode("utf-8")[:80]
                    yield Malformed(number, None, reason, start)
                else:
                    others = row[:place] + row[place + 1 :]
                    rest = msgspec.json.encode(dict(zip(names, others, strict=True)))[1:-1]
                    yield Record(number, row[place], rest)
            progress.advance(int(batch.num_rows * bytes_per_row))
