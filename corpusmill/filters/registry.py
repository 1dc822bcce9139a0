"""The filters of a run: found by name, or in a file of the user's; checked before any job.

A filter of ours is the module of its name in this folder; no list has it.
"""

import difflib
import importlib
import inspect
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from corpusmill.documents.accounts import is_figure
from corpusmill.documents.fates import RESERVED_FATES
from corpusmill.filters.declaration import DTYPES, Filter, Setting, Value
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
        and isinstance(vars(one).get("fate"), str)
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
    if cls.__init__ is not Filter.__init__:
        yield "it has an __init__; a filter has settings, and what else it needs is made in measure"
    if cls.drops is Filter.drops:
        yield "it has no method drops"
    for kind, members in ((Setting, cls.settings), (Value, cls.values)):
        if not isinstance(members, Mapping) or not all(
            isinstance(name, str) and isinstance(one, kind) for name, one in members.items()
        ):
            yield f"its {kind.__name__.lower()}s are no {kind.__name__} by name"
            return
    if not cls.fate.isidentifier() or cls.fate != cls.fate.lower():
        yield f"fate {cls.fate!r} is not a name of small letters, digits and _"
    if cls.fate in RESERVED_FATES or is_figure(cls.fate):
        yield f"fate {cls.fate} is taken: the account has another figure of that name"
    for file in cls.files:
        if not Path(file).is_file():
            yield f"there is no file {file}, which it reads"
    for name, setting in cls.settings.items():
        yield from default_faults(name, setting)
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
    for name in cls.settings:
        if name in ("name", "file", "fate") or hasattr(cls, name):
            yield f"setting {name} is taken"


def default_faults(name: str, setting: Setting) -> Iterator[str]:
    """A default that is no JSON, or is outside its own limits."""
    import jsonschema

    if setting.default is None:
        return
    try:
        json.dumps(setting.default, allow_nan=False)
        jsonschema.validate(setting.default, setting.schema)
    except (TypeError, ValueError):
        yield f"the default of setting {name} is {setting.default!r}, which JSON cannot say"
    except jsonschema.ValidationError as error:
        yield f"the default of setting {name}: {error.message}"
    except jsonschema.exceptions.SchemaError as error:
        yield f"the limits of setting {name}: {error.message}"


def settings_of(entry: Entry) -> dict[str, Any]:
    """The settings of an entry: those given, the defaults of the others."""
    cls = filter_class(entry["name"], entry.get("file"))
    given = {key: value for key, value in entry.items() if key not in ("name", "file")}
    return {name: setting.default for name, setting in cls.settings.items()} | given


def filter_of(entry: Entry) -> Filter:
    """The filter of a config entry that was checked."""
    return filter_class(entry["name"], entry.get("file"))(**settings_of(entry))


def measuring(entry: Entry) -> Entry:
    """What of an entry its measuring depends on."""
    cls = filter_class(entry["name"], entry.get("file"))
    settings = settings_of(entry)
    kept = {key: entry[key] for key in ("name", "file") if key in entry}
    return kept | {name: settings[name] for name in cls.measured_with}


def deciding(entry: Entry) -> Entry:
    """An entry with all of its settings, also those that it leaves to their defaults."""
    kept = {key: entry[key] for key in ("name", "file") if key in entry}
    return kept | settings_of(entry)


def measurer(entry: Entry) -> Filter:
    """The filter of an entry as `measuring` has it, without the other settings."""
    given = {key: value for key, value in entry.items() if key not in ("name", "file")}
    return filter_class(entry["name"], entry.get("file"))(**given)


def module_file(entry: Entry) -> Path:
    """The file of its code."""
    return Path(entry["file"]) if "file" in entry else HERE / f"{entry['name']}.py"


def files_of(entry: Entry) -> list[Path]:
    """All that it is made of: its code, and what it says that it reads."""
    cls = filter_class(entry["name"], entry.get("file"))
    return [module_file(entry), *map(Path, cls.files)]
