"""Plan parts and shards from the input files, before any job runs.

The same files give the same plan. The parts of a finished run are kept: new files make new parts
at the end, so old parts keep their numbers, their documents' ids and their results.
"""

import json
import math
import os
import re
import unicodedata
from collections.abc import Container, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from corpusmill.messages.progress import awaiting
from corpusmill.messages.sentences import first_of
from corpusmill.mill.decide.fates import SPLITS
from corpusmill.mill.read.readers import format_of, formats
from corpusmill.mill.storage.files import load_json, load_text
from corpusmill.mill.storage.untrusted import is_count
from corpusmill.run.config import Source
from corpusmill.run.listing import files_of_pattern
from corpusmill.run.record import FinishedRun

MOST_NUMBERED = 99_999
"""Maximum number of jobs of a rule, such as parts, or shards of a split: their names have five
digits."""

WHOLE_BYTES = 1 << 20
"""Proposed sizes are multiples of this many bytes."""


class InputFile(NamedTuple):
    source: str
    path: str
    text_bytes: int
    """Expected bytes of text, from the file's size and format."""
    bytes: int | None = None
    """Size of the file. For a file that a rule makes, this and mtime_ns are None."""
    mtime_ns: int | None = None


class Part(NamedTuple):
    number: int
    files: list[InputFile]
    generation: int = 1
    """1 for the parts of the first finished run, 2 for those added by the next one, and so on."""

    @property
    def name(self) -> str:
        return f"{self.number:05d}"

    @property
    def text_bytes(self) -> int:
        return sum(file.text_bytes for file in self.files)


def list_inputs(
    sources: list[Source],
    generated: dict[str, int],
    readers: Sequence[str] = (),
    skipped: list[str] | None = None,
) -> list[InputFile]:
    """Return all input files, ordered by source and path; raise ValueError, one line per fault.

    generated: files that a rule of the workflow makes, with their text bytes, so that a plan
    does not depend on whether they exist yet. skipped: collects one sentence per folder that is
    already read.
    """
    skipped = [] if skipped is None else skipped
    known = formats(readers)
    inputs: list[InputFile] = []
    faults: list[str] = []
    owners: dict[str, str] = {}
    for source in sources:
        name = source.name
        paths: set[str] = set()
        for pattern in dict.fromkeys(source.files):
            try:
                with awaiting(f'the list of {pattern} of source "{name}"'):
                    paths |= files_of_pattern(pattern, generated, known, skipped)
            except ValueError as error:
                faults.append(f'source "{name}": {error}')
        for path in sorted(paths):
            if fault := fault_of_path(path, name, owners):
                faults.append(fault)
                continue
            owners[os.path.realpath(path)] = name
            if path in generated:
                inputs.append(InputFile(name, path, generated[path]))
                continue
            try:
                per_byte = format_of(path, known).text_per_byte
            except ValueError as error:
                faults.append(str(error))
                continue
            state = os.stat(path)
            text_bytes = int(state.st_size * per_byte)
            inputs.append(InputFile(name, path, text_bytes, state.st_size, state.st_mtime_ns))
    if faults:
        raise ValueError("\n".join(first_of(faults)))
    return inputs


def is_utf8(path: str) -> bool:
    """Say whether a name is UTF-8. Python represents other bytes as lone surrogates."""
    return not any("\ud800" <= one <= "\udfff" for one in path)


def fault_of_name(path: str) -> str | None:
    """Say why a job cannot read a file of this name; None if it can."""
    way = "Rename the file, or link to it under a different name."
    if mark := re.search(r"[{}]|<\w+>", path):
        return f"{path} has {mark[0]} in its name, which Snakemake treats as a wildcard. {way}"
    if not is_utf8(path):
        return f"{path!r} has a name that is not UTF-8. {way}"
    if any(unicodedata.category(character) == "Cc" for character in path):
        return f"{path!r} has a control character in its name. {way}"
    return None


def fault_of_path(path: str, source: str, owners: dict[str, str]) -> str | None:
    """Say why a file cannot be in a source; None if it can. owners: sources of earlier files."""
    if told := fault_of_name(path):
        return f'source "{source}": {told}'
    if other := owners.get(os.path.realpath(path)):
        also = "twice, by two names" if other == source else f'and to source "{other}"'
        return f'{path} belongs to source "{source}" {also}. Let only one pattern match the file.'
    return None


def planned_paths(plan: Path) -> list[str]:
    """Return the input files of the last run, finished or not; none if there was no run."""
    if not plan.exists():
        return []
    lines = load_text(plan).splitlines()[1:]
    return [file["path"] for line in lines for file in json.loads(line)["files"]]


def refuse_other_corpus(
    inputs: list[InputFile], generated: Container[str], results: Path = Path("results")
) -> None:
    """Raise ValueError if the results here are of another corpus.

    Only the demo, whose input files are all `generated`, may be replaced: it can be made again at
    any time.
    """
    mine = {file.path for file in inputs}
    is_demo = all(path in generated for path in mine)
    earlier = planned_paths(results / "plan/parts.jsonl")
    theirs = [path for path in earlier if path not in generated]
    if theirs and mine.isdisjoint(theirs):
        others = f"{len(theirs)} input files, the first is {theirs[0]}"
    elif not earlier and is_demo and (results / "manifest.json").exists():
        sources = load_json(results / "manifest.json").get("sources", ["unknown"])
        if sources == list(dict.fromkeys(file.source for file in inputs)):
            return
        others = f"sources {', '.join(sources)}"
    else:
        return
    this = "the bundled demo, because no sources were given" if is_demo else f"for {inputs[0].path}"
    raise ValueError(
        f"{results}/ holds a different corpus ({others}), and this run is {this}. Give the config "
        "file of the existing corpus with --configfile, work in a different folder, or move "
        f"{results}/ away first."
    )


class EarlierPart(NamedTuple):
    """A part in the record of a finished run."""

    generation: int
    paths: list[str]


def earlier_parts(finished: FinishedRun | None, part_bytes: int) -> list[EarlierPart]:
    """Return the parts of the last finished run; none if it had other part_bytes.

    Plans of unfinished runs do not count.
    """
    if not finished or finished["part_bytes"] != part_bytes:
        return []
    return [EarlierPart(part["generation"], part["paths"]) for part in finished["parts"]]


def plan_parts(inputs: list[InputFile], part_bytes: int, earlier: list[EarlierPart]) -> list[Part]:
    """Return the parts: those of the `earlier` plan unchanged, then new ones of a new generation.

    A new part is closed when the next file would make it larger than part_bytes.
    """
    known = {file.path: file for file in inputs}
    placed = [path for part in earlier for path in part.paths]
    gone = [path for path in placed if path not in known]
    if gone and len(gone) == len(placed):
        earlier, gone, placed = [], [], []  # the demo, which refuse_other_corpus allows
    if gone:
        raise ValueError(
            f"{gone[0]} is in the corpus of the last finished run but is no longer an input "
            f"({len(gone)} such files). Restore the file, or remove the folder results/plan to "
            "make a new plan: every document then gets a new id."
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


def refuse_too_many_parts(parts: list[Part], part_bytes: int) -> None:
    """Raise ValueError, with a part_bytes that fits, for more parts than names allow."""
    if len(parts) <= MOST_NUMBERED:
        return
    files = [file for part in parts for file in part.files]
    low, high = 1, sum(file.text_bytes for file in files) // WHOLE_BYTES + 1
    while low < high:  # more bytes never make more parts
        middle = (low + high) // 2
        fits = len(plan_parts(files, middle * WHOLE_BYTES, [])) <= MOST_NUMBERED
        low, high = (low, middle) if fits else (middle + 1, high)
    raise ValueError(too_many(len(parts), "parts", "input.part_bytes", part_bytes, low))


def refuse_too_many(count: int, what: str, key: str, bytes: int) -> None:
    """Raise ValueError, with a size that fits, if a key's size gives too many. bytes: that size."""
    if count > MOST_NUMBERED:
        fitting = math.ceil(count * bytes / MOST_NUMBERED / WHOLE_BYTES)
        raise ValueError(too_many(count, what, key, bytes, fitting))


def too_many(count: int, what: str, key: str, bytes: int, fitting: int) -> str:
    """Return the message. fitting: the proposed size in WHOLE_BYTES."""
    return (
        f"{key}: {bytes:,} bytes make {count:,} {what}, but at most {MOST_NUMBERED:,} are allowed. "
        f"Set {key} to {fitting * WHOLE_BYTES} or more."
    )


def plan_lines(parts: list[Part], part_bytes: int) -> list[str]:
    """Return the plan as JSON lines: a heading, then one line per part."""
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


class _File(msgspec.Struct):
    source: str
    path: str
    text_bytes: int
    bytes: int | None
    mtime_ns: int | None


class _Line(msgspec.Struct):
    part: int
    generation: int
    files: list[_File]


def parts_of(lines: Iterable[bytes], where: Path) -> list[Part]:
    """Return the parts in the lines below a plan's heading.

    The plan is untrusted: raise ValueError for lines that `plan_lines` does not write.
    """
    parts: list[Part] = []
    for line in lines:
        try:
            told = msgspec.json.decode(line, type=_Line)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            raise _no_plan(where, f"a part, found another line ({error})") from error
        if told.part != len(parts):
            raise _no_plan(where, f"part {len(parts)}, found part {told.part}")
        before = parts[-1].generation if parts else 1
        if told.generation < before:
            raise _no_plan(where, f"generation {before} or a later one, found {told.generation}")
        if not all(is_count(file.text_bytes) for file in told.files):
            raise _no_plan(where, f"bytes of each file of part {told.part}, found other numbers")
        files = [InputFile(*msgspec.structs.astuple(file)) for file in told.files]
        parts.append(Part(told.part, files, told.generation))
    if not parts:
        raise _no_plan(where, "a line for each part, found none")
    return parts


def _no_plan(where: Path, what: str) -> ValueError:
    return ValueError(
        f"{where}: expected {what:.300}. Copy the file again from the results of the run."
    )


def split_bytes(
    parts: list[Part], weights: dict[str, float], fractions: dict[str, float]
) -> dict[str, float]:
    """Return the expected text bytes of each split: nothing dropped, train repeated by weight."""
    expected = dict.fromkeys(SPLITS, 0.0)
    for part in parts:
        for file in part.files:
            weight = weights[file.source]
            for split in SPLITS:
                repeats = weight if split == "train" else min(weight, 1.0)
                expected[split] += file.text_bytes * fractions[split] * repeats
    # A split with fraction 0 has no shards.
    return {split: bytes for split, bytes in expected.items() if fractions[split] > 0}


def shard_counts(expected: dict[str, float], shard_bytes: int) -> dict[str, int]:
    """Return the shards of each split: its expected bytes over shard_bytes, at least one."""
    return {split: max(1, math.ceil(bytes / shard_bytes)) for split, bytes in expected.items()}
