"""Whole runs on real text: the ids of every document, the same bytes, parity with SlimPajama.

They need a folder with corpus/, tokenizers/ and reference/parity/, named by CORPUSMILL_DATA.
"""

import glob
import json
from pathlib import Path

import naive
import pyarrow.parquet as pq
import pytest
import yaml
from workflow import ROOT, data_folder, digests, mill, summary

from corpusmill.mill.shuffle.text_shards import read_shard
from corpusmill.mill.storage.streams import read_lines
from corpusmill.mill.storage.tables import load_table
from corpusmill.mill.tokens.token_shards import TokenFiles, TokenShard
from corpusmill.mill.tokens.tokenizers import load_reference, reference_ids
from corpusmill.run.job_progress import Phase

DATA = data_folder()
pytestmark = [
    pytest.mark.whole,
    pytest.mark.skipif(DATA is None, reason="CORPUSMILL_DATA names no folder of real text"),
]

SOURCES = ["wikipedia", "books", "arxiv", "stackexchange", "c4", "commoncrawl"]


def corpus_config(sources: list[str], tokenizer: str) -> dict:
    return {
        "sources": [
            {"name": name, "files": [f"{DATA}/corpus/{name}/*_0*.jsonl.zst"]} for name in sources
        ],
        "input": {"part_bytes": 16_000_000},
        "output": {"shard_bytes": 20_000_000},
        "tokenizer": {"source": f"{DATA}/tokenizers/{tokenizer}", "end_of_text": "<|endoftext|>"},
    }


@pytest.fixture(scope="module")
def milled(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    mill(folder, corpus_config(SOURCES, "qwen3"))
    return folder


def test_every_id__equals_the_reference(milled):
    reference = load_reference(f"{DATA}/tokenizers/qwen3")
    documents = 0
    for text in sorted(glob.glob(f"{milled}/results/corpus/*/*.jsonl.zst")):
        at = Path(text.replace("/corpus/", "/tokens/").removesuffix(".jsonl.zst"))
        shard = TokenShard(
            TokenFiles(*(at.with_suffix(ending) for ending in (".bin", ".idx", ".json")))
        )
        texts = [document.text for document in read_shard(Path(text), Phase("", 0, "MB"))]
        for row, expected in enumerate(reference_ids(reference, texts)):
            assert shard.document(row).tolist() == [*expected, 151643]
        documents += len(texts)
    assert documents == summary(milled)["documents"]["kept"]


def test_summary__balances(milled):
    figures = summary(milled)
    assert figures["balanced"] is True
    assert figures["documents"]["in"] == 4660
    for source in [figures, *figures["sources"].values()]:
        counts = source["documents"]
        assert counts["in"] == counts["kept"] + sum(counts["dropped"].values())


def test_another_run_on_one_core__gives_the_same_bytes(milled, tmp_path):
    mill(tmp_path, corpus_config(SOURCES, "qwen3"), "--cores", "1")
    assert digests(tmp_path) == digests(milled)


def test_slimpajama_preset__finds_what_its_scripts_found(tmp_path):
    """Components over all documents and short documents, of a recorded run of the originals."""
    config = corpus_config(["arxiv", "c4", "stackexchange", "wikipedia"], "gpt2")
    config["input"]["part_bytes"] = 5_000_000
    preset = yaml.safe_load((ROOT / "presets/slimpajama.yaml").read_text())
    config["dedup"] = preset.pop("dedup")
    mill(tmp_path, config | preset)
    decisions = sorted((tmp_path / "results/assign").glob("*.arrow"))
    winners = [winner for path in decisions for winner in load_table(path, "winner")[0].tolist()]
    ledgers = [pq.read_table(path).to_pylist()
               for path in sorted(glob.glob(f"{tmp_path}/results/ledger/*.parquet"))]  # fmt: skip
    documents = [row for rows in ledgers for row in rows if row["id"] is not None]
    groups: dict[int, list[str]] = {}
    short = []
    for row, winner in zip(documents, winners, strict=True):
        name = f"{Path(row['file']).name}:{row['line'] - 1}"  # the record counts lines from 0
        groups.setdefault(winner, []).append(name)
        if row["fate"] in ("too_short", "empty"):
            short.append(name)
    record = json.loads((DATA / "reference/parity/slimpajama_run.json").read_text())
    got = sorted(sorted(group) for group in groups.values() if len(group) > 1)
    assert got == sorted(sorted(group) for group in record["components"])
    assert sorted(short) == sorted(record["short"])


def test_exact_truth__finds_the_pairs_and_drops_nothing_else(tmp_path):
    """4,616 real documents; all of their pairs were found by shingle sets."""
    file = DATA / "neardup/docs.jsonl.zst"
    config = {
        "sources": [{"name": "all", "files": [str(file)], "max_duplicate_fraction": 1}],
        "filters": [{"name": "empty"}],
    }
    mill(tmp_path, config, "results/duplicates.json")
    (listed,) = tmp_path.glob("results/clusters/*.parquet")
    dropped = {row["id"]: row for row in pq.read_table(listed).to_pylist()}
    records = [json.loads(line) for line in read_lines(str(file), Phase("", 0, "MB"))]
    row_of = {record["id"]: row for row, record in enumerate(records)}
    lines = (DATA / "neardup/exact_pairs.jsonl").read_text().splitlines()
    pairs = [pair for pair in map(json.loads, lines) if (pair["jaccard"] or 0) >= 0.8]
    true = [(row_of[pair["a"]], row_of[pair["b"]]) for pair in pairs]
    assert len(true) > 1000
    found = [pair for pair in true if not (pair[0] not in dropped and pair[1] not in dropped)]
    assert len(found) >= 0.995 * len(true)
    for id, row in dropped.items():
        assert row["winner"] not in dropped
        one, other = (naive.shingles(records[k]["text"], 13) for k in (id, row["winner"]))
        assert naive.jaccard(one, other) >= 0.8
