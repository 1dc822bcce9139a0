"""Policies of sources, dedup.within and dedup.min_sources in whole runs."""

import json
import shutil
from pathlib import Path

import pytest
from test_mixture_workflow import corpusmill, ledger
from tokenizer_kinds import byte_level
from workflow import digests, document, mill, snakemake, summary, write_jsonl

DUMPS = ("2023", "2024", None)


def near(number: int) -> str:
    """Like document(number), but for its last words."""
    return document(number, 64)


def corpus(folder: Path) -> dict:
    """Four sources that share 20 texts and have 20 that are much alike; returns the config."""
    shared = [document(n) for n in range(20)]
    for place, source in enumerate(("web", "books", "forms", "drills")):
        texts = shared + [near(n) if place % 2 else document(n) for n in range(20, 40)]
        texts += [document(1000 * (place + 1) + n) for n in range(10)] + shared[:5]
        records = [
            {"text": text, "meta": {"dump": DUMPS[n % 3]} if n % 3 < 2 else {}}
            for n, text in enumerate(texts)
        ]
        for half in range(2):
            write_jsonl(folder / f"raw/{source}/{half}.jsonl", records[half::2])
    policies = {"web": "near", "books": "near", "forms": "exact", "drills": "none"}
    return {
        "sources": [
            {"name": name, "files": [f"raw/{name}/*.jsonl"], "duplicates": policy,
             "max_duplicate_fraction": 1}
            for name, policy in policies.items()
        ],
        "input": {"part_bytes": 65_536},
        "splits": {"validation": 0.2, "test": 0.1},
        "tokenizer": {"source": byte_level(folder / "tokenizer")},
    }  # fmt: skip


@pytest.fixture(scope="module")
def exempt(tmp_path_factory) -> Path:
    """A run with a policy for each source."""
    folder = tmp_path_factory.mktemp("exempt")
    mill(folder, corpus(folder))
    return folder


def rows_of(folder: Path) -> list[dict]:
    rows = ledger(folder).to_pylist()
    lines = {path: path.read_text().splitlines() for path in folder.glob("raw/*/*")}
    for row in rows:
        record = json.loads(lines[folder / row["file"]][row["line"] - 1])
        row |= {"text": record["text"], "dump": record["meta"].get("dump")}
    return rows


def test_policies__exempt_sources_lose_no_document(exempt):
    dropped: dict[str, list[dict]] = {}
    for row in rows_of(exempt):
        dropped.setdefault(row["source"], []).extend([row] * (row["fate"] == "duplicate"))
    source_of = {row["id"]: row["source"] for row in rows_of(exempt)}
    assert dropped["drills"] == []
    assert {row["stage"] for row in dropped["forms"]} == {"identical"}
    assert {source_of[row["winner"]] for row in dropped["books"]} <= {"web", "books", "forms"}
    assert {row["stage"] for row in dropped["web"]} > {"identical"}
    told = summary(exempt)
    for name, rows in dropped.items():
        figures = dict(told["sources"][name]["duplicates"])
        assert figures.pop("policy") == {"forms": "exact", "drills": "none"}.get(name, "near")
        assert sum(figures.values()) == len(rows)
    words = (exempt / "results/summary.txt").read_text()
    assert "source drills has duplicates: none; 0 dropped" in words


def test_policies__of_an_equal_text_one_is_kept_but_for_exempt_sources(exempt):
    kept = [row for row in rows_of(exempt) if row["fate"] != "duplicate"]
    compared = [row["text"] for row in kept if row["source"] != "drills"]
    assert len(set(compared)) == len(compared)
    assert sum(row["source"] == "drills" for row in kept) == 55


def test_why__says_with_whom_a_document_was_compared(exempt):
    rows = rows_of(exempt)
    kept = {row["source"]: row["id"] for row in rows if row["fate"] == "kept"}
    said = {name: " ".join(corpusmill(exempt, "why", str(id)).split()) for name, id in kept.items()}
    assert "Not compared: the source drills has duplicates: none." in said["drills"]
    assert "has duplicates: exact, so only equal texts were compared." in said["forms"]
    assert "compared" not in said["web"]


def test_within__compares_only_documents_with_the_same_value(tmp_path):
    config = corpus(tmp_path)
    for method, resolve in (("verified", "kept"), ("sketch", "component"), ("exact", "kept")):
        config["dedup"] = {"within": "meta.dump", "method": method, "resolve": resolve}
        mill(tmp_path, config)
        rows = {row["id"]: row for row in rows_of(tmp_path)}
        pairs = [(row, rows[row["winner"]]) for row in rows.values() if row["fate"] == "duplicate"]
        assert pairs
        assert all(one["dump"] == other["dump"] for one, other in pairs)
        left = [(row["text"], row["dump"]) for row in rows.values()
                if row["fate"] != "duplicate" and row["source"] != "drills"]  # fmt: skip
        assert len(set(left)) == len(left)
        assert len({text for text, _ in left}) < len(left)
    said = " ".join(corpusmill(tmp_path, "why", str(pairs[0][1]["id"])).split())
    assert "Only documents with the same meta.dump were compared (dedup.within)." in said


def test_min_sources__keeps_what_several_sources_have(tmp_path):
    config = corpus(tmp_path) | {"dedup": {"min_sources": 2}}
    mill(tmp_path, config)
    rows = rows_of(tmp_path)
    of = {row["id"]: {row["source"]} for row in rows}
    for row in rows:
        if row["fate"] == "duplicate":
            of[row["winner"]].add(row["source"])
    for row in rows:
        if row["fate"] != "duplicate":
            agreed = row["source"] == "drills" or len(of[row["id"]]) > 1
            assert (row["fate"] == "few_sources") == (not agreed)
    few = [row for row in rows if row["fate"] == "few_sources"]
    assert summary(tmp_path)["documents"]["dropped"]["few_sources"] == len(few) > 30
    said = " ".join(corpusmill(tmp_path, "why", str(few[0]["id"])).split())
    assert "Fewer than 2 sources have this document or a duplicate of it" in said
    corpusmill(tmp_path, "verify", "results", "--deep")
    corpusmill(tmp_path, "prove", "--parts", "2", "--shards", "1")


def test_policies__give_the_same_bytes_for_other_cores_and_order(tmp_path):
    whole, other = tmp_path / "whole", tmp_path / "other"
    whole.mkdir()
    config = corpus(whole) | {"dedup": {"within": "meta.dump", "min_sources": 2}}
    config["mixture"] = {
        "budget": {"bytes": 30_000},
        "by": [{"value": "duplicate_sources", "bins": [2, 3]}],
        "copies": [{"by": "duplicate_sources", "curve": {1: 1, 3: 2}}],
    }
    shutil.copytree(whole, other)
    mill(whole, config)
    (other / "mine.yaml").write_text(json.dumps(config))
    done = snakemake(other, "--configfile", "mine.yaml", "--cores", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert digests(whole) == digests(other)
    account = summary(whole)["mixture"]["train"]
    cells = {cell["cell"][0]: cell["documents"] for cell in account["cells"]}
    assert sum(cells.values()) > 0
    assert len(cells) >= 2


def test_check__names_a_member_that_no_record_has(tmp_path):
    config = corpus(tmp_path) | {"dedup": {"within": "meta.dmup"}}
    (tmp_path / "mine.yaml").write_text(json.dumps(config))
    said = corpusmill(tmp_path, "check", "mine.yaml")
    assert "dedup.within needs the member meta.dmup, but none of the first records has it" in said
    assert "Did you mean meta.dump" in said
