"""What this folder holds: the files that runs made in it, and the parts that a finished run kept.

`results/plan/record.json` is no output of a rule: Snakemake removes outputs before it makes them
again, and this has to outlive every run. A run writes down what it is going to make before its
first job; `summarize` writes down, last of all, what the finished run kept.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from corpusmill.storage.files import load_text, save_plain_json
from corpusmill.storage.untrusted import load_plain_json

RECORD = Path("results/plan/record.json")
NUMBER = "{}"
"""Stands in a pattern for five digits, from 00000 on."""

Made = dict[str, int | None]
"""Files by pattern, and how many of each there are; None: the pattern is the one file's path."""


def load_record(path: Path = RECORD) -> dict:
    """{"made": Made, "finished": the plan of the last finished run or None, "noted": SHA-256 by
    path of the input files that were replaced behind their size and time}."""
    if not path.exists():
        return {"made": {}, "finished": None, "noted": {}}
    record = load_plain_json(path)
    if record.get("corpusmill.record") != 1:
        raise ValueError(
            f"{path}: not a record of this version. Remove the folder {path.parent} to plan anew: "
            "every document then gets a new id."
        )
    return {"noted": {}} | record


def save_record(
    made: Made, finished: dict | None, noted: dict[str, str], path: Path = RECORD
) -> None:
    record = {"corpusmill.record": 1, "made": made, "finished": finished, "noted": noted}
    save_plain_json(path, record)


def begin(made: Made, path: Path = RECORD, noted: dict[str, str] | None = None) -> None:
    """Write down that a run starts that makes these files, beside those of earlier runs, and what
    it noted of input files."""
    record = load_record(path)
    refuse_foreign(made, record["made"])
    together = dict(record["made"])
    for pattern, count in made.items():
        earlier = together.get(pattern)
        together[pattern] = count if count is None else max(count, earlier or 0)
    save_record(together, record["finished"], record["noted"] | (noted or {}), path)


def refuse_foreign(made: Made, earlier: Made) -> None:
    """Raise ValueError where a result would replace a file that no earlier run has made."""
    for path in without(made, earlier):
        if path.exists() and path.parts[0] != "logs":
            raise ValueError(
                f"{path} is there already and no run of this folder's record made it; this run "
                "would replace it. Work in another folder, or move it away."
            )


def finish(made: Made, plan: Path, inputs: dict[str, str], path: Path = RECORD) -> None:
    """Write down that the run of this plan ended well. What others made is removed by then.

    inputs: SHA-256 of every input file, by path.
    """
    heading, *lines = load_text(plan).splitlines()
    parts = [json.loads(line) for line in lines]
    finished = {
        "part_bytes": json.loads(heading)["part_bytes"],
        "parts": [
            {
                "generation": part["generation"],
                "paths": [file["path"] for file in part["files"]],
            }
            for part in parts
        ],
        "inputs": inputs,
    }
    save_record(made, finished, load_record(path)["noted"], path)


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


def stale_files(made: Made, current: Made) -> Iterator[Path]:
    """Files that earlier runs made and that this one does not: what it may remove.

    made: of all runs since the last finished one; current: of this run.
    """
    return (path for path in without(made, current) if path.is_file())


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
