"""Find filters by name or in a user's file, and check their declarations before any job runs.

A built-in filter is the module of its name in `known/`; there is no other list.
"""

import importlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from corpusmill.messages.near_names import meant
from corpusmill.mill.filters.declaration import (
    DTYPES,
    NEEDS,
    OF_LISTS,
    Filter,
    Limit,
    Setting,
    Value,
)
from corpusmill.mill.read.plugins import classes_in, loaded

Entry = dict[str, Any]
"""An entry of the configuration's `filters`: the name and the settings.

`use`: the filter, if the name is another; `file`: the user's file; `sources`: settings by source.
"""

_NAME = {"type": "string", "pattern": r"^[a-z][a-z0-9_]*\Z"}
ENTRY_SCHEMA: dict[str, Any] = {
    "description": "A filter is written as its name and settings: {name: lengths, min_chars: 200}.",
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": _NAME | {"description": "Name of the filter, and fate of the documents it drops."},
        "use": _NAME
        | {
            "description": "Filter to use under a name of your own, for example to use a filter "
            "twice. The names of its values then begin with your name."
        },
        "file": {
            "description": "Your Python file with the filter, relative to the working directory. "
            "Leave it out for built-in filters.",
            "type": "string",
            "minLength": 1,
        },
        "sources": {
            "description": "Settings that differ for some sources, by source name. false: this "
            "filter drops nothing from the source.",
            "type": "object",
            "additionalProperties": {
                "description": "Give the settings of the filter for this source, such as "
                "{min_chars: 80}, or false.",
                "anyOf": [{"const": False}, {"type": "object"}],
            },
        },
    },
}
"""JSON schema of an entry. The settings are in the filter's declaration."""
ENTRY_KEYS = tuple(ENTRY_SCHEMA["properties"])
"""Keys of an entry that are not settings."""

KNOWN = Path(__file__).parent / "known"
"""Folder of the built-in filters, one module each."""


def known_filters() -> list[str]:
    """Return the names of the built-in filters."""
    return sorted(path.stem for path in KNOWN.glob("*.py") if path.stem != "__init__")


def name_of_filter(entry: Entry) -> str:
    return str(entry.get("use", entry["name"]))


def filter_class(entry: Entry) -> type[Filter]:
    """Return the class of an entry; ValueError if there is none."""
    file, name = entry.get("file"), name_of_filter(entry)
    if file is None:
        known = known_filters()
        if name not in known:
            raise ValueError(
                f"there is no filter {name}.{meant(name, known)} "
                "A filter of your own needs `file:`."
            )
        module = importlib.import_module(f"corpusmill.mill.filters.known.{name}")
    else:
        module = loaded(file)
    classes = classes_in(module, Filter)
    found = {one.fate: one for one in classes if isinstance(vars(one).get("fate"), str)}
    if name in found:
        return found[name]
    if file is not None and callable(getattr(module, "keep", None)):
        from corpusmill.mill.filters.keep import keep_filter

        return keep_filter(name, module.keep, file)
    has = f"its filters: {', '.join(sorted(found))}" if found else "it has no filter"
    raise ValueError(
        f"{file} has no class with fate = {name!r} and no function keep; {has}. Correct the name."
    )


def declaration_faults(cls: type[Filter]) -> Iterator[str]:
    """Yield what is wrong with a filter's declaration."""
    if cls.__init__ is not Filter.__init__:
        yield "it has an __init__; use settings instead, and build other objects in `measure`"
    for kind, members in ((Setting, cls.settings), (Value, cls.values)):
        if not isinstance(members, Mapping) or not all(
            isinstance(name, str) and isinstance(one, kind) for name, one in members.items()
        ):
            yield f"its {kind.__name__.lower()}s do not map names to {kind.__name__}"
            return
    yield from limit_faults(cls)
    for file in cls.files:
        if not os.path.isfile(file):
            yield f"it reads {file}, which does not exist"
    for name, setting in cls.settings.items():
        yield from default_faults(name, setting)
    for name, value in cls.values.items():
        if not name.isidentifier():
            yield f"value {name!r} is not a name of letters, digits and _"
        if value.dtype not in DTYPES:
            yield f"value {name} has dtype {value.dtype!r}, expected one of {', '.join(DTYPES)}"
    if cls.needs is not None and not (
        isinstance(cls.needs, tuple) and all(one in NEEDS for one in cls.needs)
    ):
        yield f"its needs are {cls.needs!r}, expected a tuple of {', '.join(NEEDS)}"
    if not isinstance(cls.reads_records, bool):
        yield f"its reads_records is {cls.reads_records!r}, expected True or False"
    if "reason" in cls.values and cls.values["reason"].dtype != "text":
        yield "value reason is not a text"
    if bool(cls.edits) != (cls.measure_and_edit is not Filter.measure_and_edit):
        yield (
            "it has edits without the method measure_and_edit, or the reverse; it needs both or "
            "neither"
        )
    for name in cls.measured_with:
        if name not in cls.settings:
            yield f"measured_with names {name}, which is not one of its settings"
    for name in cls.settings:
        if name in (*ENTRY_KEYS, "fate") or hasattr(cls, name):
            yield f"setting {name} is taken"


def limit_faults(cls: type[Filter]) -> Iterator[str]:
    limits = getattr(cls, "limits", None)
    if limits is None:
        if cls.drops is Filter.drops:
            yield "it has neither limits nor a method `drops`"
        return
    if not isinstance(limits, tuple) or not all(isinstance(one, Limit) for one in limits):
        yield "its limits are not a tuple of limits such as below(...) and above(...)"
        return
    dtypes = {name: value.dtype for name, value in cls.values.items()} | {"text_bytes": "uint64"}
    for limit in limits:
        of_texts = limit.side in (*OF_LISTS, "not like")
        if limit.value not in dtypes:
            yield f"a limit names the value {limit.value}, which the filter does not measure"
        elif of_texts and dtypes[limit.value] != "text":
            yield (
                f"a limit tests if {limit.value} is {limit.side} a setting, but {limit.value} is "
                "not a text"
            )
        if limit.setting not in cls.settings:
            yield f"a limit names the setting {limit.setting}, which the filter does not have"
        elif limit.side in OF_LISTS and cls.settings[limit.setting].schema.get("type") != "array":
            yield (
                f"a limit tests if {limit.value} is {limit.side} {limit.setting}, which is not a "
                "list"
            )


def default_faults(name: str, setting: Setting) -> Iterator[str]:
    """Yield a fault if a default is not valid JSON or is outside its own limits."""
    import jsonschema

    if setting.default is None:
        return
    try:
        json.dumps(setting.default, allow_nan=False)
        jsonschema.validate(setting.default, setting.schema)
    except (TypeError, ValueError):
        yield f"the default of setting {name} is {setting.default!r}, which JSON cannot represent"
    except jsonschema.ValidationError as error:
        yield f"the default of setting {name}: {error.message}"
    except jsonschema.exceptions.SchemaError as error:
        yield f"the limits of setting {name}: {error.message}"


def optional_settings(cls: type[Filter]) -> set[str]:
    """Return the settings that may be null, which means no limit. That is also their default."""
    return {limit.setting for limit in getattr(cls, "limits", ())}
