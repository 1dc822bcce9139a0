"""Which input files make which part, and how many shards come out. Decided before any job runs.

The same files give the same plan. A plan that stands is kept: new files make new parts at the
end, so old parts keep their numbers, their documents' ids and their results.
"""

import glob
import json
import math
import os
from pathlib import Path
from typing import NamedTuple

from corpusmill.fates import SPLITS
from corpusmill.records import FORMATS, format_of


class InputFile(NamedTuple):
    source: str
    path: str
    text_bytes: int
    """Expected bytes of text, from the file's size and format."""


class Part(NamedTuple):
    number: int
    files: list[InputFile]
    generation: int = 1
    """1 for the parts of the first plan, 2 for those of files that came later, and so on."""

    @property
    def name(self) -> str:
        return f"{self.number:05d}"

    @property
    def text_bytes(self) -> int:
        return sum(file.text_bytes for file in self.files)


def list_inputs(sources: list[dict], generated: dict[str, int]) -> list[InputFile]:
    """Every input file, in the order of the sources and then of the paths.

    generated: files that a rule of the workflow makes, with their text bytes, so that a plan
    does not depend on whether they exist yet.
    """
    inputs: list[InputFile] = []
    owners: dict[str, str] = {}
    for source in sources:
        name = source["name"]
        paths: set[str] = set()
        for pattern in source["files"]:
            found = {pattern} if pattern in generated else glob.glob(pattern, recursive=True)
            files = {path for path in found if path in generated or os.path.isfile(path)}
            if not files:
                raise ValueError(
                    f'source "{name}": no file matches {pattern} (from {Path.cwd()}). '
                    "Correct sources[].files."
                )
            paths |= files
        for path in sorted(paths):
            if "{" in path:
                raise ValueError(
                    f'source "{name}": {path} has a brace in its name, which Snakemake takes for '
                    "a wildcard. Rename it, or give it another name by a link."
                )
            file = os.path.realpath(path)
            if file in owners:
                other = owners[file]
                also = "twice, by two names" if other == name else f'and to source "{other}"'
                raise ValueError(
                    f'{path} belongs to source "{name}" {also}. Let only one pattern match it.'
                )
            owners[file] = name
            if path in generated:
                text_bytes = generated[path]
            else:
                text_bytes = int(os.path.getsize(path) * FORMATS[format_of(path)])
            inputs.append(InputFile(name, path, text_bytes))
    return inputs


class EarlierPart(NamedTuple):
    """A part of a plan that stands."""

    generation: int
    paths: list[str]


def plan_parts(inputs: list[InputFile], part_bytes: int, earlier: list[EarlierPart]) -> list[Part]:
    """The parts: those of an `earlier` plan as they were, then new ones, of a new generation.

    A new part is closed when the next file would make it larger than part_bytes.
    """
    known = {file.path: file for file in inputs}
    placed = [path for part in earlier for path in part.paths]
    gone = [path for path in placed if path not in known]
    if gone and len(gone) == len(placed):
        earlier, gone, placed = [], [], []  # another corpus altogether
    if gone:
        raise ValueError(
            f"{gone[0]} is in the plan of this run but is no longer an input "
            f"({len(gone)} such files). Bring it back, or remove results/plan/parts.jsonl to plan "
            "anew: every document then gets a new id."
        )
    parts = [
        Part(number, [known[path] for path in part.paths], part.generation)
        for number, part in enumerate(earlier)
    ]
    generation = max((part.generation for part in earlier), default=0) + 1
    old = set(placed)
    open_files: list[InputFile] = []
    open_bytes = 0
    for file in inputs:
        if file.path in old:
            continue
        if open_files and open_bytes + file.text_bytes > part_bytes:
            parts.append(Part(len(parts), open_files, generation))
            open_files, open_bytes = [], 0
        open_files.append(file)
        open_bytes += file.text_bytes
    if open_files:
        parts.append(Part(len(parts), open_files, generation))
    return parts


def plan_lines(parts: list[Part], part_bytes: int) -> list[str]:
    """The plan as JSON lines: a heading, then one line per part."""
    heading = json.dumps({"corpusmill.plan": 1, "part_bytes": part_bytes})
    return [heading] + [
        json.dumps(
            {
                "part": part.number,
                "generation": part.generation,
                "files": [file._asdict() for file in part.files],
            }
        )
        for part in parts
    ]


def earlier_plan(path: Path, part_bytes: int) -> list[EarlierPart]:
    """The parts of the plan that stands; none if it was made for other part_bytes."""
    if not path.exists():
        return []
    heading, *lines = path.read_text("utf-8").splitlines()
    if json.loads(heading).get("part_bytes") != part_bytes:
        return []
    parts = [json.loads(line) for line in lines]
    return [
        EarlierPart(part.get("generation", 1), [file["path"] for file in part["files"]])
        for part in parts
    ]


def shard_counts(
    parts: list[Part], weights: dict[str, float], fractions: dict[str, float], shard_bytes: int
) -> dict[str, int]:
    """How many shards each split gets: its expected bytes over shard_bytes, at least one.

    A split with fraction 0 has none. Expected: nothing dropped, train repeated by weight.
    """
    expected = dict.fromkeys(SPLITS, 0.0)
    for part in parts:
        for file in part.files:
            weight = weights[file.source]
            for split in SPLITS:
                repeats = weight if split == "train" else min(weight, 1.0)
                expected[split] += file.text_bytes * fractions[split] * repeats
    return {
        split: max(1, math.ceil(expected[split] / shard_bytes))
        for split in SPLITS
        if fractions[split] > 0
    }
