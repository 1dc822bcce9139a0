"""The filters of a run: found by name, or in a file of the user's; checked before any job.

A filter of ours is the module of its name in this folder. Nothing else lists it.
"""

import difflib
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpusmill.documents.fates import RESERVED_FATES
from corpusmill.filters.declaration import DTYPES, Filter
from corpusmill.text.plugins import loaded

Entry = dict[str, Any]
"""One of config `filters`: name, file if it is the user's, and its settings."""

RESERVED_VALUES = (
    "id", "source", "file", "line", "fate", "winner", "similarity", "stage", "held_out_by",
    "split", "copies", "text_bytes", "preference",
)  # fmt: skip
HERE = Path(__file__).parent
NO_FILTERS = ("__init__", "declaration", "documents", "keep", "measuring", "reference", "registry")


def known_filters() -> list[str]:
    """The names of our own."""
    return sorted(path.stem for path in HERE.glob("*.py") if path.stem not in NO_FILTERS)


def filter_class(name: str, file: str | None) -> type[Filter]:
    """The class that a config entry means; ValueError if there is none."""
    if file is None:
        known = known_filters()
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            meant = f" Is {near[0]} meant?" if near else ""
            raise ValueError(
                f"there is no filter {name}.{meant} Known: {', '.join(known)}. One of your own "
                "needs `file:` too."
            )
        module = importlib.import_module(f"corpusmill.filters.{name}")
    else:
        module = loaded(file)
    found = {
        one.fate: one
        for one in vars(module).values()
        if inspect.isclass(one)
        and issubclass(one, Filter)
        and one.__module__ == module.__name__
        and hasattr(one, "fate")
    }
    if name in found:
        return found[name]
    if file is not None and callable(getattr(module, "keep", None)):
        from corpusmill.filters.keep import keep_filter

        return keep_filter(name, module.keep, file)
    has = f"its filters: {', '.join(sorted(found))}" if found else "it has no filter"
    raise ValueError(
        f"{file} has no class with fate = {name!r} and no function keep; {has}. Correct the name."
    )


def declaration_faults(cls: type[Filter]) -> Iterator[str]:
    """What a class says of itself that cannot be, in words."""
    if not cls.fate.isidentifier() or cls.fate != cls.fate.lower():
        yield f"fate {cls.fate!r} is not a name of small letters, digits and _"
    if cls.fate in RESERVED_FATES:
        yield f"fate {cls.fate} is taken: it says what another step decides"
    for name, value in cls.values.items():
        if name in RESERVED_VALUES:
            yield f"value {name} is taken: it is a column that every document has"
        if value.dtype not in DTYPES:
            yield f"value {name} has dtype {value.dtype!r}, known are {', '.join(DTYPES)}"
    if "reason" in cls.values and cls.values["reason"].dtype != "text":
        yield "value reason is no text"
    for name in cls.measured_with:
        if name not in cls.settings:
            yield f"measured_with names {name}, which is no setting of it"
    for name in {"name", "file", *dir(Filter)} & set(cls.settings):
        yield f"setting {name} is taken"


def made(cls: type[Filter], given: dict[str, Any]) -> Filter:
    """A filter with its settings: those given, the defaults of the others."""
    defaults = {name: setting.default for name, setting in cls.settings.items()}
    return cls(**(defaults | given))


def filter_of(entry: Entry) -> Filter:
    """The filter of a config entry that was checked."""
    given = {key: value for key, value in entry.items() if key not in ("name", "file")}
    return made(filter_class(entry["name"], entry.get("file")), given)


def measuring(entry: Entry) -> Entry:
    """What of an entry its measuring depends on."""
    cls = filter_class(entry["name"], entry.get("file"))
    settings = vars(filter_of(entry))
    kept = {key: entry[key] for key in ("name", "file") if key in entry}
    return kept | {name: settings[name] for name in cls.measured_with}


def deciding(entry: Entry) -> Entry:
    """An entry with all of its settings, also those that it leaves to their defaults."""
    kept = {key: entry[key] for key in ("name", "file") if key in entry}
    return kept | vars(filter_of(entry))


def measurer(entry: Entry) -> Filter:
    """The filter of an entry as `measuring` has it, without the other settings."""
    given = {key: value for key, value in entry.items() if key not in ("name", "file")}
    return filter_class(entry["name"], entry.get("file"))(**given)


def module_file(entry: Entry) -> Path:
    """The file of its code."""
    return Path(entry["file"]) if "file" in entry else HERE / f"{entry['name']}.py"
