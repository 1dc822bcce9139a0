"""What a run came to, in a form that two runs can be compared in."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

UNLIKE_IN_ANY_RUNS = {"results/plan/record.json", "results/plan/recipes", "results/report.html",
                      "results/report/times.html", "results/report/times.csv"}  # fmt: skip
DESCRIPTIONS = {"results/DATASET_CARD.md", "results/training_content.md"}


def digests(folder: Path, but: tuple[str, ...] = ("rules",)) -> dict[str, str]:
    """SHA-256 of every file of the results; of summary and manifest without these members.

    Left out are the record of what runs made, which may tell of runs in between, and times. The
    descriptions of the corpus are compared without these members of the summary.
    """
    found = {}
    named = json.loads((folder / "results/summary.json").read_bytes())
    for path in sorted((folder / "results").rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or name in UNLIKE_IN_ANY_RUNS or path.name[0] == ".":
            continue
        data = path.read_bytes()
        if name in ("results/summary.json", "results/manifest.json"):
            told = json.loads(data)
            data = json.dumps([told[key] for key in sorted(set(told) - {*but, "sha256"})]).encode()
        if name in DESCRIPTIONS:
            for member in {"config_digest", "manifest"} & {*but}:
                data = data.replace(named[member].encode(), b"")
        found[name] = hashlib.sha256(data).hexdigest()
    return found


def unlike(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """A line per file that only one of two runs has, or that differs."""
    return [
        f"{name}: " + ("differs" if name in one and name in other else "is in one run only")
        for name in sorted(one.keys() | other.keys())
        if one.get(name) != other.get(name)
    ]


def split_of_documents(folder: Path) -> dict[str, tuple]:
    """Part -> digest of its texts, splits of its documents."""
    found = {}
    for path in sorted((folder / "results/assign").glob("?????.arrow")):
        text = (folder / "results/text" / path.name).read_bytes()
        splits = pa.ipc.open_file(path).read_all()["split"].to_pylist()
        found[path.stem] = (hashlib.sha256(text).hexdigest(), splits)
    return found


def ledger(folder: Path) -> dict[tuple[str, int], dict]:
    """(file, line) -> row of the ledger."""
    rows = {}
    for path in sorted((folder / "results/ledger").glob("*.parquet")):
        for row in pq.read_table(path).to_pylist():
            rows[row["file"], row["line"]] = row
    return rows


def fates(folder: Path, place: Callable = lambda place: place) -> dict:
    """Place of a record -> what became of it, the winner by its place and not by its id."""
    rows = ledger(folder)
    place_of = {row["id"]: where for where, row in rows.items()}
    told = {}
    for where, row in rows.items():
        facts = {key: row.get(key) for key in ("source", "fate", "chars", "text_bytes", "reason")}
        winner = row["winner"]
        told[place(where)] = facts | {"winner": None if winner is None else place(place_of[winner])}
    return told


def unlike_fates(one: dict, other: dict) -> list[str]:
    return [
        f"{place}: {one.get(place)} became {other.get(place)}"
        for place in one.keys() | other.keys()
        if one.get(place) != other.get(place)
    ]
