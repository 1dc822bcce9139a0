"""A filter of the configuration: its entry, the class that the entry means, all that follows."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from corpusmill.mill.account.accounts import is_figure
from corpusmill.mill.decide.fates import FATES
from corpusmill.mill.filters.declaration import Filter, needs_of
from corpusmill.mill.filters.registry import (
    ENTRY_KEYS,
    ENTRY_SCHEMA,
    KNOWN,
    Entry,
    filter_class,
    name_of_filter,
)

RESERVED_VALUES = (
    "id", "source", "file", "line", "fate", "winner", "similarity", "stage", "held_out_by",
    "split", "copies", "text_bytes", "digest", "cuts", "cut_bytes", "whole_digest", "preference",
)  # fmt: skip


@dataclass(frozen=True)
class ConfiguredFilter:
    """Nothing is imported before the class is asked for: then ValueError if there is none."""

    entry: Entry

    @property
    def name(self) -> str:
        """Also the fate of the documents that it drops."""
        return str(self.entry["name"])

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON schema of an entry, as of a section of the configuration."""
        return ENTRY_SCHEMA

    @classmethod
    def of(cls, entry: Entry) -> Self:
        return cls(entry)

    @cached_property
    def declaration(self) -> type[Filter]:
        return filter_class(self.entry)

    @property
    def own_sources(self) -> dict[str, Any]:
        """Source -> settings of its own; False: the filter drops nothing from it."""
        return dict(self.entry.get("sources", {}))

    @property
    def untouched(self) -> list[str]:
        """The sources from which it drops nothing."""
        return [source for source, own in self.own_sources.items() if own is False]

    @property
    def file(self) -> str | None:
        """The user's file that has it."""
        return self.entry.get("file")

    @property
    def code(self) -> Path:
        """The file of its code."""
        return Path(self.file or KNOWN / f"{name_of_filter(self.entry)}.py")

    @property
    def files(self) -> list[Path]:
        """All files that it is made of: its code, and what it says that it reads."""
        return [self.code, *map(Path, self.declaration.files), *map(Path, self.named_files)]

    @property
    def named_files(self) -> list[str]:
        """The files that its settings name."""
        settings = self.declaration.settings.items()
        named = [self.settings.get(name) for name, setting in settings if setting.is_file]
        return [file for file in named if file]

    @property
    def members(self) -> list[str]:
        """The members of records that its settings name."""
        settings = self.declaration.settings.items()
        return [self.settings[name] for name, setting in settings if setting.is_member]

    @property
    def given_settings(self) -> dict[str, Any]:
        """What the entry says of its settings, for all sources."""
        return {key: value for key, value in self.entry.items() if key not in ENTRY_KEYS}

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that are given, and the defaults of the others."""
        settings = self.declaration.settings.items()
        return {name: setting.default for name, setting in settings} | self.given_settings

    @property
    def measures(self) -> bool:
        """Whether it looks at texts; else it decides by their sizes alone."""
        return bool(self.declaration.values or self.declaration.edits)

    @property
    def edits(self) -> list[str]:
        """The rules by which it cuts pieces out of texts."""
        return list(self.declaration.edits)

    @property
    def drops(self) -> bool:
        """Whether it can drop a document at all; some only measure."""
        cls = self.declaration
        return cls.drops is not Filter.drops or bool(cls.limits)

    @property
    def needs(self) -> frozenset[str]:
        """Those of NEEDS that it may take."""
        return needs_of(self.declaration)

    @cached_property
    def columns(self) -> dict[str, str]:
        """Value -> its name in the table of measures."""
        plain = "use" not in self.entry
        return {
            value: value if plain and value != "reason" else f"{self.name}_{value}"
            for value in self.declaration.values
        }

    def _kept(self, *keys: str) -> Entry:
        return {key: self.entry[key] for key in keys if key in self.entry}

    @property
    def measured_with(self) -> dict[str, Any]:
        """The settings that its measuring depends on."""
        return {name: self.settings[name] for name in self.declaration.measured_with}

    @property
    def measuring(self) -> Entry:
        """The part of the entry that its measuring depends on."""
        kept = self._kept("name", "use", "file")
        if self.edits and self.untouched:
            kept["sources"] = dict.fromkeys(self.untouched, False)
        return kept | self.measured_with

    @property
    def deciding(self) -> Entry:
        """The entry with all settings, also those that it leaves to their defaults."""
        return self._kept(*ENTRY_KEYS) | self.settings

    def measurer(self) -> Filter:
        """The filter that measures, without the other settings."""
        return self.declaration(**self.measured_with)

    def decider(self, source: str = "") -> Filter | None:
        """The filter that decides on documents of a source; None if it does not."""
        own = self.own_sources.get(source, {})
        return self.declaration(**self.settings | own) if own is not False else None


def configured(entries: list[Entry]) -> list[ConfiguredFilter]:
    return [ConfiguredFilter(entry) for entry in entries]


def name_faults(filter: ConfiguredFilter) -> Iterator[str]:
    """What its name, or that of a column that it makes, cannot be."""
    name = filter.name
    if not name.isidentifier() or name != name.lower():
        yield f"fate {name!r} is not a name of small letters, digits and _"
    if name in FATES or is_figure(name):
        yield f"fate {name} is taken: the account has another figure of that name"
    for column in filter.columns.values():
        if column in RESERVED_VALUES:
            yield f"value {column} is taken: it is a column that every document has"
