"""Write docs/reference/filters.md from what the filters declare.

Run `python -m corpusmill.mill.filters.reference`.
"""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpusmill.mill.filters.declaration import Filter, Limit
from corpusmill.mill.filters.registry import filter_class, known_filters, optional_settings

HEADING = """# Filters

Made by `python -m corpusmill.mill.filters.reference` of what each filter declares. `filters` in the
configuration is a list; the first that objects to a document is its fate, the values of all of them
are in `results/measures/{part}.arrow`, and those of the one that dropped it in the ledger, with the
limit that it is beyond. A limit may be `null`: then it drops nothing. How a filter is there twice,
or decides otherwise on some sources, and how to write one: [extend.md](../how-to/extend.md).

What a word is has three rules, and limits are not portable from one to another. `unicode`: word
boundaries of UAX #29, white space left out; a punctuation mark is a word of its own. Of scripts
that are written without spaces each Han or Hiragana character is a word, each run of Katakana, and
each base character of Thai, Lao, Khmer and Burmese with its marks. `english`: what spaCy's
tokenizer for English parts a text into, with which datatrove's limits were found; `can't` is two
words, a URL one. `whitespace`: what white space parts, as `str.split()`.
"""
PAGE = Path(__file__).parents[3] / "docs/reference/filters.md"


NAMES = {"string": "text", "boolean": "true or false"}


def limits(schema: dict[str, Any]) -> str:
    """What a value may be, in words."""
    if "anyOf" in schema:
        return "; or ".join(limits(one) for one in schema["anyOf"])
    if "const" in schema:
        return str(schema["const"])
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    kind = schema["type"]
    if isinstance(kind, list):
        return "; or ".join(limits(schema | {"type": one}) for one in kind)
    if kind == "array":
        each = limits(schema["items"])
        return f"list of {each}s" if schema["items"].get("type") else f"list, of {each}"
    name = NAMES.get(kind, kind)
    if kind not in ("integer", "number"):
        return name
    least, most = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if least is not None and most is not None:
        return f"{name}, {least} to {most}"
    edges = [
        f"{least} or more" if least is not None else "",
        f"above {above}" if above is not None else "",
        f"{most} or less" if most is not None else "",
        f"below {below}" if below is not None else "",
    ]
    return ", ".join([name, *filter(None, edges)])


def said(limit: Limit) -> str:
    if limit.side == "missing":
        return f"no `{limit.value}` if `{limit.setting}` is `drop`"
    return f"`{limit.value}` {limit.side} `{limit.setting}`"


def lines_of(cls: type[Filter]) -> Iterator[str]:
    origin = inspect.getmodule(cls).__doc__.strip()  # type: ignore[union-attr]
    yield f"\n## {cls.fate}\n\n{inspect.cleandoc(cls.__doc__ or '')} *{origin}*\n"
    if cls.settings:
        yield "\n| setting | default | what | |\n|---|---|---|---|\n"
    optional = optional_settings(cls)
    for name, setting in cls.settings.items():
        missing = "no limit" if name in optional else "has to be given"
        default = missing if setting.default is None else f"`{setting.default}`"
        yield f"| `{name}` | {default} | {setting.meaning} | {limits(setting.schema)} |\n"
    if cls.values:
        yield "\n| value | type | what |\n|---|---|---|\n"
    for name, value in cls.values.items():
        yield f"| `{name}` | {value.dtype} | {value.meaning} |\n"
    if drops := ", ".join(map(said, getattr(cls, "limits", ()))):
        yield f"\nDrops, and the first that holds is the reason: {drops}.\n"
    if cls.edits:
        yield "\n| what it cuts | |\n|---|---|\n"
    for name, meaning in cls.edits.items():
        yield f"| `{name}` | {meaning} |\n"


def page() -> str:
    classes = [filter_class({"name": name}) for name in known_filters()]
    return HEADING + "".join(line for cls in classes for line in lines_of(cls))


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
