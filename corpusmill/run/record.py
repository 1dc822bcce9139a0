"""What this folder holds: the files that runs made in it, and the parts that a finished run kept.

`results/plan/record.json` is no output of a rule: Snakemake removes outputs before it makes them
again, and this has to outlive every run. A run writes down what it is going to make before its
first job; `summarize` writes down, last of all, what the finished run kept.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TypedDict

from corpusmill.mill.storage.files import load_json, load_text, own_digest, save_plain_json
from corpusmill.mill.storage.sums import DamagedError
from corpusmill.mill.storage.untrusted import load_plain_json

RECORD = Path("results/plan/record.json")
VERSION = 2
NUMBER = "{}"
"""Stands in a pattern for five digits, from 00000 on."""

Made = dict[str, int | None]
"""Files by pattern, and how many of each there are; None: the pattern is the one file's path."""
MOST_NUMBERED, MOST_PATTERNS = 100_000, 10_000


class KeptPart(TypedDict):
    generation: int
    paths: list[str]


class FinishedRun(TypedDict):
    """The plan of a run that ended well."""

    part_bytes: int
    parts: list[KeptPart]
    inputs: dict[str, str]
    """SHA-256 by path."""


class Record(TypedDict):
    made: Made
    finished: FinishedRun | None
    manifest: str | None
    """The SHA-256 that the manifest of the finished run says of itself."""
    noted: dict[str, str]
    """SHA-256 by path of the input files that were replaced behind their size and time."""


def load_record(path: Path = RECORD) -> Record:
    empty: Record = {"made": {}, "finished": None, "manifest": None, "noted": {}}
    if not path.exists():
        return empty
    try:
        record = load_plain_json(path)
        # The first version said nothing of itself.
        if record["corpusmill.record"] != 1 and record["sha256"] != own_digest(record):
            raise ValueError("it was changed after it was written")
        if record["corpusmill.record"] > VERSION:
            raise ValueError("not a record of this version")
        return as_written(empty | record)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path}: no record of what runs made here ({error}). Bring back what the last run "
            f"left there; or remove the folder {path.parent} to plan anew: every document then "
            "gets a new id."
        ) from error


def as_written(record: dict) -> Record:
    """A record with the members that runs write; ValueError for one that no run has written."""
    import msgspec  # which few jobs need

    found = msgspec.convert(record, Record)
    counts = [count for count in found["made"].values() if count is not None]
    if len(found["made"]) > MOST_PATTERNS or not all(0 <= n <= MOST_NUMBERED for n in counts):
        raise ValueError("it names more files than a run makes")
    for pattern in found["made"]:
        if pattern.startswith("/") or ".." in PurePosixPath(pattern).parts or "\0" in pattern:
            raise ValueError(f"it names {pattern!r}, which no run makes")
    return found


def refuse_other_run(record: Record, results: Path) -> None:
    """Raise ValueError if the record is of another run than the last one that ended well here.

    At the end of a run this record is written first, then the summary; the manifest before both.
    """
    manifest, summary = results / "manifest.json", results / "summary.json"
    try:
        told = {load_json(summary)["manifest"]}
        if record["manifest"] not in told and manifest.exists():
            told.add(load_json(manifest)["sha256"])
    except (FileNotFoundError, DamagedError):
        return  # Nobody can say; of what is damaged its readers do.
    if record["manifest"] not in {None, *told}:
        raise ValueError(
            f"{results / 'plan/record.json'} and {summary} are of two runs: one of them was "
            "brought back from an earlier one. Bring back what the last run left there; or remove "
            "the summary to go on from the run that the record tells of."
        )


def save_record(record: Record, path: Path = RECORD) -> None:
    told = {**record, "corpusmill.record": VERSION}
    save_plain_json(path, told | {"sha256": own_digest(told)})


def begin(made: Made, path: Path = RECORD, noted: dict[str, str] | None = None) -> None:
    """Write down that a run starts that makes these files, beside those of earlier runs, and what
    it noted of input files."""
    record = load_record(path)
    refuse_foreign(made, record["made"])
    together = dict(record["made"])
    for pattern, count in made.items():
        earlier = together.get(pattern)
        together[pattern] = count if count is None else max(count, earlier or 0)
    save_record({**record, "made": together, "noted": record["noted"] | (noted or {})}, path)


def refuse_foreign(made: Made, earlier: Made) -> None:
    """Raise ValueError where a result would replace a file that no earlier run has made."""
    for path in without(made, earlier):
        if path.exists() and path.parts[0] != "logs":
            raise ValueError(
                f"{path} is there already and no run of this folder's record made it; this run "
                "would replace it. Work in another folder, or move it away."
            )


def finish(made: Made, plan: Path, manifest: dict, path: Path = RECORD) -> None:
    """Write down that the run of this plan and manifest ended well. What others made is removed by
    then."""
    heading, *lines = load_text(plan).splitlines()
    parts = [json.loads(line) for line in lines]
    finished: FinishedRun = {
        "part_bytes": json.loads(heading)["part_bytes"],
        "parts": [
            {
                "generation": part["generation"],
                "paths": [file["path"] for file in part["files"]],
            }
            for part in parts
        ],
        "inputs": {file["path"]: file["sha256"] for file in manifest["inputs"]},
    }
    record = load_record(path)
    save_record(
        {**record, "made": made, "finished": finished, "manifest": manifest["sha256"]}, path
    )


def files_of(pattern: str, first: int, count: int | None) -> Iterator[Path]:
    """The files of a pattern from number `first` on; the one file of a pattern without numbers."""
    if count is None:
        yield Path(pattern)
    else:
        for number in range(first, count):
            yield Path(pattern.replace(NUMBER, f"{number:05d}"))


def without(made: Made, others: Made) -> Iterator[Path]:
    """The files of `made` that are not among the others."""
    for pattern, count in made.items():
        first = others.get(pattern, 0) or 0
        if pattern not in others or first:
            yield from files_of(pattern, first, count)


def stale_files(record: Path, current: Made) -> Iterator[Path]:
    """Files that earlier runs made and that this one does not: what it may remove.

    Only below the folders of results and logs: whoever brought the record may have made it up.
    current: of this run.
    """
    results = record.absolute().parent.parent
    folders = [os.path.realpath(folder) for folder in (results, results.with_name("logs"))]
    for path in without(load_record(record)["made"], current):
        there = os.path.realpath(path.parent)
        if path.is_file() and any(os.path.commonpath([one, there]) == one for one in folders):
            yield path


def foreign_files(current: Made) -> Iterator[Path]:
    """Files in this run's folders that are numbered as ours and are none of this run's.

    Whoever reads a whole folder, a trainer or a query, reads them too.
    """
    patterns = [pattern for pattern, count in current.items() if count is not None]
    for folder in sorted({Path(pattern).parent for pattern in patterns}):
        if not folder.is_dir():
            continue
        for path in sorted(folder.iterdir()):
            found = re.fullmatch(r"(\d{5})(\..+)", path.name)
            if found:
                count = current.get(str(folder / f"{NUMBER}{found[2]}")) or 0
                if int(found[1]) >= count:
                    yield path
