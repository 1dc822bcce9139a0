"""The sample: even, bounded, and the same whatever the order of the files."""

import json

import pytest

from corpusmill.mill.dedup.minhash import MinHasher
from corpusmill.mill.read.text_column import TextColumn, string_array
from corpusmill.tools.tune.bands.sampling import Sample, sample_documents, source_of
from corpusmill.tools.tune.sample import Wanted

HASHER = MinHasher("affine32", 16, 5, 1)
SHORT, LONG = "tiny", "the miller opened the sluice before sunrise"


def write(path, texts: list[str | None]) -> str:
    lines = ["{" if text is None else json.dumps({"text": text}) for text in texts]
    path.write_text("".join(line + "\n" for line in lines))
    return str(path)


@pytest.fixture
def files(tmp_path) -> list[str]:
    return [
        write(tmp_path / f"{name}.jsonl", [f"{LONG} {name} {n}" for n in range(count)])
        for name, count in [("b", 40), ("a", 5000), ("c", 0), ("d", 1)]
    ]


def sampled(files: list[str], most: int = 100, seed: int = 42, min_chars: int = 10) -> Sample:
    source = source_of(files, "text")
    return sample_documents(source, Wanted(seed, {"mode": "nfc"}), HASHER, min_chars, most)


def test_sample_documents__do_not_depend_on_the_order_of_files(files):
    one = sampled(files)
    other = sampled([*files[::-1], files[0]])
    assert one.signatures.tolist() == other.signatures.tolist()
    assert one.text_bytes.tolist() == other.text_bytes.tolist()
    assert one.of.documents == other.of.documents == 5041


def test_sample_documents__of_a_smaller_sample_are_part_of_a_larger_one(files):
    small, large = (sampled(files, most=most) for most in (50, 500))
    assert len(small.signatures) == 50
    assert set(map(bytes, small.signatures)) < set(map(bytes, large.signatures))


def test_sample_documents__are_evenly_spread(files):
    """Text lengths tell the thousands apart: n has one digit more from 1,000 on."""
    got = sampled(files[1:2], most=2000)
    share = (got.text_bytes == len(LONG) + 7).mean()
    assert share == pytest.approx(4000 / 5000, abs=0.03)


def test_sample_documents__are_sketched_composed(tmp_path):
    got = sampled([write(tmp_path / "a.jsonl", [LONG + "e\u0301"])])
    expected = HASHER.sign(TextColumn.of(string_array([(LONG + "\u00e9").encode()])))
    assert got.signatures.tolist() == expected.tolist()


def test_sample__counts_what_takes_no_part(tmp_path):
    path = write(tmp_path / "a.jsonl", [LONG, None, SHORT, "", LONG, None])
    got = sampled([path])
    assert (got.of.documents, got.of.malformed) == (4, 2)
    assert (got.too_short.sum(), got.without_shingle().sum(), len(got.comparable())) == (2, 0, 2)


def test_sample__leaves_out_what_has_no_shingle(tmp_path):
    path = write(tmp_path / "a.jsonl", [LONG, "?!"])
    got = sampled([path], min_chars=0)
    assert (got.too_short.sum(), got.without_shingle().sum(), len(got.comparable())) == (0, 1, 1)
