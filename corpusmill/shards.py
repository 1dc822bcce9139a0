"""Final text shards: one JSON object per line (zstd), or Parquet.

A record is the document's text, its own fields untouched, and `corpusmill`: who it is.
"""

import itertools
from collections.abc import Container, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from corpusmill.files import DigestingFile, file_sha256
from corpusmill.readers import joined_members, read_lines
from corpusmill.texts import TextColumn

WRITE_BYTES = 1 << 20
ZSTD_LEVEL = 3
ROW_GROUP = 4096
BATCH_BYTES = 4 << 20

OUR_NAMES = ("text", "corpusmill")

PARQUET_SCHEMA = pa.schema(
    [
        ("text", pa.large_string()),
        ("id", pa.uint64()),
        ("copy", pa.uint16()),
        ("source", pa.string()),
        ("fields", pa.large_string()),
    ]
)


class Origin(msgspec.Struct):
    """The `corpusmill` member of a final record."""

    id: int
    copy: int
    source: str


class Document(msgspec.Struct):
    """What the later steps read of a final record."""

    text: str
    corpusmill: Origin


class Written(NamedTuple):
    """A finished shard file."""

    bytes: int
    sha256: str


_document = msgspec.json.Decoder(Document)
_members = msgspec.json.Decoder(dict[str, msgspec.Raw])


def _moved_to_before(rest: bytes) -> tuple[bytes, bytes]:
    """The rest without members that carry our names, and these as `"before":{...}`, or b""."""
    members = _members.decode(b"{%s}" % rest)
    taken = {name: members.pop(name) for name in OUR_NAMES if name in members}
    if not taken:
        return rest, b""
    return joined_members(members), b',"before":{%s}' % joined_members(taken)


def record_line(text: str, rest: bytes, id: int, copy: int, source: str) -> bytes:
    """`{"text":...,<the rest as it was>,"corpusmill":{"id":...,"copy":...,"source":...}}`

    Members of the input record that are called `text` or `corpusmill` themselves (a title beside
    the text field, the mark of an earlier run) move to `before` in ours.
    """
    before = b""
    if b'"text":' in rest or b'"corpusmill":' in rest:
        rest, before = _moved_to_before(rest)
    return b'{"text":%s%s%s,"corpusmill":{"id":%d,"copy":%d,"source":%s%s}}\n' % (
        msgspec.json.encode(text),
        b"," if rest else b"",
        rest,
        id,
        copy,
        msgspec.json.encode(source),
        before,
    )


def _slices(rows: pa.Table, name: str, order: np.ndarray) -> Iterator[memoryview]:
    """The bytes of a large_string or large_binary column in another order, nothing copied."""
    columns = [TextColumn.of(chunk) for chunk in rows.column(name).chunks]
    data = [memoryview(column.data) for column in columns]
    bounds = [column.offsets.tolist() for column in columns]
    firsts = np.cumsum([0] + [column.offsets.size - 1 for column in columns])
    chunk = np.searchsorted(firsts, order, "right") - 1
    for k, row in zip(chunk.tolist(), (order - firsts[chunk]).tolist(), strict=True):
        yield data[k][bounds[k][row] : bounds[k][row + 1]]


def _records(rows: pa.Table, order: np.ndarray) -> Iterator[tuple[str, bytes, int, int, str]]:
    """Text, rest, id, copy and source of each row, in the given order."""
    # No rows.take(order): it would copy every text twice, into one piece and into its order.
    plain = (rows.column(name).to_numpy()[order].tolist() for name in ("id", "copy"))
    sources = rows.column("source").to_pylist()
    yield from zip(
        (str(text, "utf-8") for text in _slices(rows, "text", order)),
        (bytes(rest) for rest in _slices(rows, "rest", order)),
        *plain,
        (sources[row] for row in order.tolist()),
        strict=True,
    )


def _write_jsonl(path: Path, records: Iterator[tuple], progress) -> Written:
    with open(path, "wb") as raw:
        file = DigestingFile(raw)
        with zstandard.ZstdCompressor(level=ZSTD_LEVEL).stream_writer(file, closefd=False) as zstd:
            lines: list[bytes] = []
            held = 0
            for record in records:
                lines.append(record_line(*record))
                held += len(lines[-1])
                if held >= WRITE_BYTES:
                    zstd.write(b"".join(lines))
                    progress.advance(len(lines))
                    lines, held = [], 0
            zstd.write(b"".join(lines))
            progress.advance(len(lines))
        return Written(file.bytes, file.sha256)


def _write_parquet(path: Path, records: Iterator[tuple], progress) -> Written:
    with pq.ParquetWriter(path, PARQUET_SCHEMA, compression="zstd") as writer:
        while group := list(itertools.islice(records, ROW_GROUP)):
            text, rest, id, copy, source = zip(*group, strict=True)
            fields = [(b"{%s}" % members).decode() for members in rest]
            columns = zip((text, id, copy, source, fields), PARQUET_SCHEMA, strict=True)
            writer.write_batch(
                pa.record_batch(
                    [pa.array(values, field.type) for values, field in columns], PARQUET_SCHEMA
                )
            )
            progress.advance(len(group))
    return Written(path.stat().st_size, file_sha256(path))


def write_shard(path: Path, format: str, rows: pa.Table, order: np.ndarray, progress) -> Written:
    """Write the rows of a shard (scattering.SCHEMA), in the given order, to `path`."""
    write = {"jsonl.zst": _write_jsonl, "parquet": _write_parquet}[format]
    return write(path, _records(rows, order), progress)


def _read_jsonl(path: Path, progress, rows: Container[int]) -> Iterator[Document | None]:
    for row, line in enumerate(read_lines(str(path), progress)):
        yield _document.decode(line) if row in rows else None


def _read_parquet(path: Path, progress, rows: Container[int]) -> Iterator[Document | None]:
    file = pq.ParquetFile(path)
    bytes_per_row = path.stat().st_size / max(file.metadata.num_rows, 1)
    first = 0
    for batch in file.iter_batches(ROW_GROUP, columns=["text", "id", "copy", "source"]):
        columns = (batch.column(name).to_pylist() for name in ("text", "id", "copy", "source"))
        for row, (text, id, copy, source) in enumerate(zip(*columns, strict=True), first):
            yield Document(text, Origin(id, copy, source)) if row in rows else None
        first += batch.num_rows
        progress.advance(int(batch.num_rows * bytes_per_row))


EVERY_ROW = range(1 << 62)


def read_shard(path: Path, progress, rows: Container[int] = EVERY_ROW) -> Iterator[Document | None]:
    """The documents of a text shard, in order; None for those that are not in `rows`."""
    path = Path(path)
    return (_read_parquet if path.suffix == ".parquet" else _read_jsonl)(path, progress, rows)


def in_batches(documents: Iterator[Document]) -> Iterator[list[Document]]:
    """The same documents in lists of about BATCH_BYTES of text."""
    batch: list[Document] = []
    held = 0
    for document in documents:
        batch.append(document)
        held += len(document.text)
        if held >= BATCH_BYTES:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch
