"""Write docs/reference/configuration.md from config.py and config.yaml.

Run `python -m corpusmill.run.reference`.
"""

import textwrap
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from corpusmill.mill.filters.reference import limits, table_line
from corpusmill.run.config import Config
from corpusmill.run.workflow_files import PACKAGE, workflow_home

HEADING = """# Configuration

This page lists every configuration key, its default, its allowed values and its meaning. The
command `python -m corpusmill.run.reference` generates the page from `corpusmill/run/config.py` and
`config.yaml`. The comments in [config.yaml](../../config.yaml) explain the defaults.

A key that you leave out keeps its default. A run reports unknown keys as errors before any job
starts.
[Work with runs](../how-to/runs.md#combine-config-files) shows how config files combine.
"""
PAGE = PACKAGE.parent / "docs/reference/configuration.md"
LINE_CHARS = 120
TABLE = "\n| key | default | may be | meaning |\n|---|---|---|---|\n"
BEHIND = {"filters": "\n[filters.md](filters.md) lists the settings of each filter.\n"}


class Key(NamedTuple):
    """A key that holds a value."""

    name: str
    """Full name: `dedup.bands`, `sources[].name`."""
    schema: dict[str, Any]
    value: str
    """The default as YAML."""


def as_yaml(value: Any) -> str:
    return f"`{yaml.safe_dump(value, default_flow_style=True).splitlines()[0]}`"


def keys_of(name: str, schema: dict[str, Any], shipped: dict[str, Any]) -> Iterator[Key]:
    """Yield all keys below one, in the order of the schema."""
    for member, inside in schema["properties"].items():
        place = f"{name}.{member}"
        if inside.get("type") == "object" and "properties" in inside:
            yield from keys_of(place, inside, shipped[member])
            continue
        yield Key(place, inside, as_yaml(shipped[member]))
        if "properties" in inside:
            yield from keys_of_entry(place, inside)
        elif "properties" in inside.get("items", {}):
            yield from keys_of_entry(f"{place}[]", inside["items"])


def keys_of_entry(name: str, schema: dict[str, Any]) -> Iterator[Key]:
    """Yield the keys of one entry of a list, or of an optional object."""
    for member, inside in schema["properties"].items():
        missing = "required" if member in schema.get("required", []) else "none"
        value = as_yaml(inside["default"]) if "default" in inside else missing
        yield Key(f"{name}.{member}", inside, value)
        if "properties" in inside:
            yield from keys_of_entry(f"{name}.{member}", inside)


def section(name: str, schema: dict[str, Any], shipped: Any) -> Iterator[str]:
    yield f"\n## {name}\n"
    if "description" in schema:
        yield f"\n{textwrap.fill(schema['description'], LINE_CHARS)}\n"
    if schema["type"] == "array":
        yield f"\nDefault: {', '.join(as_yaml(entry['name']) for entry in shipped)}.\n"
        keys = keys_of_entry(f"{name}[]", schema["items"])
    else:
        keys = keys_of(name, schema, shipped)
    yield TABLE
    for key in keys:
        meaning = key.schema.get("description", "")
        yield table_line([f"`{key.name}`", key.value, limits(key.schema), meaning])
    yield BEHIND.get(name, "")


def page() -> str:
    shipped = yaml.safe_load((workflow_home() / "config.yaml").read_text("utf-8"))
    sections = Config.schema()["properties"]
    parts = (section(name, inside, shipped[name]) for name, inside in sections.items())
    return HEADING + "".join(line for lines in parts for line in lines)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
