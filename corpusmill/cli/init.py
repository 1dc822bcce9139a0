"""A config file for given files and folders, with their formats and text fields detected."""

import itertools
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

from corpusmill.messages.disk_errors import in_words
from corpusmill.messages.plain_text import shown
from corpusmill.mill.read.readers import format_of, formats
from corpusmill.mill.storage.files import replacing
from corpusmill.mill.storage.regular_files import fault_of_kind
from corpusmill.mill.storage.streams import READ_LIMITS, ReadEnoughError
from corpusmill.mill.tokens.ends_of_text import likely_ends, named_in
from corpusmill.run.config import TRAINED_END_OF_TEXT
from corpusmill.run.listing import files_beneath, folders_beneath
from corpusmill.run.workflow_files import workflow_home

LOOKED_AT_FILES = 20
LOOKED_AT_RECORDS = 50
USUAL_NAMES = ["text", "content", "raw_content", "body", "document", "markdown"]
LEAST_PART_BYTES = 64 << 20
"""Minimum bytes of a part: each part costs about ten jobs, and each job takes a third of a second
to start."""

SHIPPED_PART_BYTES = 1 << 28


class Found(NamedTuple):
    """Files that become one source."""

    name: str
    files: list[str]
    """Entries for the config file: a folder, patterns or paths."""
    text_field: str
    file_count: int
    bytes: int
    text_bytes: int


def config_for(data: list[Path], output: Path, tokenizer: str) -> tuple[str, list[str]]:
    """Write the config file. Return its text and a list of doubtful guesses. Raise ValueError if
    there is no text, the file exists, or the tokenizer is unknown."""
    if output.exists():
        raise ValueError(
            f"{output} already exists and will not be replaced. Name another file with --output."
        )
    unsure: list[str] = []
    found: list[Found] = []
    for path in data:
        for name, files, entry in groups(path, unsure):
            found.extend(sources_of(name, files, entry, unsure))
    if not found:
        raise ValueError(
            f"{', '.join(map(str, data))}: found no file that ends in {', '.join(formats())}. "
            "Other formats need your own reader: docs/how-to/extend.md."
        )
    ends = ends_of_text(tokenizer)
    if len(ends) > 1:
        unsure.append(f"{tokenizer}: documents will end with {ends[0]}; {ends[1]} is also possible")
    text = config_text(named_apart(found), os.cpu_count() or 1, tokenizer, ends)
    with replacing(output) as temporary:
        temporary.write_text(text, "utf-8")
    return text, unsure


def groups(path: Path, unsure: list[str]) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield (name, files, config entries) for each source: a file, a subfolder, or the files
    directly in a folder. Raise ValueError for anything that is neither a file nor a folder."""
    if not path.is_dir() and (fault := fault_of_kind(path)):
        raise ValueError(fault)
    if path.is_file():
        if not path.name.endswith(tuple(formats())):
            unsure.append(f"{path} is left out: its name does not end in {', '.join(formats())}")
            return
        yield path.name.split(".")[0], [str(path)], [str(path)]
        return
    beneath = sorted(files_beneath(str(path), formats(), unsure))
    leave_out(path, unsure)
    inside: dict[str, list[str]] = defaultdict(list)
    for file in beneath:
        first, *rest = Path(file).relative_to(path).parts
        inside[first if rest else ""].append(file)
    numbered = inside and all(folder.isdigit() for folder in inside)  # parts of one dataset
    if len(inside) == 1 or numbered:
        yield path.resolve().name, beneath, [str(path)]
        return
    for folder, files in sorted(inside.items()):
        if folder:
            yield folder, files, [str(path / folder)]
        else:
            endings = sorted({format_of(file).ending for file in files})
            yield path.resolve().name, files, [str(path / f"*{ending}") for ending in endings]


def leave_out(folder: Path, unsure: list[str]) -> None:
    """Report which files of a folder are left out."""
    others: Counter[str] = Counter()
    for _, entries in folders_beneath(str(folder), []):
        others.update(
            Path(entry.path).suffix or entry.name
            for entry in entries
            if not entry.name.endswith(tuple(formats())) and not os.path.isdir(entry.path)
        )
    if others:
        kinds = ", ".join(f"{count} {kind}" for kind, count in others.most_common(5))
        unsure.append(
            f"{folder}: left out: {kinds}. Other formats need your own reader: "
            "docs/how-to/extend.md"
        )


def sources_of(name: str, files: list[str], entry: list[str], unsure: list[str]) -> Iterator[Found]:
    """Yield one source, or one per text field if the files differ."""
    step = max(1, len(files) // LOOKED_AT_FILES)
    fields: dict[str, list[str]] = defaultdict(list)
    for file in files[::step]:
        if field := text_field_of(file, unsure):
            fields[field].append(file)
    if len(fields) <= 1:
        field = next(iter(fields), "text")
        if not fields:
            unsure.append(f"{name}: no record was found, so the text field is a guess")
        yield found_of(name, entry, field, files)
        return
    by_ending = defaultdict(set)
    for field, some in fields.items():
        for file in some:
            by_ending[format_of(file).ending].add(field)
    if all(len(of_ending) == 1 for of_ending in by_ending.values()):
        for field in fields:
            endings = sorted(e for e, of_ending in by_ending.items() if of_ending == {field})
            mine = [file for file in files if format_of(file).ending in endings]
            folder = os.path.commonpath([os.path.dirname(file) for file in mine])
            patterns = [os.path.join(folder, f"**/*{ending}") for ending in endings]
            yield found_of(f"{name}-{field}", patterns, field, mine)
        return
    if step > 1:
        fields = defaultdict(list)
        for file in files:
            fields[text_field_of(file, unsure) or "text"].append(file)
    for field, mine in sorted(fields.items()):
        yield found_of(f"{name}-{field}", mine, field, mine)


def found_of(name: str, entry: list[str], field: str, files: list[str]) -> Found:
    sizes = {file: os.path.getsize(file) for file in files}
    text_bytes = sum(size * format_of(file).text_per_byte for file, size in sizes.items())
    return Found(name, entry, field, len(files), sum(sizes.values()), int(text_bytes))


def text_field_of(path: str, unsure: list[str]) -> str | None:
    """Return the field with most text, preferring the usual names; None if no record has text."""
    lengths: Counter[str] = Counter()
    try:
        found = format_of(path).first_members(path, READ_LIMITS.for_a_look())
        for members in itertools.islice(found, LOOKED_AT_RECORDS):
            for name, size in members.items():
                if size is not None:
                    lengths[name] += size
    except ReadEnoughError as error:
        if not lengths:
            unsure.append(str(error))
    except (ValueError, OSError) as error:
        said = in_words(error) if isinstance(error, OSError) else str(error)
        unsure.append(f"{path}: {said.removeprefix(f'{path}: ')}")
    if not lengths:
        return None
    usual = [name for name in USUAL_NAMES if name in lengths]
    longest = lengths.most_common(1)[0][0]
    chosen = usual[0] if usual else longest
    if lengths[longest] > 2 * lengths[chosen] or (not usual and len(lengths) > 1):
        others = ", ".join(name for name in lengths if name != chosen)
        unsure.append(f"{path}: {chosen} was chosen as the text field; other candidates: {others}")
    return chosen


def named_apart(found: list[Found]) -> list[Found]:
    """Rename sources so that the names are valid and unique."""
    taken: Counter[str] = Counter()
    named = []
    for one in found:
        name = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in one.name)
        name = name.lstrip("._-") or "source"
        taken[name] += 1
        named.append(one._replace(name=name if taken[name] == 1 else f"{name}-{taken[name]}"))
    return named


PLAIN = re.compile(r"[A-Za-z<][A-Za-z0-9_.|<>/-]{0,99}")
"""Names that YAML reads without quotes, unless they are words such as `yes`."""


def in_yaml(name: str) -> str:
    """Quote a name that YAML would not read as a string, such as 1, no or null."""
    plain = PLAIN.fullmatch(name) and yaml.safe_load(name) == name
    return name if plain else quoted(name)


def quoted(value: str | list[str]) -> str:
    """Quote values, with escapes that YAML knows."""
    return shown(json.dumps(value, ensure_ascii=False))


SOURCE_COMMENTS = [
    "    # weight: 1                   # epochs; 0.5 keeps half",
    "    # priority: 1                 # duplicates: lowest number wins",
    "    # max_malformed_fraction: 0   # tolerated share of malformed records",
]


def ends_of_text(tokenizer: str) -> list[str]:
    """Return the candidates for the end-of-text token: the proposed one, then that of `auto` if it
    differs. The list is empty if the tokenizer declares none. Raise ValueError if there is no such
    tokenizer."""
    if tokenizer == "train":
        return [TRAINED_END_OF_TEXT]
    if (folder := Path(tokenizer)).is_dir():
        named = named_in(folder)
    else:
        from corpusmill.mill.tokens.hub_check import is_there, named_at

        named = named_at(tokenizer, ask=is_there(tokenizer))
    return likely_ends(named)


ENDS = ["the token that ends every document", "the tokenizer's eos_token; does it end chat turns?"]


def config_text(found: list[Found], cores: int, tokenizer: str, ends: list[str]) -> str:
    """Return the text of the config file, with comments on the values that users may change."""
    expected = sum(one.text_bytes for one in found)
    shipped = yaml.safe_load((workflow_home() / "config.yaml").read_text("utf-8"))
    lines = [
        "# Written by corpusmill init. Keys that are left out keep their default. All keys:",
        "# docs/reference/configuration.md. Review this file, then run `corpusmill check`.",
        "",
        "sources:",
    ]
    for number, one in enumerate(found):
        files = "1 file" if one.file_count == 1 else f"{one.file_count:,} files"
        lines += [
            f"  - name: {in_yaml(one.name):<24}  # {files}, {one.bytes / 1e6:,.1f} MB",
            f"    files: {quoted(one.files)}",
            f"    text_field: {quoted(one.text_field)}",
            *(SOURCE_COMMENTS if number == 0 else []),
        ]
    lines += [
        "  # - name: evaluation            # texts that must not be in train",
        "  #   files: [eval/*.jsonl]",
        "  #   held_out: true",
        "",
        "tokenizer:",
        f"  source: {in_yaml(tokenizer):<23} # train: train one on this corpus; or a folder or "
        "Hugging Face id",
        *(
            f"  {'# ' * place}end_of_text: {in_yaml(end):<{18 - 2 * place}} # {why}"
            for place, (end, why) in enumerate(zip(ends, ENDS, strict=False))
        ),
        "",
        "# The default filters. A list here replaces them, and the filters of a preset too.",
        "# All filters: docs/reference/filters.md. Presets: docs/how-to/presets.md.",
        "# Your own: docs/how-to/extend.md.",
        "# filters:",
        *(f"#   - {json.dumps(entry)}" for entry in shipped["filters"]),
    ]
    if expected < 2 * cores * SHIPPED_PART_BYTES:
        part = max(LEAST_PART_BYTES, -(-expected // (2 * cores)) >> 20 << 20)
        lines += [
            "",
            f"# About {expected / 1e6:,.0f} MB of text: small parts keep {cores} cores busy.",
            "input:",
            f"  part_bytes: {part}",
            "output:",
            f"  shard_bytes: {part}",
        ]
    return "\n".join(lines) + "\n"
