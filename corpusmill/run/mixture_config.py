"""The keys of `mixture:`, and its settings for the steps."""

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from corpusmill.messages.near_names import meant
from corpusmill.mill.decide.cells import names_between, quantile_names
from corpusmill.mill.decide.curves import CURVES
from corpusmill.mill.decide.fates import SPLITS, STAGE_NAME, TRAIN
from corpusmill.mill.decide.mixture import (
    DUPLICATE_SOURCES,
    DUPLICATES,
    NONE,
    SIZE,
    Axis,
    Factor,
    MaxEpochs,
    Mixture,
    member_column,
)
from corpusmill.mill.decide.shares import (
    FILE,
    PROPORTIONAL,
    RUN,
    TEMPERATURE,
    UNIMAX,
    given_shares,
    nested,
    share_faults,
    shares_of_table,
)
from corpusmill.mill.decide.splits_and_copies import purpose_in
from corpusmill.mill.storage.untrusted import whole_file
from corpusmill.run.schema_faults import Validator, in_words
from corpusmill.run.typed import Section, as_given, key

if TYPE_CHECKING:
    from corpusmill.run.config import Config

UNITS = {
    "tokens": "Tokens of train, with the end-of-text token of each document.",
    "bytes": "Bytes of text of train.",
    "documents": "Documents of train; each copy counts.",
}
OWN_VALUES = {SIZE: "uint64", DUPLICATES: "int64", DUPLICATE_SOURCES: "int64"}
"""Values of every document, with their dtypes; all others are values of filters."""
NUMBER = {"type": "number"}
NOT_EMPTY = {"type": "string", "minLength": 1}
MOST_TABLE_BYTES = 1 << 24
MOST_BYTES_PER_TOKEN = 6.0
"""Bytes of text per token to plan shards. Few corpora have more, so shards are rarely too large."""


@dataclass(frozen=True)
class Entry:
    """A value with a JSON schema of its own; `entry` is the value as given."""

    entry: Any

    @classmethod
    def of(cls, entry: Any) -> Self:
        return cls(entry)


class Budget(Entry):
    @classmethod
    def schema(cls) -> dict[str, Any]:
        units = {
            unit: {"type": "integer", "minimum": 1, "description": meaning}
            for unit, meaning in UNITS.items()
        }
        return {"type": ["object", "null"], "properties": units, "additionalProperties": False,
                "minProperties": 1, "maxProperties": 1}  # fmt: skip

    @property
    def unit(self) -> str:
        return next(iter(self.entry)) if self.entry else "bytes"

    @property
    def size(self) -> int | None:
        return next(iter(self.entry.values())) if self.entry else None


class By(Entry):
    """An entry of `mixture.by`."""

    @classmethod
    def schema(cls) -> dict[str, Any]:
        properties = {
            "value": {
                "type": "string",
                "description": "source, duplicates, duplicate_sources, text_bytes, or a value of a "
                "filter. The name alone, without a key, is short for this.",
            },
            "member": {
                "type": "string",
                "minLength": 1,
                "description": "Record member, such as url, or meta.topic for a nested one.",
            },
            "groups": {
                "type": "object",
                "description": "Names of groups, with the sources of each.",
            },
            "bins": {
                "type": "array",
                "items": NUMBER,
                "minItems": 1,
                "description": "Limits between cells, ascending. A value equal to a limit belongs "
                "above it.",
            },
            "quantiles": {
                "type": "integer",
                "minimum": 2,
                "maximum": 1000,
                "description": "Number of cells with equally many documents, named q1 (lowest "
                "values), q2 and so on. Equal values are in the same cell.",
            },
            "missing": {
                "enum": [NONE, "fail"],
                "default": NONE,
                "description": "Documents without a value: form a cell named none, or stop the "
                "run.",
            },
        }
        return {"type": ["string", "object"], "properties": properties,
                "additionalProperties": False}  # fmt: skip

    @property
    def told(self) -> Mapping[str, Any]:
        """The entry as an object; the name of a value stands for that value."""
        return {"value": self.entry} if isinstance(self.entry, str) else self.entry

    @property
    def is_source(self) -> bool:
        return self.entry == "source" or self.told.get("value") == "source"

    def among(self, sources: Sequence[str]) -> "By":
        """Return the entry for some of the sources."""
        if "groups" not in self.told:
            return self
        groups = {
            group: [name for name in names if name in sources]
            for group, names in self.told["groups"].items()
        }
        return By({"groups": {group: names for group, names in groups.items() if names}})

    def axis(self, config: "Config") -> Axis:
        told = self.told
        if groups := told.get("groups"):
            of_source = {name: group for group, names in groups.items() for name in names}
            return Axis("group", groups={name: of_source[name] for name in config.weights})
        if self.is_source:
            return Axis("source")
        name = column = told.get("value", "")
        if member := told.get("member"):
            name, column = member, member_column(member)
        edges = told.get("bins")
        if edges is not None:
            edges = list(map(float, edges))
        return Axis(name, None, column, edges, told.get("quantiles", 0), told.get("missing", NONE))

    def faults(self, place: str, config: "Config") -> Iterator[str]:
        told = self.told
        kinds = [kind for kind in ("value", "member", "groups") if kind in told]
        if len(kinds) != 1:
            yield f"{place}: expected one of value, member and groups, got {kinds or 'none'}."
            return
        if "groups" in told:
            yield from group_faults(told["groups"], place, config)
            return
        if "bins" in told and "quantiles" in told:
            yield f"{place}: give bins or quantiles, not both."
        elif not is_ascending(told.get("bins", [])):
            yield f"{place}.bins: expected ascending numbers, got {told['bins']}."
        if self.is_source:
            if {"bins", "quantiles"} & set(told):
                yield f"{place}: source has names, so it has no bins and no quantiles."
        elif "value" in told:
            yield from value_faults(told["value"], bool({"bins", "quantiles"} & set(told)), place,
                                    config)  # fmt: skip


class Maxima(Entry):
    """The value of `mixture.max_epochs`: a number is short for {each: number}."""

    @classmethod
    def schema(cls) -> dict[str, Any]:
        number = {"type": "number", "exclusiveMinimum": 0}
        properties = {
            "each": number | {"description": "Maximum of each cell that `cells` does not name."},
            "all": number
            | {
                "description": "Maximum of the whole budget, relative to the size of all documents "
                "with a factor above 0."
            },
            "cells": {
                "type": "object",
                "additionalProperties": number | {"description": "Maximum of this cell."},
                "description": "Maximum of single cells, by their names along the first entry of "
                "`by`: {books: 8, web: 2}.",
            },
        }
        return {"type": ["number", "object", "null"], "exclusiveMinimum": 0,
                "properties": properties, "additionalProperties": False,
                "minProperties": 1}  # fmt: skip

    @property
    def max_epochs(self) -> MaxEpochs:
        told = self.entry if isinstance(self.entry, dict) else {"each": self.entry}
        cells = {str(name): most for name, most in told.get("cells", {}).items()}
        return MaxEpochs(told.get("each"), told.get("all"), cells)

    def faults(self, first: By, config: "Config") -> Iterator[str]:
        """Yield a sentence per cell that cannot exist. first: the first entry of `by`."""
        axis = first.axis(config)
        names = known_names(axis, config)
        for name in self.max_epochs.cells:
            if names is not None and name not in names:
                yield f"mixture.max_epochs: there is no {axis.name} {name}.{meant(name, names)}"


class Copies(Entry):
    """An entry of `mixture.copies`."""

    @classmethod
    def schema(cls) -> dict[str, Any]:
        curve = {"type": ["object", "string"]}
        properties = {
            "by": {
                "type": "string",
                "description": "duplicates, duplicate_sources, text_bytes, or a number that a "
                "filter measures.",
            },
            "curve": curve
            | {
                "description": "Factor from each value on: {1: 1, 2: 2, 10: 4}. Below the first, "
                "and without a value, it is the first factor. Or the name of a published curve."
            },
            "quantiles": curve
            | {
                "description": "Factor from each share of the documents on, lowest values first: "
                "{0: 0, 0.4: 1, 0.9: 3}. Or the name of a published curve."
            },
        }
        return {"type": "object", "properties": properties, "additionalProperties": False,
                "required": ["by"]}  # fmt: skip

    @property
    def _steps(self) -> Mapping[Any, Any]:
        given = self.entry.get("curve", self.entry.get("quantiles"))
        steps = CURVES[given].steps if isinstance(given, str) else given
        return {as_number(limit): factor for limit, factor in steps.items()}

    @property
    def factor(self) -> Factor:
        steps = self._steps
        return Factor(self.entry["by"], [float(one) for one in steps], list(steps.values()),
                      "quantiles" in self.entry)  # fmt: skip

    def faults(self, place: str, config: "Config") -> Iterator[str]:
        entry = self.entry
        if ("curve" in entry) == ("quantiles" in entry):
            yield f"{place}: expected either curve or quantiles."
            return
        kind = "quantiles" if "quantiles" in entry else "curve"
        given = entry[kind]
        if isinstance(given, str):
            known = [name for name, one in CURVES.items() if one.of_quantiles == (kind != "curve")]
            if given not in known:
                yield (
                    f"{place}.{kind}: there is no curve {given}.{meant(given, known)} Known: "
                    f"{', '.join(known)}."
                )
                return
        yield from curve_faults(self._steps, kind == "quantiles", f"{place}.{kind}")
        yield from value_faults(entry["by"], True, f"{place}.by", config)


def known_names(axis: Axis, config: "Config") -> list[str] | None:
    """Return the names of the cells along an axis; None if only the documents have them."""
    if not axis.column:
        return list(
            dict.fromkeys((axis.groups or {name: name for name in config.weights}).values())
        )
    if axis.quantiles:
        return [*quantile_names(axis.quantiles), NONE]
    return None if axis.edges is None else [*names_between(axis.edges), NONE]


def is_ascending(numbers: Sequence[float]) -> bool:
    return all(low < high for low, high in itertools.pairwise(numbers))


def as_number(limit: Any) -> Any:
    """Return a limit that JSON has as text as the number that it is."""
    try:
        return float(limit) if isinstance(limit, str) else limit
    except ValueError:
        return limit


def is_number(value: Any) -> bool:
    return type(value) in (int, float) and bool(np.isfinite(value))


def curve_faults(steps: Mapping[Any, Any], of_quantiles: bool, place: str) -> Iterator[str]:
    """Yield the faults of a curve {limit: factor}."""
    if not steps:
        yield f"{place}: expected limits with factors, such as {{1: 1, 10: 2}}, got none."
    elif not all(map(is_number, steps)) or not all(map(is_number, steps.values())):
        yield f"{place}: expected numbers as limits and as factors, got {dict(steps)}."
    elif not is_ascending([*steps]):
        yield f"{place}: expected ascending limits, got {', '.join(map(str, steps))}."
    elif min(steps.values()) < 0:
        yield f"{place}: expected factors of 0 or more, got {min(steps.values())}."
    elif not any(steps.values()):
        yield f"{place}: all factors are 0, so no document would be used. Raise one."
    elif of_quantiles and not (min(steps) >= 0 and max(steps) < 1):
        yield f"{place}: expected limits from 0 to below 1, as shares of the documents."


def value_faults(value: str, as_number: bool, place: str, config: "Config") -> Iterator[str]:
    """Yield the faults of a value's name. as_number: whether its numbers are compared."""
    dtypes = OWN_VALUES | {
        column: filter.declaration.values[name].dtype
        for filter in config.filters
        for name, column in filter.columns.items()
        if column != "reason"
    }
    if value not in dtypes:
        yield (
            f"{place}: no filter measures {value}.{meant(value, [*dtypes, 'source'])} Known here: "
            f"{', '.join(sorted(dtypes))}."
        )
    elif as_number and dtypes[value] == "text":
        yield f"{place}: {value} is a text, so it has no bins, quantiles, curve or order."
    elif not as_number and dtypes[value].startswith("float"):
        yield f"{place}: {value} is a number. Divide it with bins or quantiles."


def group_faults(groups: Mapping[str, Any], place: str, config: "Config") -> Iterator[str]:
    """Yield the faults of groups of sources."""
    members = [name for names in groups.values() for name in (names or [])]
    sources = list(config.weights)
    for name in members:
        if name not in sources:
            yield f"{place}.groups: there is no source {name}.{meant(str(name), sources)}"
    for name in sources:
        if members.count(name) != 1:
            found = "none" if name not in members else str(members.count(name))
            yield f"{place}.groups: expected source {name} in one group, found {found}."


@dataclass(frozen=True, kw_only=True)
class MixtureKeys(Section):
    """Composition of train by shares of a budget. See docs/how-to/mixtures.md."""

    budget: Budget = key(
        "Size of train: tokens, bytes of text, or documents. null: each document gets the copies "
        "that the weight of its source and `copies` give it."
    )
    by: list[By] = key(
        "What divides the documents into cells: source, a value of a filter, duplicates (size of "
        "the near-duplicate cluster), duplicate_sources (number of its sources), text_bytes, a "
        "record member, or groups of sources. Numbers need bins or quantiles.",
        least_entries=1,
        most_entries=8,
    )
    shares: Literal["proportional", "unimax"] | dict[str, Any] = key(
        "Shares of the budget, by the names of the cells along the first entry of `by`, or nested "
        "for several. proportional: as the documents are. unimax: equal, as far as max_epochs "
        "allows. {temperature: 0.3}: in proportion to this power of their sizes. {file: "
        "ratios.csv, run: run_001}: from a row of a table, with a column per cell."
    )
    normalize: bool = key("Whether given shares are proportions. If false, they must add up to 1.")
    copies: list[Copies] = key(
        "Curves that give documents of a cell more or fewer copies than others. Several are "
        "multiplied."
    )
    max: int = key("Maximum number of copies of a document.", least=1, most=1000)
    max_epochs: Maxima = key(
        "Maximum size of a cell's copies, relative to the size of its documents. A number for each "
        "cell; or {each: 4, cells: {books: 8}, all: 2}, where `all` is about the whole mixture. It "
        "limits what a budget takes."
    )
    on_shortage: Literal["fail", "rescale", "repeat"] = key(
        "What happens if a cell has too few documents for its share. fail: the run stops. "
        "rescale: other cells get what is missing, in proportion; if all are full, the run "
        "stops. repeat: max_epochs does not apply, and max does."
    )

    @property
    def is_used(self) -> bool:
        return self.budget.size is not None or bool(self.copies)

    @property
    def counts_tokens(self) -> bool:
        return self.budget.unit == "tokens"

    def train_bytes(self, expected: float) -> float:
        """Return the expected bytes of train. expected: those of all documents, by weight."""
        if self.budget.size is None:
            return expected * (self.max if self.copies else 1)
        if self.budget.unit == "documents":
            return expected * self.max
        return self.budget.size * (MOST_BYTES_PER_TOKEN if self.counts_tokens else 1.0)

    def faults(self, config: "Config") -> Iterator[str]:
        faults = [
            *(fault for number, one in enumerate(self.by)
              for fault in one.faults(f"mixture.by[{number}]", config)),
            *(fault for number, one in enumerate(self.copies)
              for fault in one.faults(f"mixture.copies[{number}]", config)),
        ]  # fmt: skip
        yield from faults
        if not faults:
            yield from self.max_epochs.faults(self.by[0], config)
            yield from self._share_faults(config)
        if self.counts_tokens and config.tokenizer.source == "train":
            yield (
                "mixture.budget: tokens are counted before the shuffle, but tokenizer.source: "
                "train learns from the shuffled text. Name a tokenizer, or give the budget in "
                "bytes or documents."
            )

    def _share_faults(self, config: "Config") -> Iterator[str]:
        shares = self.shares
        if self.budget.size is None and shares != PROPORTIONAL:
            yield "mixture.shares: shares need a mixture.budget. Give one."
        maxima = self.max_epochs.max_epochs
        if shares == UNIMAX and maxima.each is None and not maxima.cells:
            yield "mixture.shares: unimax needs mixture.max_epochs. Give it, for each cell."
        if not isinstance(shares, dict):
            return
        if self._names_file:
            try:
                shares = self._shares_of_file()
            except (ValueError, OSError) as error:
                yield f"mixture.shares.file: {error}"
                return
        if set(shares) == {TEMPERATURE}:
            if not is_number(shares[TEMPERATURE]) or not 0 <= shares[TEMPERATURE] <= 1:
                yield (
                    "mixture.shares.temperature: expected a number from 0 (equal shares) to 1 "
                    f"(proportional), got {shares[TEMPERATURE]}."
                )
            return
        if bad := [*bad_shares(shares)]:
            yield f"mixture.shares.{bad[0]}: expected a share of 0 or more, or shares by cell."
            return
        given = given_shares(shares)
        yield from (f"mixture.shares: {one}" for one in share_faults(given, self.normalize))
        axis = self.by[0].axis(config)
        if axis.column:
            return
        names = known_names(axis, config) or []
        for name in dict.fromkeys(str(one) for one in shares):
            if name not in names:
                yield f"mixture.shares: there is no {axis.name} {name}.{meant(name, names)}"
            elif axis.groups is None and config.weights[name] == 0 and has_share(shares[name]):
                yield (
                    f"mixture.shares: source {name} has weight 0. Raise the weight, or remove the "
                    "share."
                )
        if missing := [name for name in names if name not in map(str, shares)]:
            yield (
                f"mixture.shares: no share for {axis.name} {missing[0]}"
                + (f" and {len(missing) - 1} others" if len(missing) > 1 else "")
                + ". Give it a share; 0 leaves it out."
            )

    @property
    def _names_file(self) -> bool:
        shares = self.shares
        return isinstance(shares, dict) and isinstance(shares.get(FILE), str)

    def _shares_of_file(self) -> dict[str, Any]:
        assert isinstance(self.shares, dict)
        path, run = self.shares[FILE], self.shares.get(RUN)
        text = whole_file(path, MOST_TABLE_BYTES).decode("utf-8", "replace")
        return nested(shares_of_table(text, None if run is None else str(run), path))

    def settings(self, config: "Config", split: str = TRAIN, seed: int | None = None) -> Mixture:
        """Return the settings of the steps. seed: of the draws; None: shuffle.seed."""
        shares = self.shares
        if self._names_file:
            shares = self._shares_of_file()
        return Mixture(
            unit=self.budget.unit,
            budget=self.budget.size,
            axes=[one.axis(config) for one in self.by],
            factors=[one.factor for one in self.copies],
            weights=config.weights,
            shares=shares,
            most=self.max,
            max_epochs=self.max_epochs.max_epochs,
            on_shortage=self.on_shortage,
            seed=config.shuffle.seed if seed is None else seed,
            purpose=purpose_in(split, "sample"),
        )

    @property
    def members(self) -> list[str]:
        """Record members whose values divide documents."""
        return sorted({one.told["member"] for one in self.by if "member" in one.told})


@dataclass(frozen=True, kw_only=True)
class StageKeys(Section):
    name: str = key(
        "Name of the stage, which has shards of its own: tokens/NAME, corpus/NAME. Allowed: "
        "lower-case letters, digits and _.",
        pattern=rf"^{STAGE_NAME}\Z",
    )
    budget: dict[str, Any] | None = key("As in mixture, which has the default.", default=None)
    by: list[Any] | None = key("As in mixture.", default=None)
    shares: Literal["proportional", "unimax"] | dict[str, Any] | None = key(
        "As in mixture.", default=None
    )
    normalize: bool | None = key("As in mixture.", default=None)
    copies: list[Any] | None = key("As in mixture.", default=None)
    max: int | None = key("As in mixture.", default=None, least=1, most=1000)
    max_epochs: float | dict[str, Any] | None = key("As in mixture.", default=None, above=0)
    on_shortage: Literal["fail", "rescale", "repeat"] | None = key("As in mixture.", default=None)
    seed: int | None = key(
        "Seed of the sampling and the order of the stage; default: shuffle.seed.",
        default=None,
        least=0,
    )
    exclude: list[str] | None = key(
        "Earlier stages whose documents this stage does not use.", default=None, entries=NOT_EMPTY
    )

    def given(self, shared: MixtureKeys) -> dict[str, Any]:
        """Return the section mixture of the stage. shared: the section for all stages."""
        inherited = {f.name: as_given(getattr(shared, f.name)) for f in dataclasses.fields(shared)}
        own = {name: getattr(self, name) for name in inherited}
        return inherited | {name: value for name, value in own.items() if value is not None}

    def mixture(self, shared: MixtureKeys) -> MixtureKeys:
        return MixtureKeys.of(self.given(shared))


def stage_faults(config: "Config") -> Iterator[str]:
    """Yield the faults of `stages`."""
    names: list[str] = []
    for stage in config.stages:
        place = f"stages: {stage.name}"
        if stage.name in SPLITS:
            yield f"{place}: this name is that of a split. Give the stage another name."
        if stage.name in names:
            yield f"{place}: two stages have this name. Give each its own."
        for other in stage.exclude or []:
            if other not in names:
                yield f"{place}.exclude: {other} is no earlier stage.{meant(other, names)}"
        names.append(stage.name)
        errors = Validator(MixtureKeys.schema()).iter_errors(stage.given(config.mixture))
        if faults := [in_words(fault, place) for fault in errors]:
            yield from faults
            return
        mixture = stage.mixture(config.mixture)
        yield from (f"{place}: {fault}" for fault in mixture.faults(config))
        if not mixture.is_used:
            yield f"{place}: expected a budget or copies, here or in mixture, found none."
    units = {one.budget.unit for one in config.mixtures.values()}
    if len(units) > 1:
        yield f"stages: expected budgets in one unit, found {', '.join(sorted(units))}."


def has_share(share: Any) -> bool:
    return any(map(has_share, share.values())) if isinstance(share, dict) else bool(share)


def bad_shares(shares: Mapping[Any, Any]) -> Iterator[str]:
    """Yield the places of values that are not shares."""
    for name, share in shares.items():
        if isinstance(share, dict):
            yield from (f"{name}.{place}" for place in bad_shares(share))
        elif name == FILE or not is_number(share) or share < 0:
            yield str(name)
