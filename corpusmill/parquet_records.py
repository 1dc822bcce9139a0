"""Parquet files as records: a row is a document, its other columns are JSON members."""

import os
from collections.abc import Iterator

import msgspec

from corpusmill.records import Malformed, Record

PARQUET_ROWS = 64  # at once: a row may be a book


def _parquet_batches(path: str, text_field: str, progress) -> Iterator:
    """The record batches of a file; raises with its name where it is damaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
        if text_field not in file.schema_arrow.names:
            raise ValueError(
                f'{path}: no "{text_field}" column; it has {", ".join(file.schema_arrow.names)}. '
                "Set text_field of the source."
            )
        bytes_per_row = os.path.getsize(path) / max(file.metadata.num_rows, 1)
        for batch in file.iter_batches(batch_size=PARQUET_ROWS):
            yield _with_times_as_text(batch)
            progress.advance(int(batch.num_rows * bytes_per_row))
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path}: damaged Parquet file ({error}). Fetch it again.") from error


def _with_times_as_text(batch):
    """Dates and times as Arrow writes them: Python's have no nanoseconds and no year 10000."""
    import pyarrow as pa

    for place, field in enumerate(batch.schema):
        if pa.types.is_temporal(field.type):
            times = batch.column(place)
            whole = pa.int64() if pa.types.is_duration(field.type) else pa.string()
            batch = batch.set_column(place, field.name, times.cast(whole))
    return batch


def _parquet_rows(batch) -> Iterator[tuple[dict | None, str]]:
    """(row, "") of a batch, or (None, reason) where a row is not UTF-8."""
    try:
        yield from ((row, "") for row in batch.to_pylist())
    except UnicodeDecodeError:
        for k in range(batch.num_rows):
            try:
                yield batch.slice(k, 1).to_pylist()[0], ""
            except UnicodeDecodeError as error:
                yield None, f"not UTF-8 ({error})"


def parquet_records(path: str, text_field: str, progress) -> Iterator[Record | Malformed]:
    number = 0
    for batch in _parquet_batches(path, text_field, progress):
        for row, reason in _parquet_rows(batch):
            number += 1
            if row is None:
                yield Malformed(number, None, reason, "")
                continue
            text = row.pop(text_field)
            if isinstance(text, str):
                yield Record(number, text, msgspec.json.encode(row)[1:-1])
            else:
                reason = f'"{text_field}" is {type(text).__name__}, not a string'
                yield Malformed(number, None, reason, str(text)[:80])
