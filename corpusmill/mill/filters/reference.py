"""Write docs/reference/filters.md from what the filters declare.

Run `python -m corpusmill.mill.filters.reference`.
"""

import inspect
import itertools
import re
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from corpusmill.mill.decide.fates import FATES
from corpusmill.mill.filters.declaration import Filter
from corpusmill.mill.filters.registry import filter_class, known_filters, optional_settings

HEADING = """# Filters

This page lists every built-in filter, its settings and the values it measures. The command
`python -m corpusmill.mill.filters.reference` generates the page.

- Filters run in the order of your configuration. The first filter that rejects a document
  determines its fate.
- The values of all documents are in `results/measures/{part}.arrow`. For each dropped document, the
  ledger has the values of the filter that dropped the document, and the limit that was violated.
- A filter checks its values in the order of its table of values. The reason for dropping a document
  is the first value outside its limits.
- The column `limits` names the settings that limit a value, with their defaults. A limit without a
  default drops nothing until you set it; `null` switches a limit off.
- A document that lacks a value passes all limits on that value.
- Counts are uint32 and other numbers float64, unless the column `meaning` begins with another type.
- The limit of an integer value is an integer ≥ 0. The limit of a share, score or probability is a
  number from 0 to 1. All other limits are numbers ≥ 0. Exceptions are in brackets.
- [Write your own filters and formats](../how-to/extend.md) shows how to use a filter twice, change
  its settings for one source, and write your own.

## Word rules

The setting `words` selects the rule that splits a text into words. Limits that were tuned for one
rule do not suit a different rule.

| `words` | what is a word |
|---|---|
| `unicode` | Words between UAX #29 word boundaries, without white space. A punctuation mark is a \
word. In scripts without spaces, each of these is a word: a Han or Hiragana character, a run of \
Katakana, a Thai, Lao, Khmer or Burmese base character with its marks |
| `english` | spaCy's English tokenizer, as in datatrove. `can't` is two words; a URL is one word |
| `whitespace` | `str.split()` |
"""
OTHER_FATES = """
## Other fates

A document's fate says what happened to the document. The fate of a document that a filter drops is
the name of the filter. This table lists the other fates, in the order in which they are decided.
Filters run after the fate `malformed` is decided.

| fate | decided by | meaning |
|---|---|---|
"""
PAGE = Path(__file__).parents[3] / "docs/reference/filters.md"


OF_NUMBERS = ("below", "above")
NUMBER = re.compile(r"\d+(?=_gram|gram)")


def limits(schema: dict[str, Any]) -> str:
    """Describe which values a schema allows."""
    if "anyOf" in schema:
        return " or ".join(limits(one) for one in schema["anyOf"])
    if "const" in schema:
        return str(schema["const"]).lower()
    if "title" in schema:  # short for a list that another page has
        return str(schema["title"])
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    kind = schema["type"]
    if isinstance(kind, list):
        return " or ".join(limits(schema | {"type": one}) for one in kind)
    if kind == "array" and not schema["items"]:
        return "list"
    if kind == "array":
        each = limits(schema["items"])
        return f"list of {each}s" if each.isalpha() else f"list of: {each}"
    if kind not in ("integer", "number"):
        return kind
    least, most = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if least is not None and most is not None:
        return f"{kind} {least}–{most}"
    edges = [
        f"≥ {least}" if least is not None else "",
        f"> {above}" if above is not None else "",
        f"≤ {most}" if most is not None else "",
        f"< {below}" if below is not None else "",
    ]
    return f"{kind} {', '.join(filter(None, edges))}".strip()


def table_line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


class Row(NamedTuple):
    """A table row: a setting or a value."""

    name: str
    cells: tuple[str, ...]
    meaning: str
    limits: tuple[tuple[str, str], ...] = ()
    """The settings that limit a value, each with its default."""

    @property
    def kind(self) -> tuple[str, str]:
        """The name and meaning shared by values of n-grams of all sizes."""
        if number := NUMBER.search(self.name):
            meaning = re.sub(rf"\b{number[0]}(?=-gram)", "n", self.meaning)
            return NUMBER.sub("n", self.name), meaning
        return self.name, self.meaning


def as_lines(rows: Iterable[Row], with_limits: bool = False) -> Iterator[str]:
    """Yield table lines. Rows of one kind share a line."""
    for (_, meaning), group in itertools.groupby(rows, key=lambda row: row.kind):
        alike = list(group)
        cells = [first_to_last([row.name for row in alike]), *alike[0].cells]
        cells.append(meaning if len(alike) > 1 else alike[0].meaning)
        if with_limits:
            columns = zip(*(row.limits for row in alike), strict=True)
            cells.append(", ".join(limit_in_words(column) for column in columns))
        yield table_line(cells)


def first_to_last(names: list[str]) -> str:
    return f"`{names[0]}`" + f" to `{names[-1]}`" * (len(names) > 1)


def limit_in_words(settings: Iterable[tuple[str, str]]) -> str:
    """Return names and defaults of one limit, or of one limit for all n-gram sizes."""
    names, defaults = zip(*settings, strict=True)
    return f"{first_to_last(list(names))} {', '.join(filter(None, defaults))}".strip()


def settings_of(cls: type[Filter]) -> Iterator[Row]:
    """Yield the settings that are not shown beside a value as its limits."""
    optional = optional_settings(cls)
    beside = {setting for limits in limits_of(cls).values() for setting in limits}
    for name, setting in cls.settings.items():
        if name in beside:
            continue
        missing = "no limit" if name in optional else "required"
        default = missing if setting.default is None else as_code(setting.default)
        yield Row(name, (default, limits(setting.schema)), setting.meaning)


def values_of(cls: type[Filter]) -> Iterator[Row]:
    limits_by_value = limits_of(cls)
    for name, value in cls.values.items():
        found = [(setting, default_of(cls, name, setting)) for setting in limits_by_value[name]]
        usual = value.dtype in ("uint32", "float64")
        meaning = value.meaning if usual else f"{value.dtype}: {value.meaning}"
        yield Row(name, (), meaning, tuple(found))


def limits_of(cls: type[Filter]) -> dict[str, list[str]]:
    """Return each value's settings that limit it as a number."""
    return {
        name: [
            limit.setting
            for limit in getattr(cls, "limits", ())
            if limit.value == name and limit.side in OF_NUMBERS and value.dtype != "text"
        ]
        for name, value in cls.values.items()
    }


def default_of(cls: type[Filter], value: str, setting: str) -> str:
    """Return the default of a limit, with the allowed values in brackets if HEADING does not cover
    them."""
    declared = cls.settings[setting]
    if "int" in cls.values[value].dtype:
        usual = "integer ≥ 0"
    elif re.search("share|score|probability", value):
        usual = "number 0–1"
    else:
        usual = "number ≥ 0"
    found = limits(declared.schema)
    default = "" if declared.default is None else str(declared.default)
    return f"{default} {f'({found})' * (found != usual)}".strip()


def as_code(default: Any) -> str:
    """Return a default as YAML writes it."""
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    return f"`{default}`" if default != "" else "none"


def lines_of(cls: type[Filter]) -> Iterator[str]:
    origin = inspect.getmodule(cls).__doc__.strip()  # type: ignore[union-attr]
    yield f"\n## {cls.fate}\n\n*{origin}*\n\n{inspect.cleandoc(cls.__doc__ or '')}\n"
    if settings := list(settings_of(cls)):
        yield "\n| setting | default | may be | meaning |\n|---|---|---|---|\n"
        yield from as_lines(settings)
    if cls.values:
        limited = any(limits_of(cls).values())
        yield "\n| value | meaning |" + " limits |" * limited
        yield "\n|---|---|" + "---|" * limited + "\n"
        yield from as_lines(values_of(cls), limited)
    places = [list(cls.values).index(limit.value) for limit in getattr(cls, "limits", ())]
    assert places == sorted(places), f"{cls.fate}: limits and values are in different orders"
    if cls.edits:
        rules = ", ".join(f"`{name}` ({meaning})" for name, meaning in cls.edits.items())
        yield "\n" + textwrap.fill(f"Cutting rules: {rules}.", 100) + "\n"


def page() -> str:
    classes = [filter_class({"name": name}) for name in known_filters()]
    fates = (table_line([f"`{one.name}`", f"`{one.step}`", one.meaning]) for one in FATES.values())
    return (
        HEADING
        + "".join([OTHER_FATES, *fates])
        + "".join(line for cls in classes for line in lines_of(cls))
    )


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
