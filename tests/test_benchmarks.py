"""The generator makes what it promises, and the tables of a run say what was measured."""

import itertools
import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import naive
import numpy as np
import pytest
import zstandard
from workflow import ROOT, document, write_jsonl

from benchmarks import growth
from benchmarks.dag import sizes
from benchmarks.dedup_quality import quality, true_pairs
from benchmarks.make_fresh_corpus import make_fresh_corpus
from benchmarks.measuring import timed
from benchmarks.packing import as_nanochat, as_stream, by_best_fit, by_first_fit
from benchmarks.removal import presets, removed, table_of, texts_by_source
from benchmarks.run_folder import summary
from benchmarks.workflow import Job, jobs_of
from benchmarks.yardstick import config_of, one_folder, sources_of, step_table
from corpusmill.mill.filters.configured import configured
from corpusmill.mill.read.readers import read_records
from corpusmill.run.config import Splits
from corpusmill.run.job_progress import Phase
from corpusmill.run.job_state import FINISHED, JobState, save_state
from corpusmill.run.plan import InputFile, Part, shard_counts, split_bytes


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


def test_make_fresh_corpus__never_repeats_itself_and_comes_out_the_same(tmp_path, progress):
    facts = [make_fresh_corpus(tmp_path / f"{n}", 500_000, processes=n) for n in (1, 2)]
    assert facts[0] == facts[1]
    assert make_fresh_corpus(tmp_path / "3", 500_000, seed=1)["shards"] != facts[0]["shards"]
    path = tmp_path / "1/00000.jsonl.zst"
    texts = [record.text for record in read_records(str(path), "text", progress)]
    assert len(texts) == facts[0]["documents"] > 50
    assert sum(len(text.encode()) for text in texts) == facts[0]["text_bytes"] >= 500_000
    tens = Counter(
        tuple(words[k : k + 10]) for words in map(str.split, texts) for k in range(len(words) - 9)
    )
    assert set(tens.values()) == {1}


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


def test_timed__sees_memory_that_is_given_back():
    figures, size = timed(lambda: len(b"x" * 200_000_000))
    assert size == 200_000_000
    assert 190 < figures["peak_memory_mb"] - figures["held_memory_mb"] < 400


@pytest.mark.parametrize(("parts", "shards"), [(5000, 2000), (300, 120), (10, 40)])
def test_sizes__give_just_that_many_shards(parts, shards):
    part_bytes, shard_bytes = sizes(parts, shards)
    files = [Part(n, [InputFile("empty", str(n), part_bytes)]) for n in range(parts)]
    shares = Splits(validation=0.005, test=0.005).fractions
    expected = split_bytes(files, {"empty": 1}, shares)
    assert sum(shard_counts(expected, shard_bytes).values()) == shards


def test_dag__measures_a_dry_run(tmp_path):
    command = [sys.executable, ROOT / "benchmarks/dag.py", "--parts", "4", "--shards", "3"]
    command += ["--runs", "1", "--run-folder", tmp_path / "runs", "--cache", tmp_path / "cache"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 parts, 3 shards" in (tmp_path / "runs/summary.md").read_text("utf-8")


def altered(text: str, chance: random.Random) -> str:
    """The text with some characters replaced, none to many."""
    letters = list(text)
    for _ in range(chance.choice([0, 1, 2, 4, 8])):
        letters[chance.randrange(len(letters))] = chance.choice("abcde F,.")
    return "".join(letters)


def all_pairs(texts: list[str], threshold: float) -> dict[tuple[int, int], float]:
    found = {}
    for a, b in itertools.combinations(range(len(texts)), 2):
        one, other = (set(naive.runs(naive.clean(texts[n]), 13)) for n in (a, b))
        value = len(one & other) / len(one | other)
        if value >= threshold:
            found[a, b] = value
    return found


@pytest.mark.some(4)
@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 1.0])
def test_true_pairs__are_those_of_all_pairs(threshold):
    chance = random.Random(threshold)
    texts = [document(n, words=20 + 10 * n) for n in range(5)]
    texts += [altered(chance.choice(texts), chance) for _ in range(60)]
    got = true_pairs(texts, threshold)
    assert got == all_pairs(texts, threshold)
    assert len(got) > 10


def test_quality__counts_missed_pairs_and_documents_dropped_for_nobody():
    pairs = [(0, 1), (1, 2), (3, 4), (5, 6)]
    got = quality(pairs, dropped={1, 3, 4, 7})
    assert got.missed == [(5, 6)]
    assert got.wrong == [3, 4, 7]  # 3 and 4 are alike, but neither is kept
    assert (got.recall, got.precision) == (0.75, 0.25)


@pytest.mark.whole
def test_growth__finds_what_is_planted(tmp_path):
    found = growth.grow(tmp_path / "growth", 30_000, sharers=100, cores=1)
    planted = growth.grouped_documents(30_000) / growth.CYCLE * growth.CYCLE_PAIRS
    assert found.identical == 1500
    assert 0.97 * planted < found.pairs - found.identical < 1.01 * planted
    assert not (tmp_path / "growth").exists()


def test_exponent__is_the_power():
    sizes = [10, 20, 50]
    assert growth.exponent(sizes, [3 * size**1.5 for size in sizes]) == pytest.approx(1.5)
    assert growth.exponent(sizes, [7, 7, 7]) == pytest.approx(0)


@pytest.mark.whole
def test_removal__tells_what_each_filter_drops_and_cuts(tmp_path):
    long, short = "This is a sentence of it. " * 8, "Too short."
    records = [
        {"text": f"menu\n{long}\n", "meta": {"language": "en"}},
        {"text": short, "meta": {"language": "en"}},
        {"text": long, "meta": {"language": "de"}},
    ]
    for data in ("one", "two"):
        (tmp_path / data / "raw").mkdir(parents=True)
        text = "\n".join(map(json.dumps, records)).encode()
        (tmp_path / data / "raw/0.jsonl.zst").write_bytes(zstandard.compress(text))
    folders = [tmp_path / "one/raw", tmp_path / "two/raw"]
    sources = texts_by_source(folders, {"raw": "web"}, ["en"], 10**6)
    assert {name: len(texts) for name, texts in sources.items()} == {"web, en": 4, "web, others": 2}
    filters = configured([{"name": "too_short", "min_chars": 50}, {"name": "c4"}])
    found = removed(sources["web, en"], filters)
    assert (found.shares, found.kept) == ({"too_short": 0.5, "c4": 0.0}, 0.5)
    whole = sum(map(len, sources["web, en"]))
    assert found.cut["c4"] * whole == 2 * (len("menu\n") + len(" \n") + len(short))
    assert found.kept_bytes * whole == 2 * len(long.strip())
    heading, _, english, others = table_of(sources, dict(presets())["slimpajama"])
    assert heading == "| source | documents | MB | `empty` | `too_short` | kept | kept bytes |"
    assert english.startswith("| web, en | 4 | 0.0 | 0.0 | 50.0 | 50.0 |")
    assert others.endswith("| 100.0 | 0.0 | 0.0 |")


def test_jobs_of__are_those_that_finished(tmp_path):
    log = tmp_path / "logs/sign/00000.log"
    log.parent.mkdir(parents=True)
    log.touch()
    save_state(log, JobState(FINISHED, began=5.0, seconds=1.5, cpu_seconds=1.0, memory_mb=80))
    assert jobs_of(tmp_path) == [Job("sign", 5.0, 6.5, 1.0, 80)]


def test_yardstick__a_folder_with_files_is_a_source(tmp_path):
    for name in ("web/a/0", "web/a/1", "web/b/0"):
        write_jsonl(tmp_path / f"{name}.jsonl.zst", [{"text": name}])
    (tmp_path / "web/empty").mkdir()
    sources = sources_of([tmp_path / "web"])
    assert {name: [file.name for file in files] for name, files in sources.items()} == {
        "web_a": ["0.jsonl.zst", "1.jsonl.zst"],
        "web_b": ["0.jsonl.zst"],
    }
    named = config_of(sources, tmp_path, "<|endoftext|>")["sources"]
    assert [source["name"] for source in named] == ["web_a", "web_b"]
    links = one_folder([file for files in sources.values() for file in files], tmp_path / "links")
    assert [path.resolve() for path in sorted(links.iterdir())] == [
        *sources["web_a"],
        *sources["web_b"],
    ]
    with pytest.raises(ValueError, match=r"expected \.jsonl\.zst files"):
        sources_of([tmp_path / "web/empty"])


def test_yardstick__counts_the_seconds_of_a_step_per_gb():
    runs = [
        [Job("sign", 0, 1, cpu, 1), Job("sign", 0, 1, cpu, 1), Job("plan", 0, 1, 0.01, 1)]
        for cpu in (1.0, 2.0, 4.0)
    ]
    assert step_table(runs, 500_000_000).splitlines()[2:] == [
        "| sign | 2 | 8.0 (4.0 - 16.0) |",
        "| 1 others | 1 | 0.0 (0.0 - 0.0) |",
    ]


def test_one_core__counts_documents_and_tokens(tmp_path, tiny_tokenizer):
    lines = [json.dumps({"text": text}).encode() + b"\n" for text in ("one two", "three é")]
    packed = b"".join(map(zstandard.ZstdCompressor().compress, lines))  # a frame each
    (tmp_path / "a.jsonl.zst").write_bytes(packed)
    command = [sys.executable, ROOT / "benchmarks/peers/one_core.py", "--tokenizer"]
    command += [tiny_tokenizer[0], tmp_path / "a.jsonl.zst"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert (found["documents in"], found["text_bytes"]) == (2, 15)
    assert found["tokens"] >= 2


def buffered(sizes: list[int], capacity: int) -> tuple[int, int, int]:
    """Rows, cut documents and lost tokens of nanochat's loader."""
    left, buffer, row, rows, cut, lost = list(sizes), [], 0, 0, 0, 0
    while True:
        while len(buffer) < 1000 and left:
            buffer, left = buffer + left[:128], left[128:]
        if not buffer:
            return rows, cut, lost + row
        fitting = [size for size in buffer if size <= capacity - row]
        chosen = max(fitting) if fitting else min(buffer)
        buffer.remove(chosen)
        cut += not fitting
        lost += max(0, chosen - (capacity - row))
        row = min(capacity, row + chosen)
        if row == capacity:
            rows, row = rows + 1, 0


@pytest.mark.parametrize("seed", range(4))
def test_ways_of_packing__equal_naive(seed):
    random = np.random.default_rng(seed)
    sizes, length = random.integers(1, 60, 1500), int(random.integers(5, 40))
    assert as_nanochat(sizes, length)[:3] == buffered(sizes.tolist(), length + 1)
    ends = np.cumsum(sizes).tolist()
    starts = [0, *ends[:-1]]
    rows = (ends[-1] - 1) // length
    windows = [range(row * length, row * length + length + 1) for row in range(rows)]
    reached = [(a, b) for a, b in zip(starts, ends, strict=True) if a < rows * length]
    cut = sum(
        not any(a in w and b - 1 in w for w in windows[a // length :][:1]) for a, b in reached
    )
    assert as_stream(sizes, length)[:3] == (rows, cut, ends[-1] - rows * length - 1)


@pytest.mark.parametrize("seed", range(4))
def test_first_fit__equals_naive(seed):
    random = np.random.default_rng(seed)
    sizes, length = random.integers(1, 60, 300), int(random.integers(5, 40))
    pieces = sorted((size for _, size in naive.cut_documents(sizes.tolist(), length)), reverse=True)
    rows: list[int] = []
    for piece in pieces:
        row = next((n for n, held in enumerate(rows) if held + piece <= length + 1), len(rows))
        rows[row:] = [sum(rows[row : row + 1]) + piece, *rows[row + 1 :]]
    assert by_first_fit(sizes, length).rows == len(rows)
    assert by_best_fit(sizes, length).held == by_first_fit(sizes, length).held == sum(pieces)
