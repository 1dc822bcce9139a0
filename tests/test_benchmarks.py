"""The generator makes what it promises, and the tables of a run say what was measured."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from workflow import ROOT, document, write_jsonl

from benchmarks.dag import sizes
from benchmarks.make_corpus import Corpus, Originals, pieces_of
from benchmarks.measuring import timed
from benchmarks.run_folder import summary
from benchmarks.workflow import Job, running
from corpusmill.config import fractions
from corpusmill.plan import InputFile, Part, shard_counts
from corpusmill.progress import Phase
from corpusmill.readers import read_records


@pytest.fixture(scope="module")
def originals(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("originals")
    for source in range(2):
        texts = [document(100 * source + n, words=40 + 10 * n) + ".\n" for n in range(12)]
        write_jsonl(folder / f"{source}.jsonl", [{"text": text} for text in texts])
    return folder


def make(originals: Path, out: Path, *arguments: str) -> dict:
    command = [sys.executable, ROOT / "benchmarks/make_corpus.py", "--from", originals]
    command += ["--bytes", "300000", "--shard-bytes", "100000", "--out", out, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_make_corpus__same_bytes_for_any_number_of_processes(originals, tmp_path):
    one = make(originals, tmp_path / "one", "--processes", "1")
    two = make(originals, tmp_path / "two", "--processes", "2")
    assert one == two
    assert one["shards"] == 3
    assert abs(one["text_bytes"] - 300_000) < 60_000


def test_make_corpus__another_seed_gives_another_corpus(originals, tmp_path):
    assert (
        make(originals, tmp_path / "one")["sha256"]
        != (make(originals, tmp_path / "two", "--seed", "1")["sha256"])
    )


def test_make_corpus__says_what_it_repeats(originals, tmp_path):
    facts = make(originals, tmp_path / "corpus")
    texts, exact, near = [], 0, 0
    for path in sorted((tmp_path / "corpus").glob("*.jsonl.zst")):
        for record in read_records(str(path), "text", Phase("", 0, "MB")):
            meta = json.loads(b"{%s}" % record.rest)["meta"]
            texts.append(record.text)
            if meta["repeats"] != meta["number"]:
                equal = texts[meta["repeats"]] == record.text
                exact, near = exact + equal, near + (not equal)
    assert (len(texts), exact, near) == (facts["documents"], facts["exact"], facts["near"])
    assert 0.2 < (exact + near) / len(texts) < 0.4


def test_corpus__without_duplicates_all_texts_differ(originals):
    corpus = Corpus(Originals(originals), duplicates=0, seed=0)
    assert len({corpus.text(number) for number in range(200)}) == 200


@pytest.mark.parametrize("text", ["", "a", "One. Two!\n\nThree 1.2.3 four", "x" * 1000, "水。火。"])
def test_pieces_of__together_are_the_text(text):
    pieces = pieces_of(text)
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= 300 for piece in pieces)


def measurement(what: str, seconds: float, **row) -> dict:
    row = {"seconds": seconds, "peak_memory_mb": 10.0, "output": "x"} | row
    place = {"kind": "measurement", "table": "t", "group": "g", "what": what}
    return place | {"unit": "MB", "amount": 1e6} | row


def cells(rows: list[dict]) -> list[list[str]]:
    lines = [line for line in summary(rows).splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def test_summary__has_medians_least_greatest_and_ratio():
    rows = [measurement("ours", seconds) for seconds in (0.5, 0.1, 0.2)]
    rows += [measurement("theirs", 0.4, peak_memory_mb=20.0, counts={"tokens": 1234})]
    ours, theirs = cells(rows)
    assert ours == ["ours", "5.0 (2.0 - 10.0) MB/s", "0.20 (0.10 - 0.50)", "10", "1", "yes", "-"]
    assert theirs == ["theirs", "2.5 MB/s", "0.40", "20", "2.00", "yes", "1,234 tokens"]


def test_summary__says_whether_outputs_are_equal():
    rows = [measurement("ours", 1), measurement("same", 1), measurement("other", 1, output="y")]
    rows += [measurement("else", 1, not_equal="words"), measurement("silent", 1, output=None)]
    assert [row[5] for row in cells(rows)] == [
        "yes", "yes", "no", "not the same work: words", "-",
    ]  # fmt: skip


def test_running__joins_jobs_that_overlap():
    def job(start, end):
        return Job("sign", start, end, 0, 0, 0)

    assert running([job(5, 6), job(1, 3), job(2, 4), job(1.5, 2)]) == [(1, 4), (5, 6)]


def test_timed__sees_memory_that_is_given_back():
    figures, size = timed(lambda: len(b"x" * 200_000_000))
    assert size == 200_000_000
    assert 190 < figures["peak_memory_mb"] - figures["held_memory_mb"] < 400


@pytest.mark.parametrize(("parts", "shards"), [(5000, 2000), (300, 120), (10, 40)])
def test_sizes__give_just_that_many_shards(parts, shards):
    part_bytes, shard_bytes = sizes(parts, shards)
    files = [Part(n, [InputFile("empty", str(n), part_bytes)]) for n in range(parts)]
    shares = fractions({"splits": {"validation": 0.005, "test": 0.005}})
    assert sum(shard_counts(files, {"empty": 1}, shares, shard_bytes).values()) == shards
