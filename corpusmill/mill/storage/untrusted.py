"""Read untrusted files: small files as a whole, JSON within bounds.

All small files of a finished corpus and of a results folder are read here. Uses only the standard
library, as `stream` must.
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
"""Maximum size in bytes of a file that is read as a whole. A manifest of 99,999 parts and as many
shards has 200 MB."""
MOST_VALUES = 10_000_000
"""Maximum number of values in a JSON text. Each value takes about 100 bytes of memory, however
short its text is."""
MOST_DEPTH = 64
LARGEST = 1 << 46
"""Largest count or size accepted. Sums of 99,999 such numbers fit into 64 bits."""


class NoJsonError(ValueError):
    """Raised for invalid JSON, or JSON beyond the bounds."""


def whole_file(path: Path | str, most: int = MOST_BYTES) -> bytes:
    """Return the content of a small file; ValueError if it is too large."""
    with open_regular(path) as file:
        if (size := os.fstat(file.fileno()).st_size) > most:
            raise too_large(path, most, f"{size:,}")
        # Files of /proc have size 0 and much content.
        return joined(iter(lambda: file.read(1 << 20), b""), path, most)


def joined(blocks: Iterable[bytes], where: object, most: int = MOST_BYTES) -> bytes:
    """Return blocks in one piece; ValueError as soon as they are too large."""
    found = bytearray()  # a list would take much more for a million blocks of one byte
    for block in blocks:
        found += block
        if len(found) > most:
            raise too_large(where, most, "more")
    return bytes(found)


def too_large(where: object, most: int, found: str) -> ValueError:
    return ValueError(f"{where}: expected at most {most:,} bytes, found {found}. Copy it again.")


def json_of(data: bytes | str, where: object) -> Any:
    """Return the value of a JSON text; NoJsonError if it is invalid, too large or too deep."""
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
    """Load the JSON of a small file without sums."""
    return json_of(whole_file(path), path)


def _values(data: bytes | str) -> int:
    """Return an upper bound of the number of values."""
    if isinstance(data, str):
        return sum(map(data.count, (",", "{", "[")))
    return sum(map(data.count, (b",", b"{", b"[")))


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a number")


def _finite(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise ValueError(f"{digits[:20]} is too large a number")
    return number


def _refuse_deep(value: Any) -> None:
    """Raise RecursionError for deep nesting. Goes level by level, because recursion would be as
    deep."""
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
    return NoJsonError(f"{where}: not JSON as corpusmill writes it ({found}). Copy it again.")


def is_count(value: Any, least: int = 0) -> bool:
    """Return whether a JSON value is a plausible number of files or bytes."""
    return type(value) is int and least <= value <= LARGEST


@contextlib.contextmanager
def read_as_written(where: object, *others: type[Exception]) -> Iterator[None]:
    """Raise one clear ValueError for any error caused by files that corpusmill did not write.

    Missing members, or members of the wrong type, cause errors anywhere in the code that uses them.
    others: errors that the caller handles.
    """
    sentences: tuple[type[Exception], ...] = (ValueError, OSError, *others)
    try:
        yield
    except BaseException as error:
        # Panics of Rust libraries are not Exceptions.
        told = isinstance(error, Exception) or type(error).__name__ == "PanicException"
        if (isinstance(error, sentences) and not _says_no_place(error)) or not told:
            raise
        said = (str(error).splitlines() or [""])[0][:200]
        raise ValueError(
            f"{where}: expected content written by corpusmill, found something else "
            f"({type(error).__name__}: {said}). Copy it again. If the file is unchanged, this is a "
            "bug in corpusmill: please report it."
        ) from error


def _says_no_place(error: BaseException) -> bool:
    """Return whether pyarrow raised the error. Its messages do not name the file."""
    at = error.__traceback__
    while at and at.tb_next:
        at = at.tb_next
    return at is not None and at.tb_frame.f_code.co_filename.startswith("pyarrow/")
