"""Records of input files, well-formed or malformed."""

import os
from typing import NamedTuple


class Record(NamedTuple):
    """One document: its text and the members beside it, as raw JSON (`"url":"x","n":1`)."""

    line: int
    text: str
    rest: bytes


class NormalRecord(NamedTuple):
    """A record with its normalized text as UTF-8."""

    line: int
    text: bytes
    rest: bytes


class Malformed(NamedTuple):
    """A malformed record: its position, the reason and its first characters."""

    line: int
    offset: int | None
    reason: str
    start: str


def too_long(bytes: int, most: int, ended: bool = True) -> str:
    """Describe an overlong record. ended: whether its end was reached."""
    more = "" if ended else "more than "
    return f"{more}{bytes} bytes, and input.max_record_bytes allows {most}"


def too_much_text(file: dict, line: int, most_text_bytes: int) -> str:
    """Describe why reading a file of a part stopped."""
    return (
        f"{file['path']}:{line}: expected at most {most_text_bytes:,} bytes of text in one part, "
        f"found more. The {os.path.getsize(file['path']):,} bytes of the file expand more than "
        "text usually does. If the file is correct, unpack it, or raise input.part_bytes."
    )


def too_many_malformed(source: str, malformed: int, records: int, most: float) -> str | None:
    """Describe too many malformed records in a source; None if they are few enough.

    most: max_malformed_fraction.
    """
    if not malformed or malformed / records <= most:
        return None
    return (
        f"source {source}: {malformed} of {records} records are malformed, "
        f"but max_malformed_fraction allows only {most} of them."
    )
