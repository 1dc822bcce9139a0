"""Files that a stranger may have made: small ones read whole, JSON parsed within bounds.

Every small file of a finished corpus and of a results folder is read through here. Needs nothing
but Python, as `stream` has no more.
"""

import contextlib
import json
import math
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from corpusmill.mill.storage.regular_files import open_regular

MOST_BYTES = 1 << 29
"""Of a file that is read whole. The manifest of 99,999 parts and as many shards has 200 MB."""
MOST_VALUES = 10_000_000
"""Of JSON: each takes some 100 bytes of memory, however short it is written."""
MOST_DEPTH = 64
LARGEST = 1 << 46
"""Of every count and size; sums of 99,999 of them are 64-bit numbers still."""


class NoJsonError(ValueError):
    """What should be JSON is none, or none within bounds."""


def whole_file(path: Path | str, most: int = MOST_BYTES) -> bytes:
    """The content of a small file; ValueError if it is a large one."""
    with open_regular(path) as file:
        if (size := os.fstat(file.fileno()).st_size) > most:
            raise too_large(path, most, f"{size:,}")
        # Files of /proc have no size and are long.
        return joined(iter(lambda: file.read(1 << 20), b""), path, most)


def joined(blocks: Iterable[bytes], where: object, most: int = MOST_BYTES) -> bytes:
    """Blocks in one piece; ValueError as soon as they are too many."""
    found = bytearray()  # of a million blocks of a byte, a list would hold much more
    for block in blocks:
        found += block
        if len(found) > most:
            raise too_large(where, most, "more")
    return bytes(found)


def too_large(where: object, most: int, found: str) -> ValueError:
    return ValueError(f"{where}: expected {most:,} bytes at most, found {found}. Copy it again.")


def json_of(data: bytes | str, where: object) -> Any:
    """The value that JSON says; ValueError where it is none, too much, or too deep for a reader."""
    try:
        if _values(data) > MOST_VALUES:
            raise ValueError(f"more than {MOST_VALUES:,} values")
        found = json.loads(data, parse_constant=_no_number, parse_float=_finite)
        _refuse_deep(found)
    except RecursionError:
        raise _no_json(where, f"more than {MOST_DEPTH} levels") from None
    except ValueError as error:
        raise _no_json(where, str(error)) from error
    return found


def load_plain_json(path: Path | str) -> Any:
    """The JSON of a small file that no sums lie beside."""
    return json_of(whole_file(path), path)


def _values(data: bytes | str) -> int:
    """At least as many as there are values."""
    if isinstance(data, str):
        return sum(map(data.count, (",", "{", "[")))
    return sum(map(data.count, (b",", b"{", b"[")))


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _finite(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise ValueError(f"{digits[:20]} is too large a number")
    return number


def _refuse_deep(value: Any) -> None:
    """Level by level: a function that calls itself would go as deep."""
    level = [value] if type(value) in (dict, list) else []
    for _ in range(MOST_DEPTH):
        level = [
            one
            for outer in level
            for one in (outer.values() if type(outer) is dict else outer)
            if type(one) in (dict, list)
        ]
    if level:
        raise RecursionError


def _no_json(where: object, found: str) -> NoJsonError:
    return NoJsonError(f"{where}: no JSON as corpusmill writes it ({found}). Copy it again.")


def is_count(value: Any, least: int = 0) -> bool:
    """Whether a value from JSON is a whole number that some files or bytes can have."""
    return type(value) is int and least <= value <= LARGEST


@contextlib.contextmanager
def read_as_written(where: object, *others: type[Exception]) -> Iterator[None]:
    """One sentence for whatever comes of files that are not what corpusmill writes.

    Members that are not there or of another type show in the middle of what uses them. others: what
    the caller knows.
    """
    sentences: tuple[type[Exception], ...] = (ValueError, OSError, *others)
    try:
        yield
    except BaseException as error:
        # Where a library in Rust gives up, what it raises is no Exception.
        told = isinstance(error, Exception) or type(error).__name__ == "PanicException"
        if (isinstance(error, sentences) and not _says_no_place(error)) or not told:
            raise
        said = (str(error).splitlines() or [""])[0][:200]
        raise ValueError(
            f"{where}: expected what corpusmill writes, found something else "
            f"({type(error).__name__}: {said}). Copy it again; if it is as it was written, this is "
            "a fault of corpusmill: please report it."
        ) from error


def _says_no_place(error: BaseException) -> bool:
    """Whether pyarrow raised it, which does not say of which file."""
    at = error.__traceback__
    while at and at.tb_next:
        at = at.tb_next
    return at is not None and at.tb_frame.f_code.co_filename.startswith("pyarrow/")
