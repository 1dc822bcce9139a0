"""The sample of a calibration: even, bounded, and the same whatever the order of the files."""

import gzip
import itertools
import json
import random
import time
from collections import Counter
from pathlib import Path

import naive
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.messages.progress import Silence
from corpusmill.mill.read.parts import SCHEMA, TextPart
from corpusmill.run import config
from corpusmill.run.plan import list_inputs
from corpusmill.tools.tune.sample import (
    LEAST_STRETCH,
    MOST_STRETCHES,
    Source,
    Wanted,
    even_sample,
    proportional_sample,
    shared_evenly,
    stretches,
)


def sources_at(folder: Path, *names: str) -> list[Source]:
    asked = [config.Source(name=name, files=[f"{folder}/{name}*"]) for name in names]
    files = list_inputs(asked, {})
    return [Source(name, "text", [f for f in files if f.source == name]) for name in names]


def write(path: Path, texts: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))


def rows_of(part: Path) -> list[dict]:
    return [row for batch in TextPart(part, SCHEMA.names).batches() for row in batch.to_pylist()]


def sampled(
    sources: list[Source], documents: int, part: Path, read_bytes: int = 10**9, seed: int = 1
) -> tuple[list, list[dict]]:
    how = Wanted(seed, {"mode": "nfc"})
    return even_sample(sources, how, read_bytes, documents, part, Silence()), rows_of(part)


@given(st.integers(0, 50), st.lists(st.integers(0, 20), min_size=1, max_size=6))
def test_shared_evenly__equals_handing_out_one_by_one(total, wants):
    got = shared_evenly(total, wants)
    assert sum(got) == min(total, sum(wants))
    assert all(share <= want for share, want in zip(got, wants, strict=True))
    handed = naive.handed_out(total, wants)
    assert all(abs(one - other) <= 1 for one, other in zip(got, handed, strict=True))


@pytest.mark.parametrize("size", [1, 97, 400])
@pytest.mark.parametrize("share", [0.1, 0.37, 0.99])
def test_stretches__hold_every_byte_with_one_chance(size, share, monkeypatch):
    """The exact law: over all places to begin, each byte is read as often as any other."""
    monkeypatch.setattr("corpusmill.tools.tune.sample.LEAST_STRETCH", 5)
    count = max(1, min(MOST_STRETCHES, int(size * share) // 5))
    every = [stretches(size, share, first) for first in range(size)]
    seen = Counter(byte for found in every for a, b in found for byte in range(a, b))
    expected = count * int(size * share / count)
    assert [seen[byte] for byte in range(size)] == [expected] * size
    assert all(b <= a for found in every for (_, b), (a, _) in itertools.pairwise(found))


def test_sample__is_what_naive_takes(tmp_path):
    texts = {name: [f"{name} {n}" for n in range(50)] for name in ("a0", "a1", "b0")}
    for name, some in texts.items():
        write(tmp_path / f"{name}.jsonl", some)
    told, rows = sampled(sources_at(tmp_path, "a", "b"), 40, tmp_path / "part")
    expected = naive.even_sample([texts["a0"], texts["a1"]], 20, 1, "sample/a")
    expected += naive.even_sample([texts["b0"]], 20, 1, "sample/b")
    assert [row["text"] for row in rows] == expected
    assert [(one.documents, one.sampled, one.read_share) for one in told] == [
        (100, 20, 1), (50, 20, 1)
    ]  # fmt: skip


def test_sample__does_not_depend_on_how_files_lie_there(tmp_path):
    names = [f"a{n}.jsonl" for n in range(6)]
    parts = []
    for folder, order in (("one", names), ("other", names[::-1])):
        for name in order:
            write(tmp_path / folder / name, [f"{name} {n}" for n in range(40)])
        found = sampled(sources_at(tmp_path / folder, "a"), 30, tmp_path / folder / "part")
        parts.append([(row["text"], row["file"], row["line"]) for row in found[1]])
    assert parts[0] == parts[1]


def test_proportional_sample__weighs_what_it_did_not_read(tmp_path):
    """Of 40 files it reads 8, and of their documents it takes a third."""
    for n in range(40):
        write(tmp_path / f"a{n:02d}.jsonl", [f"{n} {k}" for k in range(300)])
    sources, part = sources_at(tmp_path, "a"), tmp_path / "part"
    wanted = Wanted(1, {"mode": "nfc"})
    (told,) = proportional_sample(sources, wanted, (1.0, 1 / 3), 8, part, Silence())
    rows = rows_of(part)
    assert told.sampled == len(rows) == pytest.approx(8 * 100, rel=0.1)
    assert len({row["text"].split()[0] for row in rows}) == 8
    assert told.read_share == pytest.approx(0.2, rel=0.02)
    assert told.documents == told.records == pytest.approx(12_000, rel=0.02)
    assert told.weight * told.sampled == pytest.approx(told.documents)
    assert told.share == pytest.approx(1 / 15, rel=0.1)


def chi_square(counts: list[int]) -> float:
    mean = sum(counts) / len(counts)
    return sum((count - mean) ** 2 for count in counts) / mean


@pytest.mark.whole
@pytest.mark.parametrize("read_bytes", [10**9, 12_000])
def test_sample__is_even(tmp_path, read_bytes, monkeypatch):
    """Whether records are long or short, first or last, and all read or entered at even places."""
    monkeypatch.setattr("corpusmill.tools.tune.sample.LEAST_STRETCH", 600)
    write(tmp_path / "a.jsonl", [f"{n} {'x' * (10 if n % 7 else 900)}" for n in range(200)])
    seen: Counter = Counter()
    seeds = 300
    for seed in range(seeds):
        documents = 10**6 if read_bytes < 10**9 else 40
        asked = sources_at(tmp_path, "a"), documents, tmp_path / "part", read_bytes, seed
        _, rows = sampled(*asked)
        seen.update(int(row["text"].split()[0]) for row in rows)
    counts = [seen[n] for n in range(200)]
    # 199 degrees of freedom have a mean of 199, and 280 or more in one of 7,000 cases; taken
    # without replacement, counts vary less.
    assert chi_square(counts) < 280
    long, short = (
        np.mean([seen[n] for n in range(200) if bool(n % 7) == kind]) for kind in (False, True)
    )
    assert long == pytest.approx(short, rel=0.05)


def test_sample__of_a_packed_file_is_of_its_beginning(tmp_path):
    rng = random.Random(1)
    texts = [f"{n} {rng.randbytes(3000).hex()}" for n in range(1000)]
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts).encode()
    (tmp_path / "a.jsonl.zst").write_bytes(zstandard.compress(lines))
    size = (tmp_path / "a.jsonl.zst").stat().st_size
    (told,), rows = sampled(sources_at(tmp_path, "a"), 100, tmp_path / "part", size)
    assert max(row["line"] for row in rows) < 400  # a quarter of it, and the rest of a block
    assert told.read_share == pytest.approx(0.25, abs=0.1)
    assert told.documents == pytest.approx(1000, rel=0.2)
    assert told.entered == []


def test_sample__of_an_entered_file_names_the_byte(tmp_path):
    write(tmp_path / "a.jsonl", [f"{n} {'x' * n}" for n in range(2000)])
    size = (tmp_path / "a.jsonl").stat().st_size
    (told,), rows = sampled(sources_at(tmp_path, "a"), 50, tmp_path / "part", size // 4)
    data = (tmp_path / "a.jsonl").read_bytes()
    assert size > LEAST_STRETCH
    assert told.entered == [f"{tmp_path}/a.jsonl"]
    for row in rows:
        assert json.loads(data[row["line"] :].split(b"\n")[0])["text"] == row["text"]


def test_sample__of_a_file_that_expands_further_than_text_ends_there(tmp_path, monkeypatch):
    monkeypatch.setattr("corpusmill.tools.tune.sample.LEAST_REFUSED", 1000)
    line = json.dumps({"text": "a" * 990}).encode() + b"\n"
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(line * 5000))
    with pytest.raises(ValueError, match=r"a\.jsonl\.gz:\d+: expected at most .* of records"):
        sampled(sources_at(tmp_path, "a"), 5, tmp_path / "part")


@pytest.mark.whole
@pytest.mark.parametrize("ending", [".jsonl.zst", ".jsonl.gz", ".parquet"])
@pytest.mark.parametrize("read_bytes", [10**9, 20_000])
def test_sample__of_millions_of_equal_texts_reads_some_of_them(tmp_path, ending, read_bytes):
    """Their few bytes expand far further than text does, and less far than is refused."""
    path, count = tmp_path / f"a{ending}", 3_000_000
    lines = b'{"text":"equal"}\n' * count
    if ending == ".parquet":
        pq.write_table(pa.table({"text": pa.repeat("equal", count)}), path)
    elif ending == ".jsonl.gz":
        path.write_bytes(gzip.compress(lines))
    else:
        path.write_bytes(zstandard.compress(lines))
    before = time.process_time()
    (told,), rows = sampled(sources_at(tmp_path, "a"), 5, tmp_path / "part", read_bytes)
    assert time.process_time() - before < 6
    assert told.read_share < 0.5
    assert told.documents == pytest.approx(count, rel=0.4)
    assert [row["text"] for row in rows] == ["equal"] * 5
