"""Input files of every format as located records; nothing is passed over in silence."""

import os
from collections.abc import Iterator

from corpusmill.text.json_records import json_records
from corpusmill.text.records import Malformed, Record, format_of


def read_records(
    path: str, text_field: str, progress, keep_surrogates: bool = False
) -> Iterator[Record | Malformed]:
    """Every record of a file in its order, the malformed ones too.

    keep_surrogates: also accept texts with lone surrogates, which cannot be written as UTF-8;
    the caller mends them.
    """
    if format_of(path) == ".parquet":
        # Loaded only where it is the format: most jobs are small.
        from corpusmill.text.parquet_records import parquet_records

        return parquet_records(path, text_field, progress)
    return json_records(path, text_field, keep_surrogates, progress)


def refuse_changed(file: dict) -> None:
    """Raise ValueError if a file that was read is not the one that was planned.

    file: "path", and "bytes" and "mtime_ns" as planned, None if a rule makes it.
    """
    found = os.stat(file["path"])
    planned = file["bytes"], file["mtime_ns"]
    if planned != (None, None) and planned != (found.st_size, found.st_mtime_ns):
        raise ValueError(
            f"{file['path']}: expected {file['bytes']} bytes of when the run began, found "
            f"{found.st_size} bytes, or written later. It changed while it was read: run again."
        )
