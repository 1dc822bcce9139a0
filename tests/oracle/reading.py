"""Records of an input file, well-formed or malformed, each with its place."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from oracle import parquet_values
from oracle.strict_json import (
    Member,
    NotJsonError,
    Parser,
    decode_string,
    encode_string,
    has_lone_surrogate,
)

TEXT_BYTES_PER_BYTE = {".jsonl": 1, ".jsonl.zst": 4, ".jsonl.gz": 4, ".parquet": 3}


class DamagedInputError(Exception):
    """A file that fails the run, and why."""


@dataclass
class Record:
    """One record. Of a malformed one `text` is None and `reason` says why."""

    line: int
    text: str | None = None
    rest: list[Member] | None = None
    offset: int | None = None
    start: str | None = None
    reason: str | None = None


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
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    offset = 0
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
    if not line.strip(b" \t\r\n"):
        return Record(0, reason="blank line")
    try:
        members = Parser(line.decode("utf-8")).members()
    except (UnicodeDecodeError, NotJsonError) as error:
        return Record(0, reason=str(error))
    names = [member.name for member, _ in members]
    if twice := [name for name in names if names.count(name) > 1]:
        return Record(0, reason=f'member "{twice[0]}" stands twice')
    texts = [member for member, _ in members if member.name == text_field]
    if not texts or not texts[0].raw.startswith('"'):
        return Record(0, reason="the text field is missing or no string")
    for member, strings in members:
        if mends_text and member.name == text_field:
            strings = []
        if any(has_lone_surrogate(string) for string in [member.name, *strings]):
            return Record(0, reason="half of a surrogate pair")
    rest = [member for member, _ in members if member.name != text_field]
    return Record(0, decode_string(texts[0].raw), rest)


def parquet_records(path: Path, text_field: str) -> Iterator[Record]:
    try:
        table = pq.ParquetFile(path).read()
    except (OSError, pa.ArrowInvalid) as error:
        raise DamagedInputError(f"{path}: {error}") from error
    if text_field not in table.column_names:
        raise DamagedInputError(f"{path}: no column {text_field}")
    if len(set(table.column_names)) < len(table.column_names):
        raise DamagedInputError(f"{path}: a column name stands twice")
    if not parquet_values.is_text(table.schema.field(text_field).type):
        for row in range(len(table)):
            start = str(table[text_field][row].as_py())[:80]
            yield Record(row + 1, reason="no text", start=start)
        return
    others = [name for name in table.column_names if name != text_field]
    for row in range(len(table)):
        text = table[text_field][row].as_py()
        if text is None:
            yield Record(row + 1, reason="null", start="None")
            continue
        values = [parquet_values.json_value(table[name][row]) for name in others]
        rest = [
            Member(name, encode_string(name), value)
            for name, value in zip(others, values, strict=True)
        ]
        yield Record(row + 1, text, rest)


def members_json(members: list[Member]) -> str:
    """The members as JSON without the braces."""
    return ",".join(f"{encode_string(member.name)}:{member.raw}" for member in members)
