"""Read input files as located records, by the endings of their names. Every fault is reported.

Users can add formats, see docs/how-to/extend.md.
"""

import functools
import hashlib
import importlib
import json
import math
import os
import pkgutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from corpusmill.messages.progress import Progress
from corpusmill.mill.read import formats as known
from corpusmill.mill.read.input_format import InputFormat, ReadOptions
from corpusmill.mill.read.json_records import fault_of_line
from corpusmill.mill.read.plugins import UsersCode, classes_in, loaded, one_line, place_of
from corpusmill.mill.read.records import Malformed, NormalRecord, Record
from corpusmill.mill.storage.regular_files import fault_of_kind
from corpusmill.mill.storage.streams import READ_LIMITS, ReadLimits, Seen

_END: Any = object()


class Reader:
    """The base class of users' formats, in a file of config `input.readers`."""

    ending: ClassVar[str]
    """The ending of file names, such as `.csv`."""
    text_per_byte: ClassVar[float] = 1.0
    """Bytes of text expected per byte of file, for planning parts."""

    def read(self, path: str, text_field: str, progress: Any) -> Iterator[Record | Malformed]:
        """Yield all records of a file in order, including malformed ones.

        Each has a line number or another rising number. Call progress.advance(n) after reading n
        bytes.
        """
        raise NotImplementedError


def record(line: int, text: str, members: dict[str, Any]) -> Record:
    """Make a record from a text and other members; ValueError or TypeError if JSON cannot hold
    these."""
    rest = json.dumps(members, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
        "utf-8"
    )
    return Record(line, text, rest[1:-1])


def own_readers(files: Sequence[str]) -> dict[str, tuple[Reader, str]]:
    """Return ending -> (reader, its file); ValueError if a file has no valid reader."""
    found: dict[str, tuple[Reader, str]] = {}
    for file in files:
        found_in = classes_in(loaded(file), Reader)
        classes = [one for one in found_in if one.read is not Reader.read]
        if not classes:
            raise ValueError(
                f"{file} has no subclass of Reader with a method read. Add such a class, or "
                "remove the file from input.readers."
            )
        for cls in classes:
            ending = getattr(cls, "ending", None)
            if not isinstance(ending, str) or not ending.startswith(".") or len(ending) < 2:
                raise ValueError(
                    f"{file}: {cls.__name__}.ending is {ending!r}, expected a text such as '.csv'."
                )
            others = [*built_in(), *found]
            if any(one.endswith(ending) or ending.endswith(one) for one in others):
                raise ValueError(f"{file}: files that end in {ending} already have a reader.")
            bytes_of_text = cls.text_per_byte
            if type(bytes_of_text) not in (int, float) or not 0 < bytes_of_text < math.inf:
                raise ValueError(
                    f"{file}: {cls.__name__}.text_per_byte is {bytes_of_text!r}, expected a number "
                    "above 0."
                )
            if cls.__init__ is not object.__init__:
                raise ValueError(
                    f"{file}: {cls.__name__} has a method __init__. Remove this method."
                )
            found[ending] = (cls(), file)
    return found


@functools.cache
def built_in() -> dict[str, InputFormat]:
    """Return ending -> format, for all formats in `formats/`."""
    found: dict[str, InputFormat] = {}
    for one in sorted(module.name for module in pkgutil.iter_modules(known.__path__)):
        module = importlib.import_module(f"{known.__name__}.{one}")
        classes = (cls for cls in classes_in(module, InputFormat) if "ending" in vars(cls))
        found |= {cls.ending: cls() for cls in classes}
    return found


def code_of_built_in() -> list[Path]:
    """Return the files of the built-in formats. Nothing imports them by name."""
    modules = (sys.modules[type(one).__module__] for one in built_in().values())
    return sorted({Path(str(module.__file__)) for module in modules})


def formats(files: Sequence[str] = ()) -> dict[str, InputFormat]:
    """Return ending -> format, for all readable formats. files: users' files."""
    users = {ending: _UsersFormat(*found) for ending, found in own_readers(files).items()}
    return built_in() | users


def format_of(path: str, among: Mapping[str, InputFormat] | None = None) -> InputFormat:
    """Return the format of a file by its name; ValueError if it is unknown.

    among: from `formats`; None: the built-in ones.
    """
    among = built_in() if among is None else among
    for ending, found in among.items():
        if str(path).endswith(ending):
            return found
    raise ValueError(
        f"{path}: expected a file name ending in {', '.join(among)}. "
        "Rename the file, correct sources[].files, or add a reader of your own to input.readers."
    )


def read_records(
    path: str,
    text_field: str,
    progress: Progress,
    keep_surrogates: bool = False,
    readers: Sequence[str] = (),
    seen: Seen | None = None,
    limits: ReadLimits = READ_LIMITS,
) -> Iterator[Record | Malformed]:
    """Yield all records of a file in order, including malformed ones.

    readers: users' files. The other parameters are those of ReadOptions.
    """
    if fault := fault_of_kind(path):
        raise ValueError(fault)
    options = ReadOptions(progress, keep_surrogates, limits, seen)
    return format_of(path, formats(readers)).records(path, text_field, options)


def read_normal_records(
    path: str,
    text_field: str,
    progress: Progress,
    mode: str,
    readers: Sequence[str],
    seen: Seen,
    limits: ReadLimits,
) -> Iterator[NormalRecord | Malformed]:
    """Yield all records as `read_records`, with normalized texts. mode: of `normalizer`."""
    if fault := fault_of_kind(path):
        raise ValueError(fault)
    options = ReadOptions(progress, mode == "ftfy", limits, seen)
    return format_of(path, formats(readers)).normal_records(path, text_field, options, mode)


class _UsersFormat(InputFormat):
    """The format of a user's reader, whose records are checked."""

    def __init__(self, reader: Reader, file: str) -> None:
        self.ending, self.text_per_byte = reader.ending, reader.text_per_byte
        self._reader, self._file = reader, file

    def read(
        self, path: str, text_field: str, options: ReadOptions
    ) -> Iterator[Record | Malformed]:
        return _checked(self._reader, self._file, path, text_field, options.progress)


def _checked(
    reader: Reader, file: str, path: str, text_field: str, progress: Progress
) -> Iterator[Record | Malformed]:
    """Yield the records of a user's reader; ValueError if one is invalid."""
    last = 0
    found: Iterator[Any] | None = None
    users_code = UsersCode(f"{file}, which reads {path}")
    while True:
        try:
            with users_code:
                if found is None:
                    found = iter(reader.read(path, text_field, progress))
                one = next(found, _END)
        except Exception as error:
            raise ValueError(
                f"{place_of(error, file)}: {one_line(error)}, reading {path} after record {last}"
            ) from error
        if one is _END:
            return
        if fault := _fault(one, last, text_field):
            raise ValueError(f"{file}: reading {path}: {fault}")
        last = one.line
        if isinstance(one, Record) and not _is_utf8(one.text):
            one = Malformed(one.line, None, "lone surrogate", repr(one.text[:80]))
        yield one


def _fault(one: Any, last: int, text_field: str) -> str | None:
    """Return what is wrong with an item that a reader gave after record number `last`."""
    if not isinstance(one, Record | Malformed):
        return f"expected a Record or Malformed, found {one!r}"
    if type(one.line) is not int or not last < one.line < 1 << 63:
        return f"record {one.line!r} follows record {last}: record numbers must increase"
    if isinstance(one, Malformed):
        if type(one.reason) is not str or type(one.start) is not str or not _is_utf8(one.reason):
            return f"reason and start of malformed record {one.line} must be texts"
    else:
        if type(one.text) is not str:
            return f"the text of record {one.line} is {type(one.text).__name__}, expected str"
        if type(one.rest) is not bytes or b"\n" in one.rest:
            return f"the other members of record {one.line} are not one line of JSON"
        members = b"," + one.rest if one.rest.strip() else b""
        line = b'{%s:""%s}' % (json.dumps(text_field).encode(), members)
        if reason := fault_of_line(line, text_field):
            return f"the other members of record {one.line} are not valid JSON: {reason}"
    return None


def _is_utf8(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


class SeenBytes:
    """Counts and digests the bytes of a file while it is read."""

    def __init__(self, file: dict) -> None:
        """file: with "source" and "path"."""
        self._file = file
        self._sha256 = hashlib.sha256()
        self._bytes = 0

    def update(self, data: bytes, /) -> None:
        self._sha256.update(data)
        self._bytes += len(data)

    def told(self) -> dict:
        """Return the account of the file, after reading."""
        source, path = self._file["source"], self._file["path"]
        sha256 = self._sha256.hexdigest()
        return {"source": source, "path": path, "bytes": self._bytes, "sha256": sha256}


def refuse_changed(file: dict) -> None:
    """Raise ValueError if a file changed since it was planned.

    file: "path", and "bytes" and "mtime_ns" as planned; None if a rule makes the file.
    """
    found = os.stat(file["path"])
    planned = file["bytes"], file["mtime_ns"]
    if planned != (None, None) and planned != (found.st_size, found.st_mtime_ns):
        raise ValueError(
            f"{file['path']}: expected {file['bytes']} bytes and the modification time from the "
            f"start of the run, found {found.st_size} bytes or a different modification time. The "
            "file changed while it was read: run again."
        )
