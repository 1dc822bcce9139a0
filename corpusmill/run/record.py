"""The record of a folder: the files that runs made in it, and the parts of the last finished run.

`results/plan/record.json` is not an output of a rule: Snakemake removes outputs before it makes
them again, and the record has to outlive every run. A run adds the files that it will make before
its first job. `summarize` adds, as its last act, the parts of the finished run.
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
"""Placeholder in a pattern for a number of five digits that starts at 00000."""

Made = dict[str, int | None]
"""Pattern -> number of files; None: the pattern is the path of a single file."""
MOST_NUMBERED, MOST_PATTERNS, MOST_FILES = 100_000, 10_000, 10_000_000


class KeptPart(TypedDict):
    generation: int
    paths: list[str]


class FinishedRun(TypedDict):
    """The plan of a run that succeeded."""

    part_bytes: int
    parts: list[KeptPart]
    inputs: dict[str, str]
    """SHA-256 by path."""


class Record(TypedDict):
    made: Made
    finished: FinishedRun | None
    manifest: str | None
    """SHA-256 in the manifest of the finished run."""
    noted: dict[str, str]
    """SHA-256 by path of input files that were replaced with equal size and time."""


def load_record(path: Path = RECORD) -> Record:
    empty: Record = {"made": {}, "finished": None, "manifest": None, "noted": {}}
    if not path.exists():
        return empty
    try:
        record = load_plain_json(path)
        # The first version had no checksum.
        if record["corpusmill.record"] != 1 and record["sha256"] != own_digest(record):
            raise ValueError("it was changed after it was written")
        if record["corpusmill.record"] > VERSION:
            raise ValueError("not a record of this version")
        return as_written(empty | record)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path}: malformed record of earlier runs ({error}). Restore the file that the last "
            f"run wrote, or remove the folder {path.parent} to make a new plan: every document "
            "then gets a new id."
        ) from error


def as_written(record: dict) -> Record:
    """Return a validated record; raise ValueError for one that no run could have written."""
    import msgspec  # here, as few jobs need it

    found = msgspec.convert(record, Record)
    counts = [count for count in found["made"].values() if count is not None]
    fits = len(found["made"]) <= MOST_PATTERNS and sum(counts) <= MOST_FILES
    if not fits or not all(0 <= n <= MOST_NUMBERED for n in counts):
        raise ValueError("it names more files than any run makes")
    for pattern in found["made"]:
        if pattern.startswith("/") or ".." in PurePosixPath(pattern).parts or "\0" in pattern:
            raise ValueError(f"it names {pattern!r}, which no run makes")
    return found


def refuse_other_run(record: Record, results: Path) -> None:
    """Raise ValueError if the record is not of the last run that succeeded here.

    A run writes the manifest first, then at its end the record, then the summary.
    """
    manifest, summary = results / "manifest.json", results / "summary.json"
    try:
        told = {load_json(summary)["manifest"]}
        if record["manifest"] not in told and manifest.exists():
            told.add(load_json(manifest)["sha256"])
    except (FileNotFoundError, DamagedError):
        return  # Unknown; those who read a damaged file report it.
    if record["manifest"] not in {None, *told}:
        raise ValueError(
            f"{results / 'plan/record.json'} and {summary} belong to different runs: one of the "
            "files was restored from an earlier run. Restore both files as the last run left "
            "them, or remove the summary to continue from the run in the record."
        )


def save_record(record: Record, path: Path = RECORD) -> None:
    told = {**record, "corpusmill.record": VERSION}
    save_plain_json(path, told | {"sha256": own_digest(told)})


def begin(made: Made, path: Path = RECORD, noted: dict[str, str] | None = None) -> None:
    """Record that a run starts and will make these files. noted: SHA-256 of replaced inputs."""
    record = load_record(path)
    refuse_foreign(made, record["made"])
    together = dict(record["made"])
    for pattern, count in made.items():
        earlier = together.get(pattern)
        together[pattern] = count if count is None else max(count, earlier or 0)
    save_record({**record, "made": together, "noted": record["noted"] | (noted or {})}, path)


def refuse_foreign(made: Made, earlier: Made) -> None:
    """Raise ValueError if a result would replace a file that no earlier run made."""
    for path in without(made, earlier):
        if path.exists() and path.parts[0] != "logs":
            raise ValueError(
                f"{path} already exists, but according to the record of this folder, no run made "
                "it. This run would replace the file. Work in a different folder, or move the file "
                "away."
            )


def finish(made: Made, plan: Path, manifest: dict, path: Path = RECORD) -> None:
    """Record that the run of this plan and manifest succeeded.

    Files of earlier runs have been removed by then.
    """
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
    """Yield the files of a pattern from number `first` on, or the single file without a number."""
    if count is None:
        yield Path(pattern)
    else:
        for number in range(first, count):
            yield Path(pattern.replace(NUMBER, f"{number:05d}"))


def without(made: Made, others: Made) -> Iterator[Path]:
    """Yield the files of `made` that are not among the others."""
    for pattern, count in made.items():
        first = others.get(pattern, 0) or 0
        if pattern not in others or first:
            yield from files_of(pattern, first, count)


def stale_files(record: Path, current: Made) -> Iterator[Path]:
    """Yield the files that earlier runs made and this one does not, which it may remove.

    Only below the folders of results and logs, as the record is untrusted. current: files of this
    run.
    """
    results = record.absolute().parent.parent
    folders = [os.path.realpath(folder) for folder in (results, results.with_name("logs"))]
    for path in without(load_record(record)["made"], current):
        if path.is_file():
            there = os.path.realpath(path.parent)
            if any(os.path.commonpath([one, there]) == one for one in folders):
                yield path


def foreign_files(current: Made) -> Iterator[Path]:
    """Yield files in this run's folders that are numbered like its own but are not.

    Programs that read a whole folder, such as a trainer or a query, read them too.
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
