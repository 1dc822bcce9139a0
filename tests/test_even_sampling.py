"""Parts of even sampling: keys, stretches of files."""

import itertools
import json
from pathlib import Path

import naive
import pytest

from corpusmill.messages.progress import Silence
from corpusmill.mill.read.json_records import json_records, json_records_within
from corpusmill.mill.read.records import Malformed, Record
from corpusmill.mill.storage.streams import lines_within, read_lines
from corpusmill.tools.tune.sample import keys_of_file


def test_keys_of_file__equal_naive():
    got = list(itertools.islice(keys_of_file(3, 7, "design"), 5000))
    assert got == [naive.keyed_hash(3 << 32 | row, 7, "design") for row in range(5000)]


@pytest.mark.parametrize("data", [b"", b"\n", b"a\nbb\n\n\r\n\xffcc\n", b"\n\na\nb", b"abc"])
def test_lines_within__stretches_side_by_side_have_each_line_once(data, tmp_path):
    """Wherever the file is cut in three."""
    path = tmp_path / "lines.jsonl"
    path.write_bytes(data)
    for cuts in itertools.combinations_with_replacement(range(len(data) + 1), 2):
        parts_have_each_line_once(path, data, [0, *cuts, len(data)])


def parts_have_each_line_once(path: Path, data: bytes, ends: list[int]) -> None:
    found = [
        one
        for start, end in itertools.pairwise(ends)
        for one in lines_within(str(path), start, end, Silence())
    ]
    assert [line for _, line in found] == list(read_lines(str(path), Silence()))
    assert all(data[at:].startswith(line) and data[at - 1 : at] in (b"", b"\n")
               for at, line in found)  # fmt: skip


def test_json_records_within__are_those_of_the_whole_file(tmp_path):
    lines = [json.dumps({"text": "grain" * n, "n": n}).encode() for n in range(30)]
    lines[7] = b'{"no": 1}'
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + b"\n".join(lines))
    size = path.stat().st_size
    whole = list(json_records(str(path), "text", False, Silence()))
    halves = [
        one
        for stretch in ((0, 400), (400, size))
        for one in json_records_within(str(path), "text", False, stretch, Silence())
    ]
    assert [one[1:] for one in halves] == [one[1:] for one in whole]
    data = path.read_bytes()
    starts = [data[one.line :].removeprefix(b"\xef\xbb\xbf") for one in halves]
    assert all(start.startswith(line) for start, line in zip(starts, lines, strict=True))
    assert [type(one) for one in halves] == [Malformed if n == 7 else Record for n in range(30)]


@pytest.mark.parametrize("start", [0, 1, 2**40])
def test_lines_within__of_an_empty_stretch_are_none(tmp_path, start):
    (tmp_path / "a.jsonl").write_bytes(b"{}\n")
    assert list(lines_within(str(tmp_path / "a.jsonl"), start, start, Silence())) == []
