"""A configured filter: its entry in the configuration, its class and what follows from both."""

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
    """A filter entry with its class. The class is imported on first use; ValueError if there is
    none."""

    entry: Entry

    @property
    def name(self) -> str:
        """The filter's name, which is also the fate of the documents that it drops."""
        return str(self.entry["name"])

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON schema of an entry."""
        return ENTRY_SCHEMA

    @classmethod
    def of(cls, entry: Entry) -> Self:
        return cls(entry)

    @cached_property
    def declaration(self) -> type[Filter]:
        return filter_class(self.entry)

    @property
    def own_sources(self) -> dict[str, Any]:
        """Source -> its own settings; False: the filter drops nothing from the source."""
        return dict(self.entry.get("sources", {}))

    @property
    def untouched(self) -> list[str]:
        """The sources that the filter leaves alone."""
        return [source for source, own in self.own_sources.items() if own is False]

    @property
    def file(self) -> str | None:
        """The user's file that defines the filter; None for built-in filters."""
        return self.entry.get("file")

    @property
    def code(self) -> Path:
        """The file with the filter's code."""
        return Path(self.file or KNOWN / f"{name_of_filter(self.entry)}.py")

    @property
    def files(self) -> list[Path]:
        """All files that the filter depends on: its code and the files that it reads."""
        return [self.code, *map(Path, self.declaration.files), *map(Path, self.named_files)]

    @property
    def named_files(self) -> list[str]:
        """The files that its settings name."""
        return self._given("is_file")

    @property
    def patterns(self) -> list[str]:
        """The regular expressions among its settings."""
        return self._given("is_pattern")

    @property
    def members(self) -> list[str]:
        """The record members that its settings name."""
        return self._given("is_member")

    def _given(self, kind: str) -> list[str]:
        """Return the values of the settings of a kind, without empty ones."""
        settings = self.declaration.settings.items()
        given = [self.settings.get(name) for name, setting in settings if getattr(setting, kind)]
        return [one for one in given if one]

    @property
    def given_settings(self) -> dict[str, Any]:
        """The settings given in the entry, for all sources."""
        return {key: value for key, value in self.entry.items() if key not in ENTRY_KEYS}

    @property
    def settings(self) -> dict[str, Any]:
        """All settings: the given ones, and defaults for the others."""
        settings = self.declaration.settings.items()
        return {name: setting.default for name, setting in settings} | self.given_settings

    @property
    def measures(self) -> bool:
        """True if it reads texts; otherwise it decides by text sizes alone."""
        return bool(self.declaration.values or self.declaration.edits)

    @property
    def edits(self) -> list[str]:
        """The rules by which it cuts pieces out of texts."""
        return list(self.declaration.edits)

    @property
    def drops(self) -> bool:
        """True if it can drop documents. Some filters only measure."""
        cls = self.declaration
        return cls.drops is not Filter.drops or bool(cls.limits)

    @property
    def needs(self) -> frozenset[str]:
        """The NEEDS that it may use."""
        return needs_of(self.declaration)

    @cached_property
    def columns(self) -> dict[str, str]:
        """Value -> its column in the table of measures."""
        plain = "use" not in self.entry
        return {
            value: value if plain and value != "reason" else f"{self.name}_{value}"
            for value in self.declaration.values
        }

    def _kept(self, *keys: str) -> Entry:
        return {key: self.entry[key] for key in keys if key in self.entry}

    @property
    def measured_with(self) -> dict[str, Any]:
        """The settings that its measurements depend on."""
        return {name: self.settings[name] for name in self.declaration.measured_with}

    @property
    def measuring(self) -> Entry:
        """The part of the entry that its measurements depend on."""
        kept = self._kept("name", "use", "file")
        if self.edits and self.untouched:
            kept["sources"] = dict.fromkeys(self.untouched, False)
        return kept | self.measured_with

    @property
    def deciding(self) -> Entry:
        """The entry with all settings, defaults included."""
        return self._kept(*ENTRY_KEYS) | self.settings

    def measurer(self) -> Filter:
        """Return the filter for measuring, with only the settings that this depends on."""
        return self.declaration(**self.measured_with)

    def decider(self, source: str = "") -> Filter | None:
        """Return the filter that decides on a source's documents; None if the source is exempt."""
        own = self.own_sources.get(source, {})
        return self.declaration(**self.settings | own) if own is not False else None


def configured(entries: list[Entry]) -> list[ConfiguredFilter]:
    return [ConfiguredFilter(entry) for entry in entries]


def name_faults(filter: ConfiguredFilter) -> Iterator[str]:
    """Yield what is wrong with the filter's name and the names of its columns."""
    name = filter.name
    if not name.isidentifier() or name != name.lower():
        yield (
            "expected a name of only lower-case letters, digits and _, which does not start with a "
            f"digit; found {name!r}"
        )
    if name in FATES or is_figure(name):
        yield f"the name {name} is reserved: the account has another figure with that name"
    for column in filter.columns.values():
        if column in RESERVED_VALUES or column.endswith("_copies"):
            yield f"value {column} is reserved: every document has a column with that name"
