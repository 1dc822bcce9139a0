"""Describe the faults of a configuration's filters."""

import itertools
import os
from collections.abc import Iterator
from typing import Any

from corpusmill.messages.near_names import meant
from corpusmill.messages.sentences import sentence
from corpusmill.mill.filters.configured import ConfiguredFilter, name_faults
from corpusmill.mill.filters.declaration import Filter
from corpusmill.mill.filters.registry import declaration_faults, optional_settings
from corpusmill.run.schema_faults import Validator, in_words


def filter_faults(filters: list[ConfiguredFilter], sources: list[str]) -> Iterator[str]:
    """Yield one sentence per fault. sources: the names of all sources."""
    names: set[str] = set()
    columns: dict[str, str] = {}
    for number, filter in enumerate(filters):
        place = f"filters[{number}]"
        try:
            cls = filter.declaration
        except ValueError as error:
            yield f"{place}: {error}"
            continue
        faults = [*name_faults(filter), *declaration_faults(cls)]
        yield from (sentence(f"{place}: {fault}") for fault in faults)
        if faults:
            continue
        name = filter.name
        if name in names:
            yield (
                f"{place}: two filters are named {name}. Give each filter its own name, and "
                "name the filter to use with `use:`."
            )
        names.add(name)
        for column in filter.columns.values():
            if column in columns:
                first = columns[column]
                yield f"{place}: the filter {first} already measures {column}."
            columns[column] = name
        settings = list(setting_faults(filter, sources, place))
        yield from settings or own_faults(filter, place)


def setting_faults(filter: ConfiguredFilter, sources: list[str], place: str) -> Iterator[str]:
    """Yield the faults of one filter's settings, for all sources and for single ones."""
    cls = filter.declaration
    optional, schema = optional_settings(cls), Validator(schema_of(cls))

    def said(settings: dict[str, Any], where: str) -> Iterator[str]:
        limits = {name: settings[name] for name in optional & set(settings)}
        told = {name: one for name, one in settings.items() if limits.get(name, 0) is not None}
        yield from (in_words(fault, where) for fault in schema.iter_errors(told))

    for name, setting in cls.settings.items():
        if setting.default is None and name not in {*filter.given_settings, *optional}:
            yield f"{place}: {filter.name} needs {name}. {setting.meaning}"
    yield from said(filter.given_settings, place)
    for source, own in filter.own_sources.items():
        where = f"{place}.sources.{source}"
        if source not in sources:
            yield f"{where}: there is no source {source}.{meant(str(source), sources)}"
        for name in sorted(set(cls.measured_with) & set(own or {})):
            yield (
                f"{where}: {name} affects measured values, so it cannot differ between sources. "
                "Set {name} for all sources."
            )
        yield from said(own or {}, where)
    for file in files_missing(filter):
        yield f"{place}: there is no file {file}. Correct its path."


def schema_of(cls: type[Filter]) -> dict[str, Any]:
    return {
        "additionalProperties": False,
        "properties": {
            name: setting.schema | {"description": setting.meaning}
            for name, setting in cls.settings.items()
        },
    }


def files_missing(filter: ConfiguredFilter) -> list[str]:
    """Return the files that settings name and that do not exist."""
    return [
        file for file in filter.named_files if isinstance(file, str) and not os.path.isfile(file)
    ]


def own_faults(filter: ConfiguredFilter, place: str) -> Iterator[str]:
    """Yield the faults of a filter's settings in combination, for each source."""
    told: dict[str, str] = {}
    for source in ["", *filter.own_sources]:
        where = f"{place}.sources.{source}" if source else place
        if decider := filter.decider(source):
            for fault in (*crossed(decider), *decider.faults()):
                told.setdefault(fault, where)
    yield from (f"{where}: {fault}" for fault, where in told.items())


def crossed(filter: Filter) -> Iterator[str]:
    """Yield a fault for each lower limit that is above its upper limit."""
    limits = getattr(filter, "limits", ())
    for least, most in itertools.product(limits, limits):
        if (least.value, least.side, most.side) == (most.value, "below", "above"):
            low, high = getattr(filter, least.setting), getattr(filter, most.setting)
            if low is not None and high is not None and low > high:
                yield (
                    f"{filter.fate}: {least.setting} {low} is above {most.setting} {high}, so no "
                    f"value of {least.value} is within both limits. Lower {least.setting} or raise "
                    f"{most.setting}."
                )
