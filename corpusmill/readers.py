"""Input files of every format as located records; nothing is passed over in silence."""

from collections.abc import Iterator

from corpusmill.json_records import json_records
from corpusmill.records import Malformed, Record, format_of


def read_records(
    path: str, text_field: str, progress, keep_surrogates: bool = False
) -> Iterator[Record | Malformed]:
    """Every record of a file in its order, the malformed ones too.

    keep_surrogates: also accept texts with lone surrogates, which cannot be written as UTF-8;
    the caller mends them.
    """
    if format_of(path) == ".parquet":
        # Loaded only where it is the format: most jobs are small.
        from corpusmill.parquet_records import parquet_records

        return parquet_records(path, text_field, progress)
    return json_records(path, text_field, keep_surrogates, progress)
