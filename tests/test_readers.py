"""Readers: every record located, every other field untouched, nothing cut off in silence."""

import gzip
import random

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.read.readers import format_of, read_records
from corpusmill.mill.read.records import Record
from corpusmill.mill.storage import streams
from corpusmill.run.job_progress import Phase

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


def test_format_of__refuses_other_names():
    with pytest.raises(ValueError, match=r"a\.odd: expected a file name ending in \."):
        format_of("a.odd")


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


lines = st.lists(st.binary(max_size=12).map(lambda b: b.replace(b"\n", b"")), max_size=6)


@given(lines, st.integers(1, 9), st.booleans())
def test_lines__equal_split_for_any_blocks(lines, block_bytes, ended):
    data = b"\n".join(lines) + (b"\n" if ended else b"")
    blocks = [data[i : i + block_bytes] for i in range(0, len(data), block_bytes)]
    expected = data.split(b"\n")
    expected = expected if expected[-1] else expected[:-1]
    assert list(streams.lines_of(iter(blocks))) == expected


blocks = st.lists(st.binary(max_size=6).map(lambda b: b.replace(b"\1", b"\n")), max_size=8)


@given(blocks, st.sets(st.integers(0, 9)))
def test_lines_at__are_the_lines_of_some_rows(blocks, rows):
    expected = [
        line if row in rows else None for row, line in enumerate(streams.lines_of(iter(blocks)))
    ]
    assert list(streams.lines_at(iter(blocks), rows)) == expected


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
