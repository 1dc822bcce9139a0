"""What nobody holds of an input file: long records, large windows, what unpacks to far more."""

import gzip
import io
import json
import time
import tracemalloc
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.messages.progress import Silence
from corpusmill.mill.read.readers import read_records
from corpusmill.mill.read.records import Malformed, Record
from corpusmill.mill.storage import streams
from corpusmill.mill.storage.files import load_json
from corpusmill.mill.storage.streams import READ_LIMITS, LongLine, ReadLimits, limited_lines
from corpusmill.mill.storage.zstd_frames import Pieces


def zst(data: bytes, **parameters) -> bytes:
    chosen = zstandard.ZstdCompressionParameters(**parameters)
    return zstandard.ZstdCompressor(compression_params=chosen).compress(data)


def streamed(data: bytes, window_log: int = 21) -> bytes:
    """A frame that does not say how much is in it."""
    chosen = zstandard.ZstdCompressionParameters(window_log=window_log, write_checksum=True)
    out = io.BytesIO()
    with zstandard.ZstdCompressor(compression_params=chosen).stream_writer(
        out, closefd=False
    ) as file:
        file.write(data)
    return out.getvalue()


PACKED = {".jsonl": bytes, ".jsonl.zst": zst, ".jsonl.gz": gzip.compress}


def record(chars: int, **members) -> bytes:
    return json.dumps({"text": "a" * chars, **members}).encode()


lines = st.lists(st.binary(max_size=12).map(lambda b: b.replace(b"\n", b"")), max_size=6)


@given(lines, st.integers(1, 9), st.integers(0, 12), st.booleans())
def test_limited_lines__equal_split_but_for_long_ones(lines, block_bytes, most, ended):
    data = b"\n".join(lines) + (b"\n" if ended else b"")
    blocks = [data[i : i + block_bytes] for i in range(0, len(data), block_bytes)]
    split = data.split(b"\n")
    split = split if split[-1] else split[:-1]
    expected = [one if len(one) <= most else LongLine(one[:80], len(one)) for one in split]
    assert list(limited_lines(iter(blocks), most)) == expected


@given(lines, st.integers(0, 12), st.integers(0, 60), st.integers(0, 60))
def test_lines_within__are_those_that_begin_there(tmp_path_factory, lines, most, start, end):
    data = b"".join(line + b"\n" for line in lines)
    path = tmp_path_factory.mktemp("within") / "lines"
    path.write_bytes(data)
    places, at = [], 0
    for line in lines:
        places.append((at, line if len(line) <= most else LongLine(line[:80], len(line))))
        at += len(line) + 1
    got = list(streams.lines_within(str(path), start, end, Silence(), ReadLimits(most, 27)))
    assert got == [place for place in places if start <= place[0] < end]


@pytest.mark.parametrize("ending", PACKED)
def test_read_records__of_more_bytes_are_malformed_and_the_next_is_read(read, ending):
    long = record(5000)
    data = b"\n".join([record(10), long, record(len(long) - len(record(0)) - 1), b"", record(3)])
    limits = ReadLimits(line_bytes=len(long) - 1, window_log=27)
    got = read(PACKED[ending](data), ending, limits=limits)
    reason = f"{len(long)} bytes, and input.max_record_bytes allows {len(long) - 1}"
    assert got[1] == Malformed(2, len(record(10)) + 1, reason, long[:80].decode())
    assert [type(one) for one in got] == [Record, Malformed, Record, Malformed, Record]
    assert got[4].line == 5
    assert got[3].offset == len(data) - len(record(3)) - 1


def test_read_records__a_long_first_line_has_its_mark(read):
    data = b"\xef\xbb\xbf" + record(2000) + b"\n" + record(1)
    one, two = read(data, limits=ReadLimits(1024, 27))
    assert (one.offset, one.start[0], two.text) == (3, "{", "a")
    assert one.reason.startswith(f"{len(record(2000))} bytes")


def test_read_records__of_parquet_count_text_and_members_in_utf_8(read, tmp_path):
    texts = ["a" * 1000, "é" * 600, "a" * 10]
    table = pa.table({"text": texts, "n": [1, 1, 1]})
    pq.write_table(table, tmp_path / "t.parquet")
    got = read((tmp_path / "t.parquet").read_bytes(), ".parquet", limits=ReadLimits(1024, 27))
    assert [type(one) for one in got] == [Record, Malformed, Record]
    assert got[1].reason == "1205 bytes, and input.max_record_bytes allows 1024"


def test_read_records__refuse_a_window_beyond_the_bound_by_name(read):
    data = streamed(record(5) * 10, window_log=28)
    with pytest.raises(
        ValueError, match=r"input\.jsonl\.zst: .* of 268,435,456, .*max_window_log to 28"
    ):
        read(data, ".jsonl.zst")
    assert len(read(data + zst(b""), ".jsonl.zst", limits=READ_LIMITS._replace(window_log=28))) == 1


BOMBS = {
    "one line, zst": (streamed, b"a" * 60_000_000, ".jsonl.zst"),
    "one line, gz": (gzip.compress, b"a" * 60_000_000, ".jsonl.gz"),
    "many lines, zst": (streamed, b"a" * 99 + b"\n", ".jsonl.zst"),
    "empty lines, gz": (gzip.compress, b"\n", ".jsonl.gz"),
}


@pytest.mark.some(4)
@pytest.mark.parametrize("name", BOMBS)
def test_read_lines__of_a_bomb_hold_little_of_it(tmp_path, name):
    pack, content, ending = BOMBS[name]
    path = tmp_path / f"bomb{ending}"
    path.write_bytes(pack(content * max(1, 20_000_000 // len(content))))
    del content
    limits = ReadLimits(1 << 20, 27)
    tracemalloc.start()
    for _ in streams.read_lines(str(path), Silence(), limits=limits):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size < 200_000
    assert peak < 32_000_000


class Advanced:
    def __init__(self) -> None:
        self.amounts: list[int] = []

    def advance(self, amount: int) -> None:
        assert len(self.amounts) < 100, "it does not end"
        self.amounts.append(amount)


@pytest.mark.parametrize("last", [b"", b"\n"])
def test_read_blocks__of_members_behind_a_member_that_expands_are_read_once(tmp_path, last):
    path = tmp_path / "a.jsonl.gz"
    spaces = b" " * (4 * streams.PIECE_BYTES) + last
    path.write_bytes(gzip.compress(spaces, 9) * 3 + gzip.compress(b"end"))
    progress = Advanced()
    content = b"".join(streams.read_blocks(str(path), progress))
    assert content == spaces * 3 + b"end"
    assert min(progress.amounts) >= 0
    assert sum(progress.amounts) == path.stat().st_size


def normalized(step, folder, path, limits: ReadLimits, most_text_bytes: int) -> list[dict]:
    """What is in quarantine then."""
    state = path.stat()
    files = [{"source": "web", "path": str(path), "text_field": "text", "bytes": state.st_size,
              "mtime_ns": state.st_mtime_ns}]  # fmt: skip
    made = [folder / name for name in ("text.arrow", "quarantine.jsonl", "counts.json")]
    step("normalize").normalize(files, {"mode": "nfc"}, [], limits, most_text_bytes, *made)
    return [json.loads(line) for line in made[1].read_text().splitlines()]


def test_normalize__puts_long_records_aside_and_says_how_large_the_others_are(step, tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n".join([record(9), record(5000), record(700, n=1)])))
    (aside,) = normalized(step, tmp_path, path, ReadLimits(1024, 27), 1 << 20)
    assert (aside["line"], aside["file"]) == (2, str(path))
    assert aside["reason"] == "5012 bytes, and input.max_record_bytes allows 1024"
    counts = load_json(tmp_path / "counts.json")
    assert (counts["documents"], counts["largest"]) == (2, 700 + len('"n":1'))


def test_normalize__of_far_more_text_than_its_files_let_expect_ends_where_it_is(step, tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress((record(90) + b"\n") * 1000))
    with pytest.raises(ValueError, match=r"a\.jsonl\.gz:112: expected at most 10,000 bytes"):
        normalized(step, tmp_path, path, READ_LIMITS, 10_000)
    assert not (tmp_path / "text.arrow").exists()


FRAMES = {
    "streamed": streamed(b"abc" * 100_000),
    "with its size": zst(b"abc" * 100_000, write_content_size=True),
    "empty": zst(b""),
    "raw blocks": zst(bytes(range(256)) * 4, write_checksum=True),
    "zeros": streamed(bytes(4_000_000)),
    "skippable": b"\x50\x2a\x4d\x18\x05\x00\x00\x00hello",
    "nothing skippable": b"\x5f\x2a\x4d\x18\x00\x00\x00\x00",
}


@given(st.lists(st.sampled_from(sorted(FRAMES)), min_size=1, max_size=4), st.integers(1, 400))
def test_pieces__are_the_bytes_of_the_file_and_expand_to_little(names, block_bytes):
    data = b"".join(FRAMES[name] for name in names)
    windows: list[int] = []
    pieces = Pieces(windows.append)
    got = [
        piece
        for start in range(0, len(data), block_bytes)
        for piece in pieces.of(data[start : start + block_bytes])
    ]
    assert b"".join(got) == data
    found = [
        zstandard.get_frame_parameters(FRAMES[name]).window_size
        for name in names
        if "skippable" not in name
    ]
    assert windows == found
    unpacking = None
    for piece in got:
        out = 0
        while piece:
            unpacking = unpacking or zstandard.ZstdDecompressor().decompressobj()
            out += len(unpacking.decompress(piece))
            piece = unpacking.unused_data
            unpacking = None if unpacking.eof else unpacking
        assert out <= 9 * (128 << 10)


SKIPPED = b"\x50\x2a\x4d\x18" + bytes(4)


@pytest.mark.parametrize(
    ("ending", "piece", "bytes_of_it"),
    [(".jsonl.zst", SKIPPED, 0), (".jsonl.zst", zst(b""), 0), (".jsonl.zst", zst(b"\n"), 1),
     (".jsonl.gz", gzip.compress(b"", mtime=0), 0),
     (".jsonl.gz", gzip.compress(b"\n", mtime=0), 1)],
)  # fmt: skip
def test_read_records__of_many_pieces_that_hold_nothing_end_soon(read, ending, piece, bytes_of_it):
    before = time.process_time()
    found = f"found {10_000 * bytes_of_it:,} bytes in the first 10,000"
    with pytest.raises(ValueError, match=found):
        read(piece * 500_000, ending)
    assert time.process_time() - before < 2


@pytest.mark.parametrize(("ending", "pack"), [(".jsonl.zst", zst), (".jsonl.gz", gzip.compress)])
def test_read_records__of_many_small_pieces_are_read(read, ending, pack):
    assert len(read(pack(record(3) + b"\n") * 12_000, ending)) == 12_000


@pytest.mark.some(4)
@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.zst", ".jsonl.gz", ".parquet"])
def test_progress__is_told_the_bytes_of_a_file_while_they_are_unpacked(tmp_path, ending):
    """A packed block holds many records; rows of Parquet may take less than a byte each."""
    path = tmp_path / f"a{ending}"
    if ending == ".parquet":
        pq.write_table(pa.table({"text": ["aaaaaa"] * 100_000}), path)
    else:
        path.write_bytes(PACKED[ending]((record(6) + b"\n") * 500_000))
    amounts = []
    progress = SimpleNamespace(advance=amounts.append)
    for _ in read_records(str(path), "text", progress):
        pass
    assert sum(amounts) == path.stat().st_size
    assert len([amount for amount in amounts if amount]) > 5
