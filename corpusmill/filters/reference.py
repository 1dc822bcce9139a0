"""docs/filters.md, made of what the filters declare: `python -m corpusmill.filters.reference`."""

import inspect
from collections.abc import Iterator
from pathlib import Path

from corpusmill.filters.declaration import Filter, Setting
from corpusmill.filters.registry import filter_class, known_filters

HEADING = """# Filters

Made by `python -m corpusmill.filters.reference` of what each filter declares. `filters` in the
configuration is a list; the first that objects to a document is its fate, the values of all of them
are in `results/measures/{part}.arrow`, and those of the one that dropped it in the ledger. How to
write one: [extending.md](extending.md).
"""
PAGE = Path(__file__).parents[2] / "docs/filters.md"


def limits(setting: Setting) -> str:
    """What a setting may be, in words."""
    schema = setting.schema
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is None and most is None:
        return schema["type"]
    if most is None:
        return f"{schema['type']}, {least} or more"
    if least is None:
        return f"{schema['type']}, {most} or less"
    return f"{schema['type']}, {least} to {most}"


def lines_of(cls: type[Filter]) -> Iterator[str]:
    yield f"\n## {cls.fate}\n\n{inspect.cleandoc(cls.__doc__ or '')}\n"
    if cls.settings:
        yield "\n| setting | default | what | |\n|---|---|---|---|\n"
    for name, setting in cls.settings.items():
        default = "has to be given" if setting.default is None else f"`{setting.default}`"
        yield f"| `{name}` | {default} | {setting.meaning} | {limits(setting)} |\n"
    if cls.values:
        yield "\n| value | type | what |\n|---|---|---|\n"
    for name, value in cls.values.items():
        yield f"| `{name}` | {value.dtype} | {value.meaning} |\n"


def page() -> str:
    classes = [filter_class(name, None) for name in known_filters()]
    return HEADING + "".join(line for cls in classes for line in lines_of(cls))


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
