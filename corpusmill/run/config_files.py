"""What config files say twice: YAML, and the laying of one over another, would lose some of it
without a word."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from corpusmill.mill.storage.untrusted import whole_file

MERGE = "tag:yaml.org,2002:merge"
"""Of `<<`, which may stand in a place as often as one likes."""


MOST_BYTES = 1 << 24
"""Of a config file."""
NUMBER = "tag:yaml.org,2002:int"
LONGEST_NUMBER = 100
"""Digits; Python refuses to say those of thousands."""
MOST_VALUES = 100_000
"""Of a config file, each counted as often as it stands there or an alias of it does."""


def refuse_many_values(file: Path) -> None:
    """ValueError for a file that is short, and whose aliases stand for more than anybody reads.

    Raises what YAML raises of a file that is none.
    """
    sizes: dict[int, int] = {}

    def size(node: yaml.Node) -> int:
        if isinstance(node, yaml.ScalarNode):
            if node.tag == NUMBER and len(node.value) > LONGEST_NUMBER:
                raise ValueError(
                    f"{file}:{node.start_mark.line + 1}: expected a number of {LONGEST_NUMBER} "
                    f"digits at most, found {len(node.value):,}. Correct it."
                )
            return 1
        if id(node) not in sizes:
            sizes[id(node)] = MOST_VALUES  # if it comes again inside itself
            pairs = isinstance(node, yaml.MappingNode)
            members = [one for pair in node.value for one in pair] if pairs else node.value
            sizes[id(node)] = min(1 + sum(map(size, members)), MOST_VALUES)
        return sizes[id(node)]

    root = yaml.compose(text_of(file), yaml.SafeLoader)
    if root is not None and size(root) >= MOST_VALUES:
        raise ValueError(
            f"{file}: expected {MOST_VALUES:,} values at most, aliases for others among them, "
            "found more. Write down what is meant, without aliases."
        )


def text_of(file: Path) -> str:
    text = whole_file(file, MOST_BYTES).decode("utf-8")
    # YAML reads JSON but for its tabs, which stand between its tokens alone.
    return text.replace("\t", " ") if text.lstrip().startswith("{") else text


def refuse_repeated_keys(files: Sequence[Path]) -> None:
    """ValueError, a line per fault, if a key stands twice in one place of a file."""
    if faults := [fault for file in files for fault in repeated_keys(file)]:
        raise ValueError("\n".join(faults))


def repeated_keys(file: Path) -> Iterator[str]:
    """The keys of a file of which YAML would take the last and forget the others."""
    open_nodes, seen = [yaml.compose(text_of(file), yaml.SafeLoader)], set()
    while open_nodes:
        node = open_nodes.pop()
        if id(node) in seen:  # an alias of it was there
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            open_nodes += node.value
        if isinstance(node, yaml.MappingNode):
            open_nodes += [value for _, value in node.value]
            yield from repeated_in(file, [key for key, _ in node.value])


def repeated_in(file: Path, keys: list[yaml.Node]) -> Iterator[str]:
    """keys: of one place."""
    lines: dict[str, int] = {}
    for key in keys:
        line = key.start_mark.line + 1
        if key.tag == MERGE or not isinstance(key, yaml.ScalarNode):
            continue
        if key.value in lines:
            yield (
                f"{file}:{line}: the key {key.value} stands there twice, first in line "
                f"{lines[key.value]}, and only the last would count. Make one of them."
            )
        lines.setdefault(key.value, line)


def replaced_lists(files: Sequence[Path]) -> Iterator[str]:
    """Lists of a file of which nothing stays, as a later one has another: of `filters` for one."""
    first: dict[str, tuple[Path, list]] = {}
    for file in files:
        for place, found in lists_of(yaml.safe_load(text_of(file))):
            before, its = first.get(place, (file, found))
            if its != found:
                yield (
                    f"{place}: the list of {file} replaces that of {before} whole. If both are "
                    "meant, put them into one list."
                )
            first[place] = (file, found)


def lists_of(value: Any, place: str = "") -> Iterator[tuple[str, list]]:
    """The lists that keys lead to, with their places: `filters`, `input.readers`."""
    if isinstance(value, list):
        yield place, value
    if isinstance(value, dict):
        for key, member in value.items():
            yield from lists_of(member, f"{place}.{key}" if place else str(key))
