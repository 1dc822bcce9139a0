"""Whole runs in an order other than shuffled."""

import json
import os
import subprocess
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tokenizer_kinds import byte_level
from warm import warm_python
from workflow import ROOT, digests, mill, small_corpus, snakemake, summary

from corpusmill.reader import Corpus, InOrder

CURRICULUM = {"by": {"member": "score"}, "bands": 3, "descending": True}
ORDERS = {"as_found": "as_found", "curriculum": CURRICULUM}


def config_of(folder: Path, order) -> dict:
    """A corpus whose records have a score, but for one in seven; one source occurs 2.5 times."""
    config = small_corpus(folder)
    for path in folder.glob("raw/*/*.jsonl"):
        records = [json.loads(line) for line in path.read_text().splitlines()]
        for number, record in enumerate(records):
            if number % 7:
                record["score"] = (number * 37) % 101 / 10
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    config["sources"][0]["weight"] = 2.5
    config["output"] = {"shard_bytes": 65_536}
    config["tokenizer"] = {"source": byte_level(folder / "tokenizer")}
    return config | {"shuffle": {"order": order}}


def rows_of(folder: Path, split: str = "train") -> list[dict]:
    files = sorted((folder / f"results/placements/{split}").glob("*.parquet"))
    return pa.concat_tables(map(pq.read_table, files)).to_pylist()


def ledger(folder: Path) -> dict[int, dict]:
    files = sorted((folder / "results/ledger").glob("*.parquet"))
    rows = pa.concat_tables(map(pq.read_table, files)).to_pylist()
    return {row["id"]: row for row in rows if row["id"] is not None}


def scores(folder: Path) -> dict[int, float | None]:
    found = {}
    for id, row in ledger(folder).items():
        line = (folder / row["file"]).read_text().splitlines()[row["line"] - 1]
        found[id] = json.loads(line).get("score")
    return found


def corpusmill(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [warm_python(), "-m", "corpusmill", *arguments], env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=folder, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module", params=list(ORDERS))
def ordered(request, tmp_path_factory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp(request.param)
    mill(folder, config_of(folder, ORDERS[request.param]))
    return request.param, folder


def test_order__documents_are_where_they_should_be(ordered):
    name, folder = ordered
    rows = rows_of(folder)
    assert len({row["shard"] for row in rows}) > 3
    kept = {id: row for id, row in ledger(folder).items() if row["split"] == "train"}
    assert Counter(row["id"] for row in rows) == {id: row["copies"] for id, row in kept.items()}
    if name == "as_found":
        for split in ("train", "validation", "test"):
            places = [(row["copy"], row["id"]) for row in rows_of(folder, split)]
            assert places == sorted(places)
        return
    score, bands = scores(folder), summary(folder)["order"]["train"]["bands"]
    at = 0
    least = [float("inf")]
    for band in bands[:-1]:
        mine = [score[row["id"]] for row in rows[at : at + band["copies"]]]
        assert len({row["id"] for row in rows[at : at + band["copies"]]}) == band["documents"]
        assert max(mine) < least[-1]
        least.append(min(mine))
        assert mine != sorted(mine, reverse=True)
        at += band["copies"]
    assert {score[row["id"]] for row in rows[at:]} == {None}
    assert len(rows) - at == bands[-1]["copies"] > 20
    assert max(one["size"] for one in bands[:-1]) < 1.2 * min(one["size"] for one in bands[:-1])
    assert "documents have no score, so they come last" in (
        folder / "results/summary.txt"
    ).read_text()  # fmt: skip


def test_order__shards_are_about_equally_large(ordered):
    _, folder = ordered
    paths = (folder / "results/corpus/train").glob("*.json")
    facts = [json.loads(path.read_text()) for path in paths]
    sizes = [sum(one["text_bytes"] for one in fact["by_source"].values()) for fact in facts]
    assert max(sizes) < 1.5 * min(sizes)


def test_order__is_the_same_on_one_core(ordered, tmp_path):
    name, folder = ordered
    mill(tmp_path, config_of(tmp_path, ORDERS[name]), "--cores", "1")
    assert digests(tmp_path) == digests(folder)


def test_order__is_verified_proved_and_explained(ordered):
    name, folder = ordered
    said = corpusmill(folder, "verify", "results", "--deep")
    assert ("the order of train" in said) == (name == "curriculum")
    said = corpusmill(folder, "prove", "--parts", "1", "--shards", "2")
    assert "the order of documents in train" in said
    twice = next(row for row in rows_of(folder) if row["copy"] == 1)
    copies = [row for row in rows_of(folder) if row["id"] == twice["id"]]
    told = json.loads(corpusmill(folder, "why", str(twice["id"]), "--json"))
    assert [(one["shard"], one["row"]) for one in told["copies"]] == [
        (row["shard"], row["row"]) for row in sorted(copies, key=lambda row: row["copy"])
    ]


def test_order__reads_as_stored(ordered):
    _, folder = ordered
    train = Corpus(str(folder / "results")).split("train")
    first = train.placement(0)
    assert (first["id"], first["copy"]) == next((row["id"], row["copy"]) for row in rows_of(folder))
    assert len(InOrder(train, 64).samples) > 100


def test_order__of_another_name_only_shuffles_again(ordered):
    _, folder = ordered
    again = snakemake(
        folder, "--configfile", "mine.yaml", "--cores", "2", "-n", "--quiet", "rules", "--config",
        'shuffle={"order": "shuffled"}',
    )  # fmt: skip
    said = again.stdout + again.stderr
    assert "scatter" in said
    assert "gauge" not in said
    assert "normalize" not in said


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ({"by": {"member": "nothing"}, "bands": 2},
         "shuffle.order: no document of train has a value for nothing. Choose another value."),
        (CURRICULUM | {"missing": "fail"}, "documents of train have no value for score."),
    ],
)  # fmt: skip
def test_order__stops_before_the_shuffle(tmp_path, order, said):
    (tmp_path / "mine.yaml").write_text(json.dumps(config_of(tmp_path, order)))
    done = snakemake(tmp_path, "--configfile", "mine.yaml", "--cores", "2")
    assert done.returncode
    assert said in done.stdout + done.stderr
    assert not (tmp_path / "results/scatter").exists()


@pytest.mark.parametrize("order", ORDERS.values(), ids=str)
def test_order__of_a_corpus_that_grew_is_that_of_all_documents(tmp_path, order):
    config = config_of(tmp_path, order)
    whole = config["sources"]
    early = [source | {"files": [f"raw/{source['name']}/0.jsonl"]} for source in whole]
    mill(tmp_path, config | {"sources": early})
    before = {row["id"] for row in rows_of(tmp_path)}
    mill(tmp_path, config)
    rows = rows_of(tmp_path)
    assert before < {row["id"] for row in rows}
    if order == "as_found":
        places = [(row["copy"], row["id"]) for row in rows]
        assert places == sorted(places)


def test_order__applies_within_each_stage(tmp_path):
    config = config_of(tmp_path, {"by": "text_bytes", "bands": 2}) | {
        "stages": [
            {"name": "stable", "budget": {"bytes": 200_000}},
            {"name": "decay", "budget": {"bytes": 60_000}, "exclude": ["stable"]},
        ]
    }
    mill(tmp_path, config)
    told = summary(tmp_path)["order"]
    assert set(told) == {"stable", "decay"}
    for stage, of_stage in told.items():
        assert sum(band["copies"] for band in of_stage["bands"]) == len(rows_of(tmp_path, stage))
