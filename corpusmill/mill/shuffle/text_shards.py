"""Final text shards: one JSON object per line (zstd), or Parquet.

A record has the document's text, its own fields unchanged, and `corpusmill` with its identity.
"""

import itertools
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import zstandard

from corpusmill.messages.progress import Progress
from corpusmill.mill.read.json_records import joined_members, raw_members
from corpusmill.mill.read.text_column import TextColumn, TextRows, string_array
from corpusmill.mill.storage.streams import lines_at, read_written_blocks
from corpusmill.mill.storage.sums import CheckedFile, SummedFile

WRITE_BYTES = 1 << 20
ZSTD_LEVEL = 1
ROW_GROUP = 4096
BATCH_BYTES = 4 << 20

ESCAPES = {b"\\": rb"\\", b'"': rb"\"", b"\n": rb"\n", b"\t": rb"\t", b"\r": rb"\r"}
"""Escapes in JSON strings, apart from those of rare control characters. The backslash is first."""

ESCAPED = np.frombuffer(b"".join(ESCAPES), np.uint8)
FIRST_PRINTABLE = 0x20

OUR_NAMES = ("text", "corpusmill")

COLUMNS = pa.schema(
    [
        ("text", pa.large_string()),
        ("id", pa.uint64()),
        ("copy", pa.uint16()),
        ("source", pa.string()),
    ]
)
"""Members of a final record that later steps read."""

_RECORD = pa.schema([COLUMNS.field("text"), ("corpusmill", pa.struct(list(COLUMNS)[1:]))])

OUR_COLUMNS = ("text", "fields", "corpusmill")
"""Columns that corpusmill defines in Parquet shards. Input members with these names go into
`fields`, as JSON."""


class Origin(msgspec.Struct):
    """The `corpusmill` member of a final record."""

    id: int
    copy: int
    source: str


class Document(msgspec.Struct):
    """A record with the members of COLUMNS."""

    text: str
    corpusmill: Origin


class Written(NamedTuple):
    """A finished shard file."""

    bytes: int
    sha256: str


_document = msgspec.json.Decoder(Document)


def _moved_to_before(rest: bytes) -> tuple[bytes, bytes]:
    """Return the rest without members of our names, and these as `"before":{...}`, or b""."""
    members = raw_members(b"{%s}" % rest)
    taken = {name: members.pop(name) for name in OUR_NAMES if name in members}
    if not taken:
        return rest, b""
    return joined_members(members), b',"before":{%s}' % joined_members(taken)


def has_rare_control(texts: TextColumn) -> np.ndarray:
    """Return bool (documents,): whether a text has a control character that is not in ESCAPES."""
    start = texts.offsets[0]
    data = texts.data[start : texts.offsets[-1]]
    places = np.flatnonzero(data < FIRST_PRINTABLE)
    rare = places[~np.isin(data[places], ESCAPED)]
    found = np.zeros(texts.offsets.size - 1, bool)
    found[np.searchsorted(texts.offsets, start + rare, "right") - 1] = True
    return found


def escaped(text: bytes, rare_control: bool) -> bytes:
    """Return a text as in a JSON string, without quotes. rare_control: from `has_rare_control`."""
    if rare_control:
        return msgspec.json.encode(str(text, "utf-8"))[1:-1]
    # Three times as fast as msgspec, with the same bytes.
    for character, escape in ESCAPES.items():
        text = text.replace(character, escape)
    return text


def record_line(
    text: bytes, rest: bytes, id: int, copy: int, source: str
) -> tuple[bytes, bytes, bytes]:
    """Return `{"text":...,<unchanged rest>,"corpusmill":{"id":...,"copy":...,"source":...}}` in
    pieces, so that a long text is not copied.

    text: from `escaped`. Input members named `text` or `corpusmill` (a title beside the text field,
    or from an earlier run) move to `before` in `corpusmill`.
    """
    before = b""
    if b'"text":' in rest or b'"corpusmill":' in rest:
        rest, before = _moved_to_before(rest)
    end = b'"%s%s,"corpusmill":{"id":%d,"copy":%d,"source":%s%s}}\n' % (
        b"," if rest else b"",
        rest,
        id,
        copy,
        msgspec.json.encode(source),
        before,
    )
    return b'{"text":"', text, end


def _records(rows: pa.Table, order: np.ndarray) -> Iterator[tuple[bytes, bytes, int, int, str]]:
    """Yield text, rest, id, copy and source of each row, in the given order."""
    # Not rows.take(order): it would copy every text twice, to combine chunks and to reorder.
    plain = (rows.column(name).to_numpy()[order].tolist() for name in ("id", "copy"))
    sources = rows.column("source").to_pylist()
    yield from zip(
        map(bytes, TextRows(rows.column("text"))[order]),
        map(bytes, TextRows(rows.column("rest"))[order]),
        *plain,
        (sources[row] for row in order.tolist()),
        strict=True,
    )


def _write_jsonl(
    file: SummedFile,
    records: Iterator[tuple],
    rare_controls: Iterator[bool],
    progress: Progress,
) -> None:
    packing = zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_checksum=True)
    with packing.stream_writer(file, closefd=False) as zstd:  # type: ignore[arg-type]
        pieces: list[bytes] = []
        held = rows = 0
        for (text, *others), rare in zip(records, rare_controls, strict=True):
            line = record_line(escaped(text, rare), *others)
            pieces += line
            held += sum(map(len, line))
            rows += 1
            if held >= WRITE_BYTES:
                zstd.write(b"".join(pieces))
                progress.advance(rows)
                pieces, held, rows = [], 0, 0
        zstd.write(b"".join(pieces))
        progress.advance(rows)


def _write_parquet(
    file: SummedFile, columns: pa.Schema, records: Iterator[tuple], progress: Progress
) -> None:
    # Imported here, as it takes 0.03 s that JSON shards do not need.
    import pyarrow.parquet as pq

    from corpusmill.mill.read.typed_columns import typed

    schema = pa.schema(
        [
            _RECORD.field("text"),
            *columns,
            ("fields", pa.large_string()),
            _RECORD.field("corpusmill"),
        ]
    )
    origin = schema.field("corpusmill").type
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        while group := list(itertools.islice(records, ROW_GROUP)):
            text, rest, *ours = zip(*group, strict=True)
            members, others = typed(rest, columns)
            arrays = [
                pa.array(values, field.type) for values, field in zip(ours, origin, strict=True)
            ]
            row = [
                string_array(text),
                *members,
                pa.array([b"{%s}" % one for one in others], pa.large_binary()).cast(
                    pa.large_string()
                ),
                pa.StructArray.from_arrays(arrays, fields=list(origin)),
            ]
            writer.write_batch(pa.record_batch(row, schema))
            progress.advance(len(group))


def write_shard(
    file: SummedFile,
    columns: pa.Schema | None,
    rows: pa.Table,
    order: np.ndarray,
    progress: Progress,
) -> Written:
    """Write the rows of a shard (scattering.SCHEMA) in the given order.

    columns: of the members of records in a Parquet shard; None for JSON lines.
    """
    records = _records(rows, order)
    if columns is None:
        found = [has_rare_control(TextColumn.of(chunk)) for chunk in rows.column("text").chunks]
        rare_controls = np.concatenate([np.zeros(0, bool), *found])[order]
        _write_jsonl(file, records, iter(rare_controls.tolist()), progress)
    else:
        _write_parquet(file, columns, records, progress)
    return Written(file.bytes, file.sha256)


def _read_jsonl(path: Path, progress: Progress, rows: Container[int]) -> Iterator[Document | None]:
    for line in lines_at(read_written_blocks(path, progress), rows):
        yield None if line is None else _document.decode(line)


def columns_of_parquet(file: Any) -> Iterator[pa.RecordBatch]:
    """Yield COLUMNS of a Parquet shard in batches. file: a pyarrow ParquetFile."""
    for batch in file.iter_batches(ROW_GROUP, columns=_RECORD.names):
        columns = [batch.column("text"), *batch.column("corpusmill").flatten()]
        yield pa.record_batch(columns, COLUMNS)


def _parquet_batches(path: Path, progress: Progress) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(CheckedFile(path))
    bytes_per_row = path.stat().st_size / max(file.metadata.num_rows, 1)
    for batch in columns_of_parquet(file):
        yield batch
        progress.advance(int(batch.num_rows * bytes_per_row))


def _read_parquet(
    path: Path, progress: Progress, rows: Container[int]
) -> Iterator[Document | None]:
    first = 0
    for batch in _parquet_batches(path, progress):
        columns = (column.to_pylist() for column in batch.columns)
        for row, (text, id, copy, source) in enumerate(zip(*columns, strict=True), first):
            yield Document(text, Origin(id, copy, source)) if row in rows else None
        first += batch.num_rows


EVERY_ROW = range(1 << 62)


def read_shard(
    path: Path, progress: Progress, rows: Container[int] = EVERY_ROW
) -> Iterator[Document | None]:
    """Yield the documents of a text shard in order; None for those not in `rows`."""
    path = Path(path)
    return (_read_parquet if path.suffix == ".parquet" else _read_jsonl)(path, progress, rows)


def _whole_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the same bytes in pieces of about BATCH_BYTES that end at line ends."""
    held: list[bytes] = []
    size = 0
    for block in blocks:
        end = block.rfind(b"\n") + 1 if size + len(block) >= BATCH_BYTES else 0
        if end:
            yield b"".join([*held, block[:end]])
            held, size, block = [], 0, block[end:]
        held.append(block)
        size += len(block)
    if last := b"".join(held):
        yield last


def _parsed(lines: bytes) -> list[pa.ChunkedArray]:
    """Return COLUMNS of whole lines; raise if Arrow's parser is stricter than JSON."""
    import pyarrow.json as pj  # only steps that read whole shards need it

    whole = pj.ReadOptions(use_threads=False, block_size=len(lines) + 1)
    known = pj.ParseOptions(explicit_schema=_RECORD, unexpected_field_behavior="ignore")
    # ASSUME texts are UTF-8, which Arrow does not check: normalize wrote them as UTF-8.
    found = pj.read_json(pa.BufferReader(lines), whole, known)
    columns = [found.column("text"), *found.column("corpusmill").flatten()]
    if any(column.null_count for column in columns):
        raise pa.ArrowInvalid("a member is missing")
    return columns


def _columns(lines: bytes) -> pa.Table:
    """Return the records of whole lines as a table of COLUMNS."""
    try:
        columns = _parsed(lines)
    except (pa.ArrowInvalid, OverflowError):
        # The data may be valid: 1e999 in another field exceeds a double, or the block exceeds 2 GB.
        # If it is not, this decoder raises.
        found = [_document.decode(line) for line in lines.rstrip(b"\n").split(b"\n")]
        origins = [document.corpusmill for document in found]
        columns = [
            [document.text for document in found],
            *([getattr(origin, name) for origin in origins] for name in COLUMNS.names[1:]),
        ]
    return pa.table(columns, COLUMNS)


def columns_of_lines(blocks: Iterator[bytes]) -> Iterator[pa.Table]:
    """Yield documents of decompressed JSON lines as tables of COLUMNS of about BATCH_BYTES."""
    yield from map(_columns, _whole_lines(blocks))


def in_pieces(batch: pa.RecordBatch) -> Iterator[pa.Table]:
    """Yield COLUMNS of a row group as tables of about BATCH_BYTES."""
    ends = np.cumsum(TextColumn.of(batch.column("text")).sizes())
    marks = np.arange(BATCH_BYTES, ends[-1] if ends.size else 0, BATCH_BYTES)
    firsts = np.unique([0, *np.searchsorted(ends, marks, "right")])
    for first, last in itertools.pairwise([*firsts, batch.num_rows]):
        yield pa.Table.from_batches([batch.slice(first, last - first)])
