"""Write docs/reference/configuration.md from schema and config.yaml.

Run `python -m corpusmill.run.reference`.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from corpusmill.mill.filters.reference import limits
from corpusmill.run.workflow_files import PACKAGE, workflow_home

HEADING = """# Configuration

Made by `python -m corpusmill.run.reference` from `config.schema.yaml` and `config.yaml`: every key,
its shipped value, what it may be, what it means. An unknown key is refused before any job.

Your config file is laid over the shipped one. A key that you leave out keeps its shipped value. A
list (`sources`, `filters`, `input.readers`) replaces the shipped list as a whole. Of several config
files the later one wins, and `--config` wins over all files: `--config dedup='{"threshold":0.7}'`.
The comments in [config.yaml](../../config.yaml) say why a shipped value is what it is.
"""
PAGE = PACKAGE.parent / "docs/reference/configuration.md"
TABLE = "\n| key | shipped | may be | meaning |\n|---|---|---|---|\n"
BEHIND = {"filters": "\nSettings of each filter: [filters.md](filters.md).\n"}


class Key(NamedTuple):
    """A key that holds a value."""

    name: str
    """`dedup.bands`, `sources[].name`."""
    schema: dict[str, Any]
    value: str
    """The shipped one, as YAML has it; of a member of a list what holds when it is not given."""


def as_yaml(value: Any) -> str:
    return f"`{yaml.safe_dump(value, default_flow_style=True).splitlines()[0]}`"


def keys_of(name: str, schema: dict[str, Any], shipped: dict[str, Any]) -> Iterator[Key]:
    """All keys beneath one, in the order of the schema."""
    for member, inside in schema["properties"].items():
        place = f"{name}.{member}"
        if "properties" in inside:
            yield from keys_of(place, inside, shipped[member])
        else:
            yield Key(place, inside, as_yaml(shipped[member]))


def keys_of_list(name: str, schema: dict[str, Any]) -> Iterator[Key]:
    """The keys of one entry of a list."""
    for member, inside in schema["properties"].items():
        missing = "has to be given" if member in schema["required"] else "none"
        value = as_yaml(inside["default"]) if "default" in inside else missing
        yield Key(f"{name}[].{member}", inside, value)


def section(name: str, schema: dict[str, Any], shipped: Any) -> Iterator[str]:
    yield f"\n## {name}\n"
    if "description" in schema:
        yield f"\n{schema['description']}\n"
    if schema["type"] == "array":
        yield f"\nShipped: {', '.join(as_yaml(entry['name']) for entry in shipped)}.\n"
        keys = keys_of_list(name, schema["items"])
    else:
        keys = keys_of(name, schema, shipped)
    yield TABLE
    for key in keys:
        meaning = key.schema.get("description", "")
        yield f"| `{key.name}` | {key.value} | {limits(key.schema)} | {meaning} |\n"
    yield BEHIND.get(name, "")


def page() -> str:
    schema, shipped = (
        yaml.safe_load((workflow_home() / name).read_text("utf-8"))
        for name in ("config.schema.yaml", "config.yaml")
    )
    parts = (section(name, inside, shipped[name]) for name, inside in schema["properties"].items())
    return HEADING + "".join(line for lines in parts for line in lines)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
