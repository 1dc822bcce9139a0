"""Duplicates in whole runs: chains, families, preferences, the guard, and a corpus that grows."""

import glob
import hashlib
import itertools
import json
import shutil
from pathlib import Path

import naive
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from workflow import digests, document, jobs, mill, small_corpus, snakemake, summary, write_jsonl

from corpusmill.mill.read.parts import TextPart

WIDTH = 13
THRESHOLD = 0.8


def words(count: int, seed: str) -> list[str]:
    """Words that share hardly a shingle."""
    return [hashlib.sha256(f"{seed} {k}".encode()).hexdigest()[:12] for k in range(count)]


def jaccard(one: str, other: str) -> float:
    a, b = (set(naive.runs(naive.clean(text), WIDTH)) for text in (one, other))
    return len(a & b) / len(a | b)


def chain(links: int, length: int = 200, step: int = 17) -> list[str]:
    """Texts each of which is the one before moved on by some words."""
    stream = words(length + links * step, "chain")
    return [" ".join(stream[k * step : k * step + length]) for k in range(links)]


def config_of(folder: Path, texts: list[str] | list[dict], **dedup) -> dict:
    """A run of these records, every other one in the second file."""
    records = [text if isinstance(text, dict) else {"text": text} for text in texts]
    for half in range(2):
        write_jsonl(folder / f"raw/{half}.jsonl", records[half::2])
    return {
        "sources": [{"name": "all", "files": ["raw/*.jsonl"], "max_duplicate_fraction": 1}],
        "input": {"part_bytes": 1 << 24},
        "splits": {"validation": 0, "test": 0},
        "dedup": dedup,
    }


def clusters(folder: Path) -> dict[int, dict]:
    """Every dropped duplicate, by id."""
    files = sorted(glob.glob(f"{folder}/results/clusters/*.parquet"))
    return {row["id"]: row for file in files for row in pq.read_table(file).to_pylist()}


def texts_of(folder: Path) -> dict[int, str]:
    """Document id -> text."""
    return {
        part << 32 | row: text
        for part, path in enumerate(sorted(folder.glob("results/text/*.arrow")))
        for row, text in enumerate(
            text
            for batch in TextPart(path, ["text"]).batches()
            for text in batch.column("text").to_pylist()
        )
    }


def deduplicated(folder: Path, texts, **dedup) -> dict[int, dict]:
    mill(folder, config_of(folder, texts, **dedup), "results/duplicates.json")
    return clusters(folder)


def test_chain__keeps_every_text_that_is_like_no_kept_one(tmp_path):
    links = chain(8)
    assert all(0.8 < jaccard(a, b) < 0.9 for a, b in itertools.pairwise(links))
    assert all(jaccard(a, b) < THRESHOLD for a, b in zip(links, links[2:], strict=False))
    assert jaccard(links[0], links[-1]) < 0.3
    dropped = deduplicated(tmp_path, links)
    texts = texts_of(tmp_path)
    kept = {id: text for id, text in texts.items() if id not in dropped}
    assert len(kept) >= 3
    for id, row in dropped.items():
        assert row["winner"] in kept
        assert row["similarity"] == pytest.approx(jaccard(texts[id], texts[row["winner"]]))
        assert row["similarity"] >= THRESHOLD
    assert all(jaccard(a, b) < THRESHOLD for a, b in itertools.combinations(kept.values(), 2))


@pytest.mark.parametrize("texts", [1000, pytest.param(10_000, marks=pytest.mark.whole)])
@pytest.mark.parametrize(("own_words", "similarity"), [(200, 0.3), (40, 0.66)])
def test_family__that_shares_a_licence_is_kept(own_words, similarity, texts, tmp_path):
    licence = " ".join(words(154, "licence"))
    assert len(licence) == 2001
    family = [f"{licence} {' '.join(words(own_words, str(k)))}" for k in range(texts)]
    assert jaccard(family[0], family[1]) == pytest.approx(similarity, abs=0.03)
    assert deduplicated(tmp_path, family) == {}


def test_identical_texts__cost_nothing_and_one_is_kept(tmp_path):
    texts = ["\n".join(words(40, "page"))] * 3000 + [document(k) for k in range(50)]
    dropped = deduplicated(tmp_path, texts, method="exact")
    assert len(dropped) == 2999
    assert {row["stage"] for row in dropped.values()} == {"identical"}
    assert {row["similarity"] for row in dropped.values()} == {1.0}
    assert len({row["winner"] for row in dropped.values()}) == 1
    assert not np.load(tmp_path / "results/signatures/00000.npy").size
    again = tmp_path / "verified"
    again.mkdir()
    assert deduplicated(again, texts, max_group_texts=2) == dropped


@pytest.mark.parametrize(("order", "expected"), [("highest", 2), ("lowest", 1)])
def test_preferred_field__decides_among_duplicates(order, expected, tmp_path):
    links = chain(2)
    records = [
        {"text": text, "score": s} for text, s in zip(links * 2, [1, 0.5, 9, 1.5], strict=True)
    ]
    dropped = deduplicated(tmp_path, records, prefer={"field": "score", "order": order})
    assert len(dropped) == 3
    (winner,) = set(range(4)) - set(dropped)  # ids: the first file's two records, the second's
    assert [0, 2, 1, 3][winner] == expected


@pytest.mark.parametrize("scheme", ["affine32", "legacy"])
def test_sketch__drops_equal_texts_that_have_no_shingle(scheme, tmp_path):
    texts = ["hello you", "-----", "hello you", "hello me", "-----", "?!", "-----"]
    config = config_of(tmp_path, texts, method="sketch", resolve="component", bands=9, rows=13)
    mill(tmp_path, config | {"minhash": {"scheme": scheme}, "filters": [{"name": "empty"}]},
         "results/duplicates.json")  # fmt: skip
    dropped, texts = clusters(tmp_path), texts_of(tmp_path)
    assert sorted(texts[id] for id in dropped) == ["-----", "-----", "hello you"]
    assert all(texts[row["winner"]] == texts[id] for id, row in dropped.items())
    without_shingle = {"-----", *(["hello you"] if scheme == "legacy" else [])}
    for id, row in dropped.items():
        assert row["stage"] == ("identical" if texts[id] in without_shingle else "band")


def test_all_candidates__of_the_filter_too_are_told_once(tmp_path):
    short = ["a short one", "b short one"]
    texts = [*short * 10, *[document(1)] * 3, *map(document, range(2, 6))]
    mill(tmp_path, config_of(tmp_path, texts, candidates="all"))
    figures = summary(tmp_path)
    assert (
        figures["documents"]["dropped"] | {"too_short": 20, "duplicate": 2}
        == (figures["documents"]["dropped"])
    )
    assert sum(figures["duplicates"].values()) == 2


def test_preferred_field__of_parquet_is_compared_exactly(tmp_path):
    config = config_of(tmp_path, [], prefer={"field": "at", "order": "highest"})
    config["sources"][0]["files"] = ["raw/*.parquet"]
    text = document(1)
    for name, nanoseconds in (("0", [5, None]), ("1", [7, 6])):
        times = pa.array(nanoseconds, pa.int64()).cast(pa.timestamp("ns"))
        pq.write_table(
            pa.table({"text": [text] * 2, "at": times}), tmp_path / f"raw/{name}.parquet"
        )
    mill(tmp_path, config, "results/duplicates.json")
    assert {row["winner"] for row in clusters(tmp_path).values()} == {2}
    report = json.loads((tmp_path / "results/duplicates.json").read_text())
    assert report["prefer"] == {"number": 0, "text": 3, "none": 1}


def test_guard__stops_with_the_evidence_until_it_is_confirmed(tmp_path):
    config = config_of(tmp_path, chain(8) + [document(1)] * 100, max_group_texts=4)
    config["sources"][0]["max_duplicate_fraction"] = 0.5
    (tmp_path / "mine.yaml").write_text(json.dumps(config))
    asked = ("--configfile", "mine.yaml", "--cores", "2", "results/duplicates.json")
    done = snakemake(tmp_path, *asked)
    assert done.returncode != 0
    told = done.stdout + done.stderr
    assert "max_duplicate_fraction allows only 0.5 of them" in told
    assert "a group of 8 different texts is connected" in told
    assert '"sample"' in told
    assert words(40, "chain")[30] in told  # what the texts share
    config["sources"][0]["max_duplicate_fraction"] = 1
    config["dedup"]["max_group_texts"] = 8
    mill(tmp_path, config, "results/duplicates.json")
    report = json.loads((tmp_path / "results/duplicates.json").read_text())
    assert report["largest_groups"][0]["texts"] == 8
    assert report["sources"]["all"]["duplicates"] == len(clusters(tmp_path))


def fates_of(folder: Path) -> dict[int, tuple[str, str]]:
    """Document id -> fate, split."""
    files = sorted(glob.glob(f"{folder}/results/ledger/*.parquet"))
    rows = [row for file in files for row in pq.read_table(file).to_pylist()]
    return {row["id"]: (row["fate"], row["split"]) for row in rows if row["id"] is not None}


def grown(folder: Path) -> None:
    """More files: new texts, copies of old ones, longer near copies of old ones."""
    records = [{"text": document(9000 + k)} for k in range(30)]
    records += [{"text": document(k)} for k in range(20, 30)]
    records += [{"text": document(k, 62)} for k in range(40, 60)]
    write_jsonl(folder / "raw/two/late.jsonl", records)


@pytest.mark.parametrize("earlier_first", [False, True])
def test_growth__equals_a_run_from_scratch_of_the_same_plan(earlier_first, tmp_path):
    before, after, scratch = (tmp_path / name for name in ("before", "after", "scratch"))
    before.mkdir()
    config = small_corpus(before) | {"dedup": {"earlier_first": earlier_first}}
    mill(before, config)
    shutil.copytree(before, after)
    grown(after)
    asked = ("--configfile", "mine.yaml", "-n", "--quiet", "rules")
    listed = jobs(snakemake(after, *asked))
    assert [listed[rule] for rule in ("normalize", "filter", "sign", "band")] == [1, 1, 1, 1]
    mill(after, config)
    manifest = [json.loads((one / "results/manifest.json").read_text()) for one in (before, after)]
    assert [one["generation"] for one in manifest] == [1, 2]
    old, new = summary(before)["documents"], summary(after)["documents"]
    assert new["in"] == old["in"] + 60
    fates = [fates_of(one) for one in (before, after)]
    kept = {id: split for id, (fate, split) in fates[0].items() if fate == "kept"}
    same = [id for id, split in kept.items() if fates[1][id] == ("kept", split)]
    if earlier_first:
        scratch.mkdir()
        shutil.copytree(after / "raw", scratch / "raw")
        shutil.copytree(after / "results/plan", scratch / "results/plan")
        mill(scratch, config)
        assert digests(after) == digests(scratch)
        assert clusters(after) == clusters(scratch)
        assert len(same) == len(kept)
        assert new["kept"] == old["kept"] + 30
    else:
        # The longer of near copies is kept now; nobody's split moved.
        assert len(same) == len(kept) - 20
        assert all(fates[1][id][1] in (None, split) for id, split in kept.items())
