"""Input files as located records; a file that ends too early is an error, never a shorter file."""

import functools
import json
import os
import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec
import zstandard

BLOCK_BYTES = 1 << 18
MAX_WINDOW = 1 << 31  # what `zstd --long=31` writes, as large public dumps do
PARQUET_ROWS = 64  # at once: a row may be a book
FORMATS = {".jsonl": 1.0, ".jsonl.zst": 4.0, ".jsonl.gz": 4.0, ".parquet": 3.0}
"""File name endings that can be read, and the bytes of text expected per byte of file."""

LONE_SURROGATE = "a lone surrogate in a field: not valid Unicode"

_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_string = msgspec.json.Decoder(str)


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


def format_of(path: str) -> str:
    """The ending of FORMATS that a file name has."""
    for ending in FORMATS:
        if str(path).endswith(ending):
            return ending
    raise ValueError(
        f"{path}: expected a file name ending in {', '.join(FORMATS)}. "
        "Rename the file or correct sources[].files."
    )


def _stored_blocks(file, progress) -> Iterator[bytes]:
    while block := file.read(BLOCK_BYTES):
        yield block
        progress.advance(len(block))


def _not_empty(path: str, stored: Iterator[bytes]) -> Iterator[bytes]:
    """The same blocks; raises if there are none, as no compressed file is."""
    first = next(stored, None)
    if first is None:
        raise ValueError(f"{path}: no bytes at all, not even of an empty file. Fetch it again.")
    yield first
    yield from stored


class Packing(NamedTuple):
    """A compressed format: a file is one piece after another, each whole by itself."""

    name: str
    piece: str
    start: Callable  # makes what unpacks one piece
    error: type[Exception]
    padded: bool  # zeros after the last piece are allowed, as tape blocks have them


ZSTD = Packing(
    name="zstd",
    piece="frame",
    start=lambda: zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW).decompressobj(),
    error=zstandard.ZstdError,
    padded=False,
)
GZIP = Packing(
    name="gzip",
    piece="member",
    start=lambda: zlib.decompressobj(wbits=31),
    error=zlib.error,
    padded=True,
)


def _unpacked(packing: Packing, path: str, stored: Iterator[bytes]) -> Iterator[bytes]:
    """The content of all pieces; raises where one is damaged or cut off."""
    piece = None
    offset = 0
    for block in _not_empty(path, stored):
        while block:
            if piece is None:
                if packing.padded and not block.strip(b"\0"):
                    break
                piece = packing.start()
            try:
                yield piece.decompress(block)
            except packing.error as error:
                raise ValueError(
                    f"{path}: damaged {packing.name} data in the {BLOCK_BYTES} bytes from byte "
                    f"{offset} on ({error}). Fetch the file again."
                ) from error
            offset += len(block) - len(piece.unused_data)
            block = piece.unused_data
            if piece.eof:
                piece = None
    if piece is not None:
        raise ValueError(
            f"{path}: the {packing.name} stream is cut off at byte {offset}, inside a "
            f"{packing.piece}. Fetch the file again."
        )


def _plain_blocks(path: str, stored: Iterator[bytes]) -> Iterator[bytes]:
    yield from stored


_BLOCKS = {
    ".jsonl": _plain_blocks,
    ".jsonl.zst": functools.partial(_unpacked, ZSTD),
    ".jsonl.gz": functools.partial(_unpacked, GZIP),
}


def _lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The lines of a byte stream without their ends; a last line needs no end."""
    open_line: list[bytes] = []
    for block in blocks:
        first, *others = block.split(b"\n")
        open_line.append(first)
        if others:
            yield b"".join(open_line)
            yield from others[:-1]
            open_line = [others[-1]]
    if last := b"".join(open_line):
        yield last


def read_blocks(path: str, progress) -> Iterator[bytes]:
    """The content of a .jsonl, .jsonl.zst or .jsonl.gz file, every byte of it accounted for."""
    with open(path, "rb") as file:
        yield from _BLOCKS[format_of(path)](path, _stored_blocks(file, progress))


def read_lines(path: str, progress) -> Iterator[bytes]:
    """The lines of such a file."""
    return _lines(read_blocks(path, progress))


def _refuse_constant(name: str):
    raise ValueError(f"{name} is not a JSON value")


_strict = json.JSONDecoder(parse_constant=_refuse_constant)


def _why_malformed(line: bytes, text_field: str) -> str:
    """The reason in words, found the slow way. Only bad records come here."""
    if not line.strip():
        return "blank line"
    if line.startswith(b"\xef\xbb\xbf"):
        return "a byte order mark (EF BB BF) before the record; JSON has none"
    try:
        value = _strict.decode(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        return f"not UTF-8 at byte {error.start} of the line"
    except ValueError as error:
        return f"not JSON: {error}"
    except RecursionError:
        return "nested too deeply"
    if not isinstance(value, dict):
        return f"expected a JSON object, found {type(value).__name__}"
    if text_field not in value:
        return f'no "{text_field}" field'
    if not isinstance(value[text_field], str):
        return f'"{text_field}" is {type(value[text_field]).__name__}, not a string'
    return LONE_SURROGATE


def joined_members(members: dict[str, msgspec.Raw]) -> bytes:
    """Raw members as they stand between the braces of a JSON object."""
    return b",".join(_encoded_name(name) + raw for name, raw in members.items())


@functools.lru_cache(1024)
def _encoded_name(name: str) -> bytes:
    return msgspec.json.encode(name) + b":"


def _rest(members: dict[str, msgspec.Raw]) -> bytes:
    """`joined_members`; raises UnicodeDecodeError if they, copied unparsed, are not UTF-8."""
    rest = joined_members(members)
    if not rest.isascii():
        rest.decode("utf-8")
    return rest


def _lone_surrogates_kept(line: bytes, text_field: str) -> tuple[str, bytes] | None:
    """A record whose only fault is lone surrogates in its text, for a mode that mends them.

    The members are cut out of the line by hand, so the others stay as they are, byte for byte.
    """
    source = line.decode("utf-8")
    members: dict[str, str] = {}
    at = source.index("{") + 1
    while True:
        start = source.index('"', at)
        name, colon = _strict.raw_decode(source, start)
        value = source.index(":", colon) + 1
        while source[value] in " \t\r\n":
            value += 1
        _, at = _strict.raw_decode(source, value)
        members[name] = source[value:at]
        while source[at] in " \t\r\n":
            at += 1
        if source[at] == "}":
            break
    text = json.loads(members.pop(text_field))
    try:
        raw = {name: msgspec.Raw(value.encode("utf-8")) for name, value in members.items()}
        rest = joined_members(raw)
        _members.decode(b"{%s}" % rest)
    except (msgspec.MsgspecError, UnicodeEncodeError):
        return None  # another field has a fault as well
    return text, rest


def _json_records(
    path: str, text_field: str, keep_surrogates: bool, progress
) -> Iterator[Record | Malformed]:
    offset = 0
    for number, line in enumerate(read_lines(path, progress), 1):
        try:
            members = _members.decode(line)
            text = _string.decode(members.pop(text_field))
            yield Record(number, text, _rest(members))
        except (msgspec.MsgspecError, UnicodeDecodeError, KeyError, RecursionError):
            reason = _why_malformed(line, text_field)
            mended = None
            if keep_surrogates and reason == LONE_SURROGATE:
                mended = _lone_surrogates_kept(line, text_field)
            if mended:
                yield Record(number, *mended)
            else:
                start = line[:80].decode("utf-8", "backslashreplace")
                yield Malformed(number, offset, reason, start)
        offset += len(line) + 1


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


def _parquet_records(path: str, text_field: str, progress) -> Iterator[Record | Malformed]:
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


def read_records(
    path: str, text_field: str, progress, keep_surrogates: bool = False
) -> Iterator[Record | Malformed]:
    """Every record of a file in its order, the malformed ones too.

    keep_surrogates: also accept texts with lone surrogates, which cannot be written as UTF-8;
    the caller mends them.
    """
    if format_of(path) == ".parquet":
        return _parquet_records(path, text_field, progress)
    return _json_records(path, text_field, keep_surrogates, progress)


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
