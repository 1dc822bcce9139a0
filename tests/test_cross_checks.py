"""Numbers that are told twice: alike in a good run, and named where one of them is another."""

import pickle
from collections import Counter

import pytest
from handmade import write_bytes

from corpusmill.mill.account.cross_checks import Facts, contradictions
from corpusmill.mill.account.mixture_account import Mixed
from corpusmill.mill.storage.files import load_json, save_json

ACCOUNT = {
    "web": Counter(documents=10, malformed=1, too_short=2, duplicate=3, kept=4, text_bytes=900,
                   copies=5, train_copies=4, test_copies=1),
    "books": Counter(documents=2, kept=2, text_bytes=50, copies=2, train_copies=2),
}  # fmt: skip


@pytest.fixture
def files(tmp_path) -> dict:
    """Files that say what ACCOUNT says."""
    save_json(tmp_path / "admitted.json", {
        "web": {"records": 10, "malformed": 1, "text_bytes": 900},
        "books": {"records": 2, "text_bytes": 50},
    })  # fmt: skip
    save_json(tmp_path / "allowed.json", {
        "web": {"documents": 9, "dropped": {"empty": 0, "too_short": 2}},
        "books": {"documents": 2, "dropped": {}},
    })  # fmt: skip
    save_json(tmp_path / "duplicates.json", {
        "dropped": {"identical": 2, "shingles": 1},
        "sources": {
            "web": {
                "policy": "near", "documents": 7, "duplicates": 3,
                "stages": {"identical": 2, "shingles": 1},
            },
            "books": {"policy": "none", "documents": 2, "duplicates": 0, "stages": {}},
        },
    })  # fmt: skip
    scattered = [tmp_path / f"scattered/{part:05d}.json" for part in range(2)]
    for file, documents in zip(scattered, (3, 4), strict=True):
        save_json(file, {"documents": documents})
    shards = []
    for split, documents in (("train", 6), ("test", 1)):
        shards.append(tmp_path / split / "00000.json")
        by_source = {"web": {"documents": documents, "tokens": 10 * documents}}
        facts = {"documents": documents, "tokens": 10 * documents, "by_source": by_source}
        save_json(shards[-1], facts)
    totals = {"total_tokens": {"train": 60, "test": 10}}
    write_bytes(tmp_path / "meta.pkl", pickle.dumps(totals))
    names = ("admitted", "allowed", "duplicates")
    return {name: tmp_path / f"{name}.json" for name in names} | {
        "scattered": scattered, "shards": shards, "meta": tmp_path / "meta.pkl",
    }  # fmt: skip


def told_of(account: dict[str, Counter], files: dict) -> list[str]:
    others = {name: file for name, file in files.items() if name != "shards"}
    return contradictions(
        account, Facts([], [], files["shards"], **others), ["empty", "too_short"], Mixed({}, 0)
    )


def test_contradictions__of_a_good_run_are_none(files):
    assert told_of(ACCOUNT, files) == []


@pytest.mark.parametrize(
    ("name", "path", "says"),
    [
        ("admitted", ["web", "records"], "records of web: 10 and 11"),
        ("admitted", ["web", "malformed"], "malformed records of web: 1 and 2"),
        ("admitted", ["books", "text_bytes"], "text bytes of books: 50 and 51"),
        ("allowed", ["web", "documents"], "documents of web to filter: 9 and 10"),
        ("allowed", ["web", "dropped", "too_short"], "too_short of web: 2 and 3"),
        ("duplicates", ["sources", "web", "duplicates"], "duplicates of web: 3 and 4"),
        ("duplicates", ["sources", "books", "documents"], "documents of books to compare: 2 and 3"),
        ("duplicates", ["dropped", "shingles"], "duplicates by stage: 3 and 4"),
        ("scattered", ["documents"], "copies that were scattered: 7 and 8"),
        ("shards", ["by_source", "web", "tokens"], "60 and 61"),
        ("shards", ["by_source", "web", "documents"], "6 and 7"),
    ],
)
def test_contradictions__name_a_number_that_is_one_more(files, name, path, says):
    file = files[name][0] if name in ("scattered", "shards") else files[name]
    changed = load_json(file)
    place = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] += 1
    save_json(file, changed)
    (told,) = told_of(ACCOUNT, files)
    assert told.endswith(says)


@pytest.mark.parametrize(("policy", "count"), [("exact", 1), ("none", 3)])
def test_contradictions__see_duplicates_that_the_policy_rules_out(files, policy, count):
    changed = load_json(files["duplicates"])
    changed["sources"]["web"]["policy"] = policy
    save_json(files["duplicates"], changed)
    assert told_of(ACCOUNT, files) == [f"duplicates of web against its policy: 0 and {count}"]


def test_contradictions__see_sources_that_only_one_side_knows(files):
    known = load_json(files["admitted"])
    save_json(files["admitted"], known | {"ghost": {"records": 1}})
    assert told_of(ACCOUNT, files) == ["records of ghost: 0 and 1"]


def test_contradictions__see_what_trainers_are_told(files):
    write_bytes(files["meta"], pickle.dumps({"total_tokens": {"train": 61}}))
    found = told_of(ACCOUNT, files)
    assert found == ["tokens of train: 61 and 60", "tokens of test: 0 and 10"]
    assert told_of(ACCOUNT | {"web": ACCOUNT["web"] + Counter(test_copies=1)}, files)
