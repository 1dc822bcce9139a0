"""Records of an input file, well-formed or malformed, each with its place."""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from qa.oracle import parquet_values
from qa.oracle.strict_json import (
    Member,
    NotJsonError,
    Parser,
    decode_string,
    encode_string,
    has_lone_surrogate,
    kind_of,
)

TEXT_BYTES_PER_BYTE = {".jsonl": 1, ".jsonl.zst": 4, ".jsonl.gz": 4, ".parquet": 3}
MOST_LEVELS = 500
MARK = b"\xef\xbb\xbf"
TOO_DEEP = "nested too deeply"


class DamagedInputError(Exception):
    """A file that fails the run, and why."""


class MalformedError(Exception):
    """Why a record is malformed, in the words of the documentation."""

    def __init__(self, reason: str, or_reason: str | None = None):
        super().__init__(reason)
        self.or_reason = or_reason


@dataclass
class Record:
    """One record. Of a malformed one `text` is None and `reason` says why."""

    line: int
    text: str | None = None
    rest: list[Member] | None = None
    offset: int | None = None
    start: str | None = None
    reason: str | None = None
    or_reason: str | None = None  # what may be said as well


def ending(path: str) -> str:
    return next(known for known in TEXT_BYTES_PER_BYTE if path.endswith(known))


def read_records(path: Path, text_field: str, mends_text: bool) -> Iterator[Record]:
    """All records of a file in their order; `mends_text`: half surrogate pairs may be in a text."""
    kind = ending(str(path))
    if kind == ".parquet":
        yield from parquet_records(path, text_field)
        return
    data = path.read_bytes()
    if kind == ".jsonl.zst":
        data = unpack(path, data, zstd_frame)
    if kind == ".jsonl.gz":
        data = unpack(path, data, gzip_member)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DamagedInputError(f"{path}: UTF-16")
    offset = len(MARK) if data.startswith(MARK) else 0
    lines = data.split(b"\n")
    lines[0] = lines[0][offset:]
    if lines[-1] == b"" and not (offset and len(lines) == 1):
        lines.pop()
    for number, line in enumerate(lines, 1):
        record = json_record(line, text_field, mends_text)
        record.line, record.offset, record.start = number, offset, shown(line)
        yield record
        offset += len(line) + 1


def shown(line: bytes) -> str:
    return line[:80].decode("utf-8", "backslashreplace")


def zstd_frame():
    return zstandard.ZstdDecompressor().decompressobj()


def gzip_member():
    return zlib.decompressobj(wbits=31)


def unpack(path: Path, data: bytes, new_frame) -> bytes:
    """All frames or members of a file, one behind the other."""
    found = []
    if not data:
        raise DamagedInputError(f"{path}: 0 bytes")
    while data.strip(b"\0"):
        frame = new_frame()
        try:
            found.append(frame.decompress(data))
        except (zlib.error, zstandard.ZstdError) as error:
            raise DamagedInputError(f"{path}: {error}") from error
        if not frame.eof:
            raise DamagedInputError(f"{path}: ends inside a frame")
        data = frame.unused_data
    return b"".join(found)


def json_record(line: bytes, text_field: str, mends_text: bool) -> Record:
    try:
        return sound_record(line, text_field, mends_text)
    except MalformedError as error:
        return Record(0, reason=str(error), or_reason=error.or_reason)


def sound_record(line: bytes, text_field: str, mends_text: bool) -> Record:
    """The record of a line; its faults are looked for in the order that is documented."""
    if not line.strip():
        raise MalformedError("blank line")
    if line.startswith(MARK):
        raise MalformedError("a byte order mark (EF BB BF) before the record; JSON has none")
    try:
        parser = Parser(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise MalformedError(f"not UTF-8 at byte {error.start} of the line") from error
    try:
        kind, members = parser.whole()
    except NotJsonError as error:
        # Whoever gives up at too many levels has not seen a fault behind them.
        or_reason = TOO_DEEP if parser.levels > MOST_LEVELS else None
        raise MalformedError(f"not JSON: {error}", or_reason) from error
    if parser.levels > MOST_LEVELS:
        raise MalformedError(TOO_DEEP)
    if kind != "an object":
        raise MalformedError(f"expected a JSON object, found {kind}")
    seen: set[str] = set()
    for member, _ in members:
        if member.name in seen:
            raise MalformedError(f"member {name_json(member.name)} stands twice")
        seen.add(member.name)
    text = next((member.raw for member, _ in members if member.name == text_field), None)
    if text is None:
        raise MalformedError(f"no {encode_string(text_field)} field")
    if kind_of(text) != "a string":
        raise MalformedError(f"{encode_string(text_field)} is {kind_of(text)}, not a string")
    for member, strings in members:
        mended = mends_text and member.name == text_field
        if any(map(has_lone_surrogate, [member.name] if mended else [member.name, *strings])):
            raise MalformedError("a lone surrogate in the record: not valid Unicode")
    rest = [member for member, _ in members if member.name != text_field]
    return Record(0, decode_string(text), rest)


def parquet_records(path: Path, text_field: str) -> Iterator[Record]:
    try:
        table = pq.ParquetFile(path).read()
        parquet_values.refuse_doubled_names(table.schema)
    except (OSError, pa.ArrowInvalid, ValueError) as error:
        raise DamagedInputError(f"{path}: {error}") from error
    if text_field not in table.column_names:
        raise DamagedInputError(f"{path}: no column {text_field}")
    for row in range(len(table)):
        values = {name: table[name][row] for name in table.column_names}
        try:
            yield parquet_record(row + 1, values, text_field)
        except parquet_values.NoTextError as error:
            raise DamagedInputError(f"{path}: row {row + 1}: {error}") from error


def parquet_record(row: int, values: dict[str, pa.Scalar], text_field: str) -> Record:
    try:
        written = {name: parquet_values.json_value(value) for name, value in values.items()}
    except UnicodeDecodeError as error:
        return Record(row, start="", reason=f"not UTF-8 ({error})")
    start = written.pop(text_field)[:80]
    text = values[text_field]
    is_text = parquet_values.is_text(text.type) or parquet_values.is_bytes(text.type)
    if is_text and text.is_valid:
        members = [Member(name, encode_string(name), value) for name, value in written.items()]
        plain = text.as_py()
        try:
            plain = plain if isinstance(plain, str) else plain.decode()
        except UnicodeDecodeError as error:
            return Record(row, start="", reason=f"not UTF-8 ({error})")
        return Record(row, plain, members)
    kind = "null" if is_text else text.type
    reason = f"{encode_string(text_field)} is {kind}, not a string"
    return Record(row, start=start, reason=reason)


def name_json(name: str) -> str:
    """As JSON, half surrogate pairs as escapes."""
    return re.sub("[\ud800-\udfff]", lambda m: f"\\u{ord(m[0]):04x}", encode_string(name))


def members_json(members: list[Member]) -> str:
    """The members as JSON without the braces."""
    return ",".join(f"{encode_string(member.name)}:{member.raw}" for member in members)
