"""Readers: every record located, every other field untouched, nothing cut off in silence."""

import gzip
import io
import random

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from corpusmill import streams
from corpusmill.progress import Phase
from corpusmill.readers import read_records
from corpusmill.records import Malformed, Record, format_of
from corpusmill.shards import Document, record_line

LINES = [b'{"text":"first","n":1}', b'{"text":"","n":2}', '{"text":"水 😀"}'.encode()]
PLAIN = b"".join(line + b"\n" for line in LINES)
RECORDS = [Record(1, "first", b'"n":1'), Record(2, "", b'"n":2'), Record(3, "水 😀", b"")]
# Not to be packed tightly, so that there are many places to cut.
LONG = b"".join(b'{"text":"%d","n":%d}\n' % (n, n * n) for n in range(30))


def zst(*frames: bytes) -> bytes:
    return b"".join(zstandard.ZstdCompressor(write_checksum=True).compress(f) for f in frames)


def gz(*members: bytes) -> bytes:
    return b"".join(gzip.compress(member, mtime=0) for member in members)


PACKED = {".jsonl.zst": zst, ".jsonl.gz": gz}


@pytest.fixture
def read(tmp_path, progress):
    """Writes bytes to a file with the ending, and gives its records."""

    def records(data: bytes, ending: str = ".jsonl", text_field: str = "text", **options):
        path = tmp_path / f"input{ending}"
        path.write_bytes(data)
        return list(read_records(str(path), text_field, progress, **options))

    return records


def parquet(**columns) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


@pytest.mark.parametrize("name", ["a.jsonl", "b/c.jsonl.zst", "c.jsonl.gz", "d.parquet"])
def test_format_of__is_the_ending(name):
    assert name.endswith(format_of(name))


def test_format_of__refuses_other_names():
    with pytest.raises(ValueError, match=r"a\.txt: expected a file name ending in \.jsonl"):
        format_of("a.txt")


@pytest.mark.parametrize("tail", [b"\n", b""])
@pytest.mark.parametrize("ending", [".jsonl", *PACKED])
def test_read_records__need_no_newline_at_the_end(read, ending, tail):
    data = b"\n".join(LINES) + tail
    assert read(PACKED.get(ending, bytes)(data), ending) == RECORDS


@pytest.mark.parametrize("ending", PACKED)
@pytest.mark.parametrize("cut", [0, 1, 10, len(LINES[0]) + 1, len(PLAIN)])
def test_read_records__go_on_after_the_first_frame(read, ending, cut):
    assert read(PACKED[ending](PLAIN[:cut], PLAIN[cut:]), ending) == RECORDS


@pytest.mark.parametrize("ending", [".jsonl", *PACKED])
def test_read_records__of_nothing_are_none(read, ending):
    assert read(PACKED.get(ending, bytes)(b""), ending) == []


def test_read_records__pass_over_skippable_zstd_frames(read):
    skippable = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
    assert read(skippable + zst(PLAIN) + skippable, ".jsonl.zst") == RECORDS


def test_read_records__pass_over_zeros_that_pad_a_gzip_file(read):
    assert read(gz(PLAIN) + b"\0" * 512, ".jsonl.gz") == RECORDS


def test_read_records__of_windows_lines(read):
    assert read(PLAIN.replace(b"\n", b"\r\n")) == RECORDS


@pytest.mark.parametrize("ending", PACKED)
def test_read_records__refuse_a_file_cut_anywhere(read, ending):
    first, second = PACKED[ending](LONG), PACKED[ending](PLAIN)
    whole = first + second
    for cut in range(1, len(whole)):
        if cut == len(first):
            assert len(read(whole[:cut], ending)) == 30  # a border: a whole file
            continue
        with pytest.raises(ValueError, match=rf"input{ending}: .* cut off .*Fetch the file again"):
            read(whole[:cut], ending)


@pytest.mark.parametrize("ending", PACKED)
@pytest.mark.parametrize("block_bytes", [1, 7, 64])
def test_read_records__refuse_a_cut_file_at_any_block_size(read, ending, block_bytes, monkeypatch):
    monkeypatch.setattr(streams, "BLOCK_BYTES", block_bytes)
    data = PACKED[ending](PLAIN, PLAIN)
    assert len(read(data, ending)) == 6
    for cut in (1, 5, len(data) // 3, len(data) - 1):
        with pytest.raises(ValueError, match="cut off at byte"):
            read(data[:cut], ending)


@pytest.mark.parametrize("ending", PACKED)
def test_read_records__refuse_garbage_in_the_middle(read, ending):
    one = PACKED[ending](PLAIN)
    for data in (one + b"garbage!" + one, one + b"x" * 40, b"x" * 40 + one):
        with pytest.raises(ValueError, match=rf"input{ending}: damaged .* data"):
            read(data, ending)


@pytest.mark.parametrize("ending", PACKED)
def test_read_records__never_take_a_flipped_bit_for_other_text(read, ending):
    data, rng = PACKED[ending](LONG), random.Random(1)
    expected = read(data, ending)
    for _ in range(60):
        flipped = bytearray(data)
        flipped[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        try:
            got = read(bytes(flipped), ending)
        except ValueError:
            continue
        assert got == expected  # a bit of a header that says nothing of the content


# What follows is the second of three lines: the first and the third stay whole.
MALFORMED = {
    "blank": (b"", "blank line"),
    "white": (b" \t", "blank line"),
    "broken": (b'{"text": "This record stops', "not JSON"),
    "two": (b'{"text":"a"} {"text":"b"}', "not JSON"),
    "escape": (rb'{"text":"a","x":"\q"}', "not JSON"),
    "tab": (b'{"text":"a\tb"}', "not JSON"),
    "number": (b'{"text":"a","x":01}', "not JSON"),
    "list": (b'["text"]', "expected a JSON object, found list"),
    "string": (b'"text"', "expected a JSON object, found str"),
    "missing": (b'{"txt":"a"}', 'no "text" field'),
    "null": (b'{"text":null}', '"text" is NoneType, not a string'),
    "a number": (b'{"text":1789}', '"text" is int, not a string'),
    "texts": (b'{"text":["a"]}', '"text" is list, not a string'),
    "latin": (b'{"text":"caf\xe9"}', "not UTF-8 at byte 12 of the line"),
    "latin beside": (b'{"text":"a","x":"\xe9"}', "not UTF-8 at byte 17 of the line"),
    "latin name": (b'{"text":"a","\xe9":1}', "not UTF-8 at byte 13 of the line"),
    "encoded surrogate": (b'{"text":"\xed\xa0\x80"}', "not UTF-8 at byte 9 of the line"),
    "surrogate": (rb'{"text":"a\ud800"}', "lone surrogate"),
    "surrogate beside": (rb'{"text":"a","x":"\udc00"}', "lone surrogate"),
    "deep": (b'{"text":"a","x":' + b"[" * 9999 + b"]" * 9999 + b"}", "nested too deeply"),
    "bare": (b"[" * 99999, "nested too deeply"),
    "zero": (b'{"text":"a"\0}', "not JSON"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_read_records__locate_what_is_malformed(read, name):
    line, reason = MALFORMED[name]
    one, got, three = read(b"\n".join([LINES[0], line, LINES[0]]))
    assert (one, three) == (RECORDS[0], RECORDS[0]._replace(line=3))
    assert isinstance(got, Malformed)
    assert (got.line, got.offset) == (2, len(LINES[0]) + 1)
    assert reason in got.reason
    assert got.start == line[:80].decode("utf-8", "backslashreplace")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_read_records__name_a_number_that_is_not_json(read, number):
    (got,) = read(b'{"text":"a","x":%s}' % number.encode())
    assert isinstance(got, Malformed)
    assert "surrogate" not in got.reason


def test_read_records__of_a_named_field(read):
    (got,) = read(b'{"content":"a","text":"b"}', text_field="content")
    assert got == Record(1, "a", b'"text":"b"')


def test_read_records__undo_the_escapes_of_the_text(read):
    (got,) = read(rb'{"text":"\u00e4\ud83d\ude00\n\"\/\\"}')
    assert got.text == 'ä😀\n"/\\'


@pytest.mark.parametrize(
    "value",
    ["1.0e5", "12345678901234567890", "-0.10", "1E+2", r'"\u00e4\/\n"', '"ä水😀"', "null", "{}",
     '{ "b" :  [1 ,2,  {"c":null} ] }', '"  two  blanks  "', '"\\"text\\": 1"', "[ ]"],
)  # fmt: skip
def test_read_records__carry_other_fields_byte_for_byte(read, value):
    line = f'{{ "before" : {value} , "text" : "a" ,"after":{value}  }}'
    (got,) = read(line.encode())
    assert got == Record(1, "a", f'"before":{value},"after":{value}'.encode())


def test_read_records__keep_a_text_with_a_lone_surrogate_for_who_mends_it(read):
    (got,) = read(rb'{"text":"a\ud800b","n":"\u00e4","k":[1,2]}', keep_surrogates=True)
    assert got == Record(1, "a\ud800b", rb'"n":"\u00e4","k":[1,2]')


@pytest.mark.parametrize(
    "line",
    [rb'{"text":"a","x":"\ud800"}', rb'{"text":"\ud800","x":"\ud800"}', b'{"text":"a","x":NaN}',
     rb'{"text":"\ud800","x":NaN}', rb'{"text":"\ud800","x":1e999}'],
)  # fmt: skip
def test_read_records__kept_surrogates_never_make_a_record_that_is_not_json(read, line):
    (got,) = read(line, keep_surrogates=True)
    if isinstance(got, Record):
        final = record_line("mended", got.rest, 1, 0, "s")
        assert msgspec.json.decode(final, type=Document).text == "mended"


@pytest.mark.parametrize("name", ["null", "missing", "list", "latin", "broken", "bare"])
def test_read_records__kept_surrogates_do_not_excuse_other_faults(read, name):
    line, reason = MALFORMED[name]
    (got,) = read(line, keep_surrogates=True)
    assert isinstance(got, Malformed)
    assert reason in got.reason


lines = st.lists(st.binary(max_size=12).map(lambda b: b.replace(b"\n", b"")), max_size=6)


@given(lines, st.integers(1, 9), st.booleans())
def test_lines__equal_split_for_any_blocks(lines, block_bytes, ended):
    data = b"\n".join(lines) + (b"\n" if ended else b"")
    blocks = [data[i : i + block_bytes] for i in range(0, len(data), block_bytes)]
    expected = data.split(b"\n")
    expected = expected if expected[-1] else expected[:-1]
    assert list(streams._lines(iter(blocks))) == expected


@pytest.mark.parametrize("ending", [".jsonl", *PACKED])
@pytest.mark.parametrize("block_bytes", [1, 2, 3, 16, 23])
def test_read_records__do_not_depend_on_blocks(read, ending, block_bytes, monkeypatch):
    data = PLAIN + b"\n" + LINES[2][:-2] + b"\n" + PLAIN.rstrip(b"\n")
    expected = read(data)
    monkeypatch.setattr(streams, "BLOCK_BYTES", block_bytes)
    assert read(PACKED.get(ending, bytes)(data), ending) == expected
    assert [type(record).__name__ for record in expected[3:5]] == ["Malformed"] * 2


def test_read_records__report_every_byte_read(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "BLOCK_BYTES", 10)
    (tmp_path / "a.jsonl.zst").write_bytes(zst(LONG))
    told = Phase("reading", 0, "MB")
    assert len(list(read_records(str(tmp_path / "a.jsonl.zst"), "text", told))) == 30
    assert told.done == len(zst(LONG))


def test_read_records__of_parquet(read):
    table = {"n": [1, 2], "text": ["a", "水"], "tags": [["x"], []], "at": [None, 1.5]}
    assert read(parquet(**table), ".parquet") == [
        Record(1, "a", b'"n":1,"tags":["x"],"at":null'),
        Record(2, "水", b'"n":2,"tags":[],"at":1.5'),
    ]


@pytest.mark.parametrize("type", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), "str")])
def test_read_records__of_parquet_take_any_string_column(read, type):
    data = parquet(text=pa.array(["a", "b", "a"]).cast(type))
    assert [record.text for record in read(data, ".parquet")] == ["a", "b", "a"]


def test_read_records__of_parquet_null_is_malformed(read):
    one, got = read(parquet(text=["a", None]), ".parquet")
    assert one == Record(1, "a", b"")
    assert got == Malformed(2, None, '"text" is NoneType, not a string', "None")


def test_read_records__of_parquet_number_lines_across_batches(read):
    got = read(parquet(text=[str(n) for n in range(2500)]), ".parquet")
    assert [(record.line, record.text) for record in got] == [(n + 1, str(n)) for n in range(2500)]


def test_read_records__of_parquet_without_rows_are_none(read):
    assert read(parquet(text=pa.array([], pa.string())), ".parquet") == []


def test_read_records__of_parquet_refuse_a_missing_column(read):
    with pytest.raises(ValueError, match=r'input\.parquet: no "text" column; it has body, n\.'):
        read(parquet(body=["a"], n=[1]), ".parquet")


def test_read_records__of_parquet_refuse_a_cut_file(read):
    data = parquet(text=["a", "b"])
    for cut in range(len(data)):
        with pytest.raises(ValueError, match=r"input\.parquet: damaged Parquet file"):
            read(data[:cut], ".parquet")


def test_read_records__of_parquet_name_a_damaged_file(read):
    data = bytearray(parquet(text=[f"number {n}" for n in range(3000)]))
    data[200:260] = b"\xff" * 60
    with pytest.raises(ValueError, match=r"input\.parquet"):
        read(bytes(data), ".parquet")


def test_read_records__of_parquet_locate_a_text_that_is_not_utf8(read):
    buffers = [None, pa.py_buffer(np.array([0, 1, 3], np.int32)), pa.py_buffer(b"a\xff\xfe")]
    data = parquet(text=pa.Array.from_buffers(pa.string(), 2, buffers))
    one, got = read(data, ".parquet")
    assert one == Record(1, "a", b"")
    assert isinstance(got, Malformed)
    assert got.line == 2
