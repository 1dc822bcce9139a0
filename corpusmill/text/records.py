"""Input formats, and what is read from files in them: records, and what is none."""

from typing import NamedTuple

FORMATS = {".jsonl": 1.0, ".jsonl.zst": 4.0, ".jsonl.gz": 4.0, ".parquet": 3.0}
"""File name endings that we read, and the bytes of text expected per byte of file."""


class Record(NamedTuple):
    """One document: its text and the members beside it, as raw JSON (`"url":"x","n":1`)."""

    line: int
    text: str
    rest: bytes


class Malformed(NamedTuple):
    """A record that is none: where it stands, why, and how it starts."""

    line: int
    offset: int | None
    reason: str
    start: str


def too_long(bytes: int, most: int) -> str:
    """Why a record is not read."""
    return f"{bytes} bytes, and input.max_record_bytes allows {most}"
