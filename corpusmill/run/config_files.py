"""Read and merge config files; refuse what a merge would lose silently."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from corpusmill.messages.plain_text import short, shown
from corpusmill.mill.storage.untrusted import whole_file
from corpusmill.run.config import Config
from corpusmill.run.schema_faults import Validator

MERGE = "tag:yaml.org,2002:merge"
"""Tag of the key `<<`, which may be repeated."""


MOST_BYTES = 1 << 22
"""Maximum bytes of a config file. Naming tens of thousands of files takes a few MiB."""
NUMBER = "tag:yaml.org,2002:int"
LONGEST_NUMBER = 100
"""Maximum number of digits in a number. Python refuses to print numbers with thousands of
digits."""
MOST_VALUES = 100_000
"""Maximum number of values in a config file. An alias counts as all the values it stands for."""
MOST_DEPTH = 100
MOST_SHOWN = 80
"""Maximum number of characters of a value in a message."""


class Loader(yaml.SafeLoader):  # type: ignore[misc]
    """SafeLoader whose errors name file and line of a value that does not fit its type."""

    def __init__(self, file: Path, text: str) -> None:
        super().__init__(text)
        self._file = file

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except NoValueError:
            raise
        except (ValueError, ArithmeticError, LookupError, AttributeError) as error:
            kind = node.tag.rpartition(":")[2]
            raise NoValueError(
                f"{self._file}:{node.start_mark.line + 1}: expected a value that YAML can read as "
                f"{kind}, found {as_written(node)}. "
                "Correct the value, or write it in quotes."
            ) from error


class NoValueError(ValueError):
    """A value does not fit its type: 2020-99-99 is not a date."""


def as_written(node: yaml.Node) -> str:
    text = node.value if isinstance(node, yaml.ScalarNode) else "several values"
    return short(shown(text[:MOST_SHOWN]))


class ConfigFile(NamedTuple):
    """Content of a config file."""

    value: Any
    repeated_keys: list[str]
    """One sentence per duplicate key. YAML would silently use the last one."""


def read_config_file(file: Path) -> ConfigFile:
    """Read a config file.

    Raise ValueError if it is too long or its aliases expand to too many values, and YAML's own
    errors if it is not YAML.
    """
    loader, root = nodes_of(file)
    if root is None:
        return ConfigFile(None, [])
    repeated = list(repeated_keys(file, root))  # first, as merging adds keys to the nodes
    return ConfigFile(loader.construct_document(root), repeated)


def nodes_of(file: Path) -> tuple[Loader, yaml.Node | None]:
    """Return a loader and the root node of a file, None if it is empty.

    Raises as `read_config_file` does.
    """
    text = text_of(file)
    refuse_many_events(file, text)
    loader = Loader(file, text)
    if (root := loader.get_single_node()) is not None:
        refuse_many_values(file, root)
    return loader, root


def refuse_many_events(file: Path, text: str) -> None:
    """Raise ValueError for too many values, before building nodes takes minutes."""
    values = depth = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        values += isinstance(event, yaml.NodeEvent)
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if values >= MOST_VALUES:
            raise too_many_values(file)
        if depth > MOST_DEPTH:
            raise RecursionError


def refuse_many_values(file: Path, root: yaml.Node) -> None:
    """Raise ValueError for too many values or for numbers with too many digits."""
    sizes: dict[int, int] = {}

    def size(node: yaml.Node) -> int:
        if isinstance(node, yaml.ScalarNode):
            if node.tag == NUMBER and len(node.value) > LONGEST_NUMBER:
                raise ValueError(
                    f"{file}:{node.start_mark.line + 1}: expected a number of at most "
                    f"{LONGEST_NUMBER} digits, found {len(node.value):,}. Correct the number."
                )
            return 1
        if id(node) not in sizes:
            sizes[id(node)] = MOST_VALUES  # in case it contains itself
            pairs = isinstance(node, yaml.MappingNode)
            members = [one for pair in node.value for one in pair] if pairs else node.value
            sizes[id(node)] = min(1 + sum(map(size, members)), MOST_VALUES)
        return sizes[id(node)]

    if size(root) >= MOST_VALUES:
        raise too_many_values(file)


def too_many_values(file: Path) -> ValueError:
    return ValueError(
        f"{file}: expected at most {MOST_VALUES:,} values, with aliases expanded, "
        "found more. Avoid aliases, and name folders or patterns instead of single "
        "files."
    )


def text_of(file: Path) -> str:
    text = whole_file(file, MOST_BYTES).decode("utf-8")
    # YAML reads JSON except for tabs, which in JSON only separate tokens.
    return text.replace("\t", " ") if text.lstrip().startswith("{") else text


def refuse_repeated_keys(files: Sequence[Path]) -> None:
    """Raise ValueError, one line per fault, for duplicate keys in a mapping."""
    if faults := [fault for file in files for fault in faults_of_keys(file)]:
        raise ValueError("\n".join(faults))


def faults_of_keys(file: Path) -> Iterator[str]:
    _, root = nodes_of(file)
    return iter([]) if root is None else repeated_keys(file, root)


def repeated_keys(file: Path, root: yaml.Node) -> Iterator[str]:
    """Yield one sentence per duplicate key of a file."""
    open_nodes, seen = [root], set()
    while open_nodes:
        node = open_nodes.pop()
        if id(node) in seen:  # reached before through an alias
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            open_nodes += node.value
        if isinstance(node, yaml.MappingNode):
            open_nodes += [value for _, value in node.value]
            yield from repeated_in(file, [key for key, _ in node.value])


def repeated_in(file: Path, keys: list[yaml.Node]) -> Iterator[str]:
    """Yield one sentence per duplicate among the keys of one mapping."""
    lines: dict[str, int] = {}
    for key in keys:
        line = key.start_mark.line + 1
        if key.tag == MERGE or not isinstance(key, yaml.ScalarNode):
            continue
        if key.value in lines:
            yield (
                f"{file}:{line}: duplicate key {key.value}, first on line "
                f"{lines[key.value]}. Only the last value would count. Merge the two keys into one."
            )
        lines.setdefault(key.value, line)


def replaced_lists(files: Sequence[Path]) -> Iterator[str]:
    """Yield a note for each list that a later file replaces, for example `filters`."""
    first: dict[str, tuple[Path, list]] = {}
    if len(files) < 2:
        return
    for file in files:
        for place, found in lists_of(read_config_file(file).value):
            before, its = first.get(place, (file, found))
            if its != found:
                yield (
                    f"{place}: the list in {file} replaces the list in {before}. To use both, "
                    "merge them into one list."
                )
            first[place] = (file, found)


def lists_of(value: Any, place: str = "") -> Iterator[tuple[str, list]]:
    """Yield all lists below a value with their places: `filters`, `input.readers`."""
    if isinstance(value, list):
        yield place, value
    if isinstance(value, dict):
        for key, member in value.items():
            yield from lists_of(member, f"{place}.{key}" if place else str(key))


def refuse_config_without_sources(config_files: list[Path], given: dict) -> None:
    """Raise ValueError if config files are given but none has sources.

    The demo, whose sources are in config.yaml, is unlikely to be wanted then. given: the merged
    configuration.
    """
    if config_files and "sources" not in given:
        raise ValueError(
            f"{', '.join(map(str, config_files))}: no sources are configured, so this would run "
            "the bundled demo. Name your sources. To run the demo with these settings, name the "
            "shipped config.yaml before this file: --configfile config.yaml mine.yaml"
        )


def laid_over(shipped: Path | dict, given: dict) -> dict:
    """Merge the given configuration over the shipped one, as --configfile does."""

    def merged(below: dict, above: dict) -> dict:
        together = below | above
        both = [key for key in above if isinstance(below.get(key), dict)]
        return together | {
            key: merged(below[key], above[key]) for key in both if isinstance(above[key], dict)
        }

    below = yaml.safe_load(shipped.read_text("utf-8")) if isinstance(shipped, Path) else shipped
    return merged(below, given)


NO_TEXT = {"not": {"type": "string"}}
"""Schema for values whose schema is not known, such as filter settings. It prefers numbers to
texts."""


def as_in_files(config: dict, told: dict) -> dict:
    """Return the configuration with the values of --config as a file would have them.

    told: the values of --config. Snakemake passes those in braces and brackets as text.
    """

    def read(value: Any, told: Any, schema: dict) -> Any:
        if isinstance(told, dict) and isinstance(value, dict):
            known = schema.get("properties", {})
            return value | {
                key: read(value[key], told[key], known.get(key, NO_TEXT))
                for key in told
                if key in value
            }
        if isinstance(told, list) and isinstance(value, list):
            return [read(one, one, schema.get("items", {})) for one in value]
        if isinstance(value, str) and not Validator(schema).is_valid(value):
            try:
                return yaml.safe_load(value)
            except yaml.YAMLError as error:
                raise ValueError(f"--config: {value} is not YAML. Correct it.") from error
        return value

    return read(config, told, Config.schema())
