"""The documents of the sample that each rule drops.

A rule is a limit of a filter, or a filter without limits.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from corpusmill.messages.progress import Progress
from corpusmill.mill.filters.configured import ConfiguredFilter
from corpusmill.mill.filters.declaration import Filter, Limit
from corpusmill.mill.filters.limits import beyond
from corpusmill.mill.filters.measuring import Decision, decided
from corpusmill.mill.storage.tables import in_one_piece
from corpusmill.tools.tune.measuring import measured_batches
from corpusmill.tools.tune.sample import Sampled

ALL = "all sources"
LANGUAGE = "language"
"""Name of the text value that documents are also grouped by."""


class Group(NamedTuple):
    """A group of documents with common figures."""

    kind: str  # all, source or language
    name: str
    rows: np.ndarray  # int64: rows of the sample

    @property
    def title(self) -> str:
        return self.name if self.kind != "language" else f"language {self.name}"


Bound = float | str | list[str] | None


class Rule(NamedTuple):
    filter: str
    limit: Limit | None
    meaning: str  # of the value
    values: np.ndarray  # (documents,), as filters use them; none without a limit
    bound: Bound  # for sources without their own settings; None: it drops nothing
    bounds: dict[str, Bound]  # by source
    drops: np.ndarray  # bool (documents,)
    reasons: list[str | None]  # the filter's reason for each; none for a limit

    @property
    def name(self) -> str:
        return self.limit.setting if self.limit else self.filter

    @property
    def full_name(self) -> str:
        return f"{self.filter}: {self.name}" if self.limit else self.filter

    @property
    def has_threshold(self) -> bool:
        """Say whether it is a limit on numbers, for which other thresholds are possible."""
        return self.limit is not None and self.limit.side in ("below", "above") and not self.of_text

    @property
    def of_text(self) -> bool:
        return self.values.dtype == object

    @property
    def judges_texts(self) -> bool:
        """Say whether it drops documents because of text values, in some source."""
        if self.limit is None or self.limit.side == "missing":
            return False
        return self.of_text and any(one is not None for one in self.bounds.values())


class Measured(NamedTuple):
    """The sample by row."""

    sources: np.ndarray  # source of each row
    weights: np.ndarray  # float64: documents of the source per sampled one
    text_bytes: np.ndarray  # int64
    groups: list[Group]
    rules: list[Rule]
    filters: dict[str, np.ndarray]  # name -> bool (documents,): what it drops on its own
    fates: dict[str, np.ndarray]  # name -> bool: what it drops first


def rules_of(
    filter: ConfiguredFilter, table: pa.Table, sources: np.ndarray, decision: Decision
) -> Iterator[Rule]:
    """Yield the rules of a filter. decision: of this filter alone."""
    cls = filter.declaration
    if cls.drops is not Filter.drops:  # it does not decide by limits
        drops = decision.fates.has(filter.name)
        yield Rule(filter.name, None, "", np.zeros(0), None, {}, drops, decision.reasons)
        return
    columns = filter.columns | {"text_bytes": "text_bytes"}
    own = {name: filter.decider(name) for name in ["", *np.unique(sources).tolist()]}
    for limit in cls.limits:
        values = in_one_piece(table[columns[limit.value]]).to_numpy(zero_copy_only=False)
        bounds = {name: getattr(one, limit.setting) if one else None for name, one in own.items()}
        bound = bounds.pop("")
        beyond_limit = np.zeros(values.shape, bool)
        for name, its in bounds.items():
            rows = sources == name
            beyond_limit[rows] = beyond(values[rows], limit.side, its)
        known = cls.values.get(limit.value)
        meaning = known.meaning if known else "bytes of text"
        yield Rule(filter.name, limit, meaning, values, bound, bounds, beyond_limit, [])


def groups_of(table: pa.Table, sources: np.ndarray, names: list[str]) -> list[Group]:
    """Return the groups: all, each source, each language, the most frequent first."""
    found = [Group("all", ALL, np.arange(sources.size))]
    if len(names) > 1:
        found += [Group("source", name, np.flatnonzero(sources == name)) for name in names]
    if LANGUAGE in table.column_names and table[LANGUAGE].type == pa.string():
        languages = np.array([one or "" for one in table[LANGUAGE].to_pylist()], object)
        known, counts = np.unique(languages, return_counts=True)
        for name in known[np.argsort(-counts, kind="stable")].tolist():
            found.append(Group("language", name or "none", np.flatnonzero(languages == name)))
    return found


def measured(
    part: Path, filters: list[ConfiguredFilter], sampled: list[Sampled], progress: Progress
) -> Measured:
    table = pa.concat_tables([table for _, table in measured_batches(part, filters, progress)])
    sources = np.array(in_one_piece(table["source"]).to_pylist(), str)
    weight = {one.name: one.weight for one in sampled}
    dropping = [filter for filter in filters if filter.drops]
    alone = {filter.name: decided([filter], table) for filter in dropping}
    together = decided(dropping, table)
    return Measured(
        sources=sources,
        weights=np.array([weight[name] for name in sources.tolist()]),
        text_bytes=in_one_piece(table["text_bytes"]).to_numpy().astype(np.int64),
        groups=groups_of(table, sources, list(weight)),
        rules=[
            rule
            for filter in dropping
            for rule in rules_of(filter, table, sources, alone[filter.name])
        ],
        filters={name: decision.fates.has(name) for name, decision in alone.items()},
        fates={name: together.fates.has(name) for name in alone},
    )
