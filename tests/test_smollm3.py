"""The three stages of SmolLM3, with generated sources for all of its data sets."""

import copy
import os
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from tokenizer_kinds import byte_level
from warm import warm_python
from workflow import ROOT, command, digests, document, mill, summary, write_jsonl

SCALE = 1 / 20_000_000
STAGES = yaml.safe_load((ROOT / "presets/smollm3/stages.yaml").read_text("utf-8"))
TOKENS_PER_DOCUMENT = 350


def scaled() -> dict:
    """The preset with budgets of 400,000, 50,000 and 100,000 tokens."""
    found = copy.deepcopy(STAGES)
    for stage in found["stages"]:
        stage["budget"]["tokens"] = round(stage["budget"]["tokens"] * SCALE)
    return found


def shares_of(stage: dict) -> dict[str, float]:
    total = sum(stage["shares"].values())
    return {name: share / total for name, share in stage["shares"].items()}


def corpus(folder: Path) -> dict:
    """Sources with about enough documents for one and a half epochs of their largest share."""
    config = scaled()
    wanted: Counter = Counter()
    for stage in config["stages"]:
        for name, share in shares_of(stage).items():
            wanted[name] = max(wanted[name], share * stage["budget"]["tokens"])
    for number, name in enumerate(wanted):
        documents = 2 + round(wanted[name] / TOKENS_PER_DOCUMENT / 1.5)
        records = [{"text": document(10_000 * number + k, 20 + 7 * (k % 9))}
                   for k in range(documents)]  # fmt: skip
        write_jsonl(folder / f"raw/{name}/0.jsonl", records)
    return config | {
        "sources": [{"name": name, "files": [f"raw/{name}/*.jsonl"]} for name in wanted],
        "filters": [{"name": "empty"}],
        "dedup": {"method": "exact"},
        "tokenizer": {"source": byte_level(folder / "tokenizer")},
    }


def tokens_in(folder: Path, stage: str) -> tuple[Counter, Counter]:
    """Tokens and longest document of each source, counted from the placements."""
    files = sorted((folder / f"results/placements/{stage}").glob("*.parquet"))
    rows = pa.concat_tables([pq.read_table(file) for file in files])
    tokens: Counter = Counter()
    longest: Counter = Counter()
    for row in rows.select(["source", "token_start", "token_end"]).to_pylist():
        size = row["token_end"] - row["token_start"]
        tokens[row["source"]] += size
        longest[row["source"]] = max(longest[row["source"]], size)
    return tokens, longest


def assert_reached(folder: Path) -> None:
    for stage in scaled()["stages"]:
        tokens, longest = tokens_in(folder, stage["name"])
        budget = stage["budget"]["tokens"]
        for name, share in shares_of(stage).items():
            assert abs(tokens[name] - share * budget) <= (longest[name] or 2000), name
        assert 0 <= budget - tokens.total() <= max(longest.values())
        assert tokens.total() == summary(folder)["tokens"][stage["name"]]


@pytest.fixture(scope="module")
def milled(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("smollm3")
    mill(folder, corpus(folder))
    return folder


def test_smollm3__preset_has_the_published_data_sets():
    counts = [sum(share > 0 for share in one["shares"].values()) for one in STAGES["stages"]]
    assert counts == [41, 46, 46]
    totals = [sum(one["shares"].values()) for one in STAGES["stages"]]
    assert totals == pytest.approx([1, 1.00005, 1.14642], abs=1e-5)


def test_smollm3__every_source_reaches_its_share(milled):
    assert_reached(milled)


def test_smollm3__is_the_same_for_one_core(milled, tmp_path):
    mill(tmp_path, corpus(tmp_path), "--cores", "1")
    assert digests(tmp_path) == digests(milled)


def test_smollm3__is_the_same_after_a_kill(milled, tmp_path):
    config = corpus(tmp_path)
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(config))
    running = subprocess.Popen(
        command("--configfile", "mine.yaml", "--cores", "2", python=warm_python()), cwd=tmp_path,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        while running.poll() is None and not any((tmp_path / "results").glob("copies/*.arrow")):
            time.sleep(0.02)
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    mill(tmp_path, config, "--rerun-incomplete", "--nolock")
    assert digests(tmp_path) == digests(milled)


def test_smollm3__shares_hold_after_new_files(milled, tmp_path):
    config = corpus(tmp_path)
    mill(tmp_path, config)
    for place, name in enumerate(("fineweb-edu", "peS2o")):
        records = [{"text": document(2_000_000 + 1000 * place + k)} for k in range(90)]
        write_jsonl(tmp_path / f"raw/{name}/1.jsonl", records)
    said = mill(tmp_path, config).stderr
    assert "NOTE: files were added, so the stages stage1, stage2, stage3 are composed" in said
    assert_reached(tmp_path)
    assert digests(tmp_path) != digests(milled)
