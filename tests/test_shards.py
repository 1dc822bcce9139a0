"""Final text shards: the text, its own fields untouched, and who it is."""

import hashlib
import itertools
import json
import tempfile
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from handmade import write_bytes
from hypothesis import example, given
from hypothesis import strategies as st

from corpusmill.mill.read.text_column import TextColumn
from corpusmill.mill.shuffle import text_shards as shards
from corpusmill.mill.shuffle.scattering import SCHEMA
from corpusmill.mill.shuffle.text_shards import (
    COLUMNS,
    Document,
    Origin,
    columns_of_lines,
    columns_of_parquet,
    escaped,
    has_rare_control,
    in_pieces,
    read_shard,
    record_line,
    write_shard,
)
from corpusmill.mill.storage.files import writing
from corpusmill.mill.storage.streams import read_written_blocks
from corpusmill.mill.storage.sums import CheckedFile, DamagedError
from corpusmill.run.job_progress import phase

FORMATS = ["jsonl.zst", "parquet"]
RARE_CONTROLS = {chr(code) for code in range(0x20)} - set("\n\t\r")
COLUMNS_OF = {"jsonl.zst": None, "parquet": pa.schema([("n", pa.int64())])}
ROWS = [
    # key, id, copy, source, text, rest
    (3, 7, 0, "a", "first", b'"n":1.0e5,"m":12345678901234567890'),
    (1, 1 << 33, 2, "a", "", b""),
    (2, 9, 0, "ä", '水 😀 "\\/\n\x00\u2028', rb'"x":"\u00e4\/","y":{ "z" : [1 ,2] }'),
]


def table(rows) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [[]] * len(SCHEMA)
    arrays = [pa.array(values, field.type) for values, field in zip(columns, SCHEMA, strict=True)]
    return pa.table(arrays, schema=SCHEMA)


@pytest.fixture
def write(tmp_path, progress):
    def shard(rows, format, name="0"):
        path = tmp_path / f"{name}.{format}"
        with writing(path, kept=True) as file:
            written = write_shard(
                file, COLUMNS_OF[format], table(rows), np.arange(len(rows)), progress
            )
        return path, written

    return shard


def read_columns(path, progress):
    """Yield the documents of a text shard, as tables of COLUMNS."""
    if path.suffix == ".parquet":
        for batch in columns_of_parquet(pq.ParquetFile(CheckedFile(path))):
            yield from in_pieces(batch)
    else:
        yield from columns_of_lines(read_written_blocks(path, progress))


def expected_documents(rows) -> list[Document]:
    return [Document(text, Origin(id, copy, source)) for _, id, copy, source, text, _ in rows]


def line_of(text: str, *others) -> bytes:
    return b"".join(record_line(msgspec.json.encode(text)[1:-1], *others))


def lines_of(path) -> list[bytes]:
    return zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes()).splitlines()


def test_record_line__is_text_fields_and_origin():
    got = line_of('a"b', b'"n":1.0e5,"x":{ "y" : "\\/" }', 7, 2, "web")
    origin = b'"corpusmill":{"id":7,"copy":2,"source":"web"}'
    assert got == b'{"text":"a\\"b","n":1.0e5,"x":{ "y" : "\\/" },%s}\n' % origin


@given(st.text(), st.text())
def test_record_line__gives_back_any_text_and_is_one_line(text, source):
    got = line_of(text, b'"n":1', 5, 1, source)
    assert got.count(b"\n") == 1
    expected = {"id": 5, "copy": 1, "source": source}
    assert json.loads(got) == {"text": text, "n": 1, "corpusmill": expected}


@given(st.lists(st.text(st.characters(max_codepoint=0x100) | st.characters())), st.integers(0, 9))
def test_escaped__equals_msgspec(texts, first):
    column = pa.array(texts, pa.large_string())[first:]
    rare = has_rare_control(TextColumn.of(column)).tolist()
    got = [
        b'"%s"' % escaped(text.encode(), one) for text, one in zip(texts[first:], rare, strict=True)
    ]
    assert got == [msgspec.json.encode(text) for text in texts[first:]]
    assert rare == [bool(set(text) & RARE_CONTROLS) for text in texts[first:]]


@given(st.lists(st.sampled_from(["a", "ä", "id", "corpusmil", "rpusmill"]), unique=True))
def test_record_line__keeps_fields_in_order(names):
    rest = b",".join(b"%s:%d" % (msgspec.json.encode(n), i) for i, n in enumerate(names))
    got = line_of("x", rest, 1, 0, "s")
    assert rest in got
    assert list(json.loads(got)) == ["text", *names, "corpusmill"]


@pytest.mark.parametrize("before", [b'{"id":1,"copy":0,"source":"old"}', b"null", b"[1 ,2]"])
def test_record_line__moves_the_origin_of_an_earlier_run_to_before(before):
    got = line_of("x", b'"a":1.0e5,"corpusmill":%s,"z":"\\/"' % before, 5, 0, "new")
    origin = b'{"id":5,"copy":0,"source":"new","before":{"corpusmill":%s}}' % before
    assert got == b'{"text":"x","a":1.0e5,"z":"\\/","corpusmill":%s}\n' % origin


@pytest.mark.parametrize("rest", [b'"a":{"corpusmill":1}', b'"a":"\\"corpusmill\\":1"'])
def test_record_line__leaves_a_nested_corpusmill_alone(rest):
    origin = b'"corpusmill":{"id":5,"copy":0,"source":"s"}'
    assert line_of("x", rest, 5, 0, "s") == b'{"text":"x",%s,%s}\n' % (rest, origin)


def test_record_line__a_field_called_text_does_not_replace_the_text():
    got = line_of("the document", b'"text":"a field beside it"', 1, 0, "s")
    names = [name for name, _ in json.loads(got, object_pairs_hook=list)]
    assert len(set(names)) == len(names)
    assert msgspec.json.decode(got, type=Document).text == "the document"


@pytest.mark.parametrize("format", FORMATS)
def test_read_shard__gives_back_the_documents_in_order(write, format, progress):
    path, written = write(ROWS, format)
    assert list(read_shard(path, progress)) == expected_documents(ROWS)
    assert written.bytes == path.stat().st_size
    assert written.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("format", FORMATS)
def test_write_shard__blocks_do_not_change_the_documents(write, format, progress, monkeypatch):
    monkeypatch.setattr(shards, "WRITE_BYTES", 50)
    monkeypatch.setattr(shards, "ROW_GROUP", 2)
    path, _ = write(ROWS * 3, format)
    assert list(read_shard(path, progress)) == expected_documents(ROWS * 3)


@pytest.mark.parametrize("format", FORMATS)
@given(order=st.permutations(range(6)), cuts=st.lists(st.integers(0, 6)))
def test_write_shard__writes_rows_of_any_pieces_in_any_order(format, order, cuts):
    rows = ROWS + ROWS[::-1]
    bounds = sorted({0, *cuts, 6})
    pieces = pa.concat_tables(
        [table(rows).slice(start, stop - start) for start, stop in itertools.pairwise(bounds)]
        + [table([])]
    )
    with tempfile.TemporaryDirectory() as folder, phase("writing", unit="documents") as progress:
        path = Path(folder) / f"0.{format}"
        with writing(path, kept=True) as file:
            write_shard(file, COLUMNS_OF[format], pieces, np.array(order), progress)
        got = list(read_shard(path, progress))
    assert got == expected_documents([rows[k] for k in order])


@pytest.mark.parametrize("format", FORMATS)
def test_read_shard__reads_only_the_rows_asked_for(write, format, progress, monkeypatch):
    monkeypatch.setattr(shards, "ROW_GROUP", 2)
    path, _ = write(ROWS * 2, format)
    expected = expected_documents(ROWS * 2)
    got = list(read_shard(path, progress, rows={1, 5}))
    assert got == [None, expected[1], None, None, None, expected[5]]


def test_write_shard__jsonl_lines_are_the_records(write):
    path, _ = write(ROWS, "jsonl.zst")
    expected = [line_of(text, rest, id, copy, source) for _, id, copy, source, text, rest in ROWS]
    assert lines_of(path) == [line.rstrip(b"\n") for line in expected]


def test_write_shard__parquet_has_columns_and_the_other_fields_as_they_were(write):
    rows = [*ROWS, (4, 3, 1, "b", "more", b'"n":5, "corpusmill":{"id": 1},"fields":2,"text":"x"')]
    path, _ = write(rows, "parquet")
    got = pq.read_table(path)
    assert got.schema.names == ["text", "n", "fields", "corpusmill"]
    assert got["text"].to_pylist() == [row[4] for row in rows]
    assert got["n"].to_pylist() == [100000, None, None, 5]
    assert [fields.encode() for fields in got["fields"].to_pylist()] == [
        b'{"m":12345678901234567890}',
        b"{}",
        b"{%s}" % ROWS[2][5],
        b'{"corpusmill":{"id": 1},"fields":2,"text":"x"}',
    ]
    assert got["corpusmill"].to_pylist() == [
        {"id": id, "copy": copy, "source": source} for _, id, copy, source, *_ in rows
    ]


def test_read_shard__refuses_a_cut_file(write, progress):
    path, _ = write(ROWS, "jsonl.zst")
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DamagedError, match=r"0\.jsonl\.zst: expected \d+ bytes, found \d+"):
        list(read_shard(path, progress))


RESTS = [
    b"",
    b'"n":1e999',
    b'"n":{"text":[null]}',
    b'"e":"\\u00e9\\/"',
    b'"n":1,"n":"2"',
    b'"n": -0',
]
any_rows = st.lists(
    st.tuples(
        st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**16 - 1),
        st.text(max_size=5), st.text(max_size=40), st.sampled_from(RESTS),
    ),
    max_size=9,
)  # fmt: skip


@pytest.mark.parametrize("format", FORMATS)
@given(rows=any_rows, batch_bytes=st.sampled_from([1, 200, 4 << 20]))
@example(rows=[(0, 1, 2, "s", '\x00\r\n\u2028"\\', b'"n":1e999')], batch_bytes=1)
def test_columns__are_those_of_read_shard(format, rows, batch_bytes):
    with (
        tempfile.TemporaryDirectory() as folder,
        phase("reading") as progress,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(shards, "BATCH_BYTES", batch_bytes)
        path = Path(folder) / f"0.{format}"
        with writing(path, kept=True) as file:
            write_shard(file, COLUMNS_OF[format], table(rows), np.arange(len(rows)), progress)
        got = [row for batch in read_columns(path, progress) for row in batch.to_pylist()]
        expected = list(read_shard(path, progress))
    assert got == [{"text": one.text, **msgspec.structs.asdict(one.corpusmill)} for one in expected]


def test_columns__of_parquet_hold_batch_bytes_and_a_text(write, progress, monkeypatch):
    lengths = [0, 0, 90, 5, 5, 300, 40, 60, 0]
    path, _ = write([(n, n, 0, "s", "x" * n, b"") for n in lengths], "parquet")
    monkeypatch.setattr(shards, "BATCH_BYTES", 100)
    columns = [batch.column("text").to_pylist() for batch in read_columns(path, progress)]
    sizes = [[len(text) for text in column] for column in columns]
    assert len(sizes) > 2
    assert sorted(size for batch in sizes for size in batch) == sorted(lengths)
    assert all(sum(batch[:-1]) <= 100 for batch in sizes)


def test_columns__a_number_beyond_a_double_is_no_fault(write, progress):
    path, _ = write([(1, 2, 0, "s", "x", b'"n":1e999'), *ROWS], "jsonl.zst")
    (batch,) = read_columns(path, progress)
    assert batch.schema == COLUMNS
    assert batch.column("text").to_pylist() == ["x", *(row[4] for row in ROWS)]


@pytest.mark.parametrize(
    "line",
    [
        b'{"text":"a","corpusmill":{"id":1,"source":"s"}}\n',
        b'{"corpusmill":{"id":1,"copy":0,"source":"s"}}\n',
        b'{"text":"a","corpusmill":{"id":-1,"copy":0,"source":"s"}}\n',
        b'{"text":"a","corpusmill":{"id":1,"copy":0,"sou',
    ],
)
def test_columns__refuse_what_no_run_writes(tmp_path, progress, line):
    path = tmp_path / "0.jsonl.zst"
    write_bytes(path, zstandard.compress(line))
    with pytest.raises((msgspec.MsgspecError, OverflowError)):
        list(read_columns(path, progress))


@given(content=st.lists(st.sampled_from([b"\n", b"ab", b"\n\n", b"c\nd"])).map(b"".join),
       cuts=st.lists(st.integers(0, 20)), batch_bytes=st.integers(1, 8))  # fmt: skip
def test_whole_lines__are_the_bytes_cut_where_lines_end(content, cuts, batch_bytes):
    bounds = [0, *sorted(cuts), max([20, len(content), *cuts])]
    blocks = [content[start:stop] for start, stop in itertools.pairwise(bounds)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "BATCH_BYTES", batch_bytes)
        got = list(shards._whole_lines(iter(blocks)))
    assert b"".join(got) == content
    assert all(piece.endswith(b"\n") for piece in got[:-1])
    assert b"" not in got
