"""The demo corpus is the same every time, and what it says about its duplicates is true."""

import gzip
import io
import random
import re
import string
import unicodedata
from collections import Counter

import msgspec
import pyarrow.parquet as pq
import pytest
import zstandard

from corpusmill.mill.demo.corpus import FILES, code_records, make_demo

pytestmark = pytest.mark.whole


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    directory = tmp_path_factory.mktemp("demo")
    return directory, make_demo(directory)


@pytest.fixture(scope="module")
def texts(demo):
    """File name -> the text of each of its records, None for a malformed one."""
    directory, _ = demo
    return {name: read_texts(directory / name) for name in [*FILES, "evaluation.jsonl"]}


@pytest.fixture(scope="module")
def truth(demo):
    directory, _ = demo
    lines = (directory / "truth.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line) for line in lines]


def read_texts(path):
    data = path.read_bytes()
    if path.suffix == ".parquet":
        return pq.read_table(path)["text"].to_pylist()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    if path.suffix == ".zst":
        data = zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read()
    return [text_or_none(line) for line in io.BytesIO(data)]


def text_or_none(line):
    try:
        text = msgspec.json.decode(line.decode()).get("text")
    except (msgspec.DecodeError, UnicodeDecodeError, AttributeError):
        return None
    return text if isinstance(text, str) else None


def partners(texts, case):
    """The two texts of a planted case, in NFC."""
    found = [texts[place["file"]][place["line"] - 1] for place in (case["a"], case["b"])]
    return [unicodedata.normalize("NFC", text) for text in found]


def naive_shingles(text):
    bare = "".join(c for c in text.lower() if c not in string.punctuation)
    cleaned = re.sub(r"\s+", " ", bare.strip())
    return {cleaned[i : i + 13] for i in range(len(cleaned) - 12)}


def test_make_demo__gives_same_bytes_again(demo, tmp_path):
    directory, counts = demo
    assert make_demo(tmp_path) == counts
    names = sorted([*FILES, "truth.jsonl", "evaluation.jsonl"])
    assert sorted(path.name for path in tmp_path.iterdir()) == names  # no temporary file stays
    for name in names:
        assert (tmp_path / name).read_bytes() == (directory / name).read_bytes(), name


def test_make_demo__counts_what_it_wrote(demo, texts):
    _, counts = demo
    got = {name: [text for text in texts[name] if text is not None] for name in FILES}
    assert counts["documents"] == {name: len(got[name]) for name in FILES}
    assert counts["text_bytes"] == {name: len("".join(got[name]).encode()) for name in FILES}
    assert sum(counts["documents"].values()) <= 12_000


def test_truth__has_enough_of_each_kind(demo, truth):
    _, counts = demo
    n_cases = Counter(case["kind"] for case in truth)
    assert n_cases == counts["planted"]
    assert n_cases["exact"] >= 200
    assert n_cases["near"] >= 200
    assert n_cases["evaluation"] >= 10


def test_truth__exact_and_evaluation_partners_are_equal_in_nfc(texts, truth):
    equal = [case for case in truth if case["kind"] != "near"]
    for case in equal:
        a, b = partners(texts, case)
        assert a == b, case
        assert case["jaccard"] == 1.0


def test_truth__jaccard_of_near_duplicates_equals_naive(texts, truth):
    near = [case for case in truth if case["kind"] == "near"]
    for case in random.Random(1).sample(near, 40):
        a, b = map(naive_shingles, partners(texts, case))
        assert case["jaccard"] == len(a & b) / len(a | b), case


def test_code_records__refuses_a_library_without_sources(tmp_path):
    with pytest.raises(ValueError, match="found none"):
        code_records(tmp_path)
