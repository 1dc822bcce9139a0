"""Final text shards: one JSON object per line (zstd), or Parquet.

A record is the document's text, its own fields untouched, and `corpusmill`: who it is.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from corpusmill.files import DigestingFile, file_sha256
from corpusmill.readers import joined_members, read_lines

WRITE_BYTES = 1 << 20
ZSTD_LEVEL = 3
ROW_GROUP = 4096
BATCH_BYTES = 16 << 20

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


def _write_jsonl(path: Path, rows: pa.Table, progress) -> Written:
    with open(path, "wb") as raw:
        file = DigestingFile(raw)
        with zstandard.ZstdCompressor(level=ZSTD_LEVEL).stream_writer(file, closefd=False) as zstd:
            lines: list[bytes] = []
            held = 0
            for batch in rows.to_batches(max_chunksize=1024):
                columns = (batch.column(name).to_pylist() for name in
                           ("text", "rest", "id", "copy", "source"))  # fmt: skip
                for row in zip(*columns, strict=True):
                    lines.append(record_line(*row))
                    held += len(lines[-1])
                    if held >= WRITE_BYTES:
                        zstd.write(b"".join(lines))
                        lines, held = [], 0
                progress.advance(batch.num_rows)
            zstd.write(b"".join(lines))
        return Written(file.bytes, file.sha256)


def _write_parquet(path: Path, rows: pa.Table, progress) -> Written:
    with pq.ParquetWriter(path, PARQUET_SCHEMA, compression="zstd") as writer:
        for batch in rows.to_batches(max_chunksize=ROW_GROUP):
            fields = [b"{%s}" % rest for rest in batch.column("rest").to_pylist()]
            columns = [batch.column(name) for name in ("text", "id", "copy", "source")]
            columns.append(pa.array([text.decode() for text in fields], pa.large_string()))
            writer.write_batch(pa.record_batch(columns, schema=PARQUET_SCHEMA))
            progress.advance(batch.num_rows)
    return Written(path.stat().st_size, file_sha256(path))


def write_shard(path: Path, format: str, rows: pa.Table, progress) -> Written:
    """Write the rows of a shard (scattering.SCHEMA), in their order, to `path`."""
    return {"jsonl.zst": _write_jsonl, "parquet": _write_parquet}[format](path, rows, progress)


def _read_jsonl(path: Path, progress) -> Iterator[Document]:
    for line in read_lines(str(path), progress):
        yield _document.decode(line)


def _read_parquet(path: Path, progress) -> Iterator[Document]:
    file = pq.ParquetFile(path)
    bytes_per_row = path.stat().st_size / max(file.metadata.num_rows, 1)
    for batch in file.iter_batches(ROW_GROUP, columns=["text", "id", "copy", "source"]):
        columns = (batch.column(name).to_pylist() for name in ("text", "id", "copy", "source"))
        for text, id, copy, source in zip(*columns, strict=True):
            yield Document(text, Origin(id, copy, source))
        progress.advance(int(batch.num_rows * bytes_per_row))


def read_shard(path: Path, progress) -> Iterator[Document]:
    """The documents of a text shard, in order."""
    path = Path(path)
    return (_read_parquet if path.suffix == ".parquet" else _read_jsonl)(path, progress)


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
