"""Figures of the sample: shares, thresholds, overlap. Documents and bytes are estimates for the
whole corpus: each source is weighted by its size."""

from typing import Any, NamedTuple

import numpy as np

from corpusmill.mill.filters.limits import beyond, has_value
from corpusmill.tools.tune.calibrate.measured import Group, Measured, Rule

LEVELS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75)
"""Shares of the documents. For each, the threshold that drops this share is shown."""

MOST_TEXTS = 20
"""Maximum number of texts shown for a limit on texts."""


class Share(NamedTuple):
    documents: float
    text_bytes: float


class Threshold(NamedTuple):
    """A threshold. level: the requested share. value: the strictest value that drops no larger
    share. share: what it drops, which can be less because of ties."""

    level: float
    value: float
    share: Share


class TextShare(NamedTuple):
    """The share of documents whose value is a text: of all, and of those that the rule drops."""

    text: str
    documents: float
    drops: float


class RuleFigures(NamedTuple):
    """The figures of a rule in a group.

    alone: what no other rule drops. valued: the share of documents that have a value; without any
    there are no thresholds. texts: the most frequent ones, for a limit on texts.
    """

    sampled: int  # dropped documents of the sample
    drops: Share
    alone: Share
    valued: float
    median: float | None
    thresholds: list[Threshold]
    texts: list[TextShare]


class FilterFigures(NamedTuple):
    """The figures of a filter in a group. first: what it drops and no earlier filter does, which is
    its fate in a run."""

    sampled: int
    drops: Share
    alone: Share
    first: Share


class Overlap(NamedTuple):
    """The overlap of what is dropped. both[i, j]: share of i's dropped documents that j drops too;
    0 if i drops none. alone[i]: share that nothing else drops."""

    names: list[str]
    both: np.ndarray
    alone: np.ndarray


def _part(part: np.ndarray, whole: np.ndarray) -> float:
    total = whole.sum()
    return float(part.sum() / total) if total else 0.0


def share_of(of: Measured, rows: np.ndarray, which: np.ndarray) -> Share:
    """Return the share of a group. rows: its documents. which: bool (rows,)."""
    weights = of.weights[rows]
    sizes = weights * of.text_bytes[rows]
    return Share(_part(weights[which], weights), _part(sizes[which], sizes))


def only(columns: list[np.ndarray]) -> list[np.ndarray]:
    """Return, for each boolean column, the rows where it alone is true."""
    if not columns:
        return []
    how_many = np.sum(columns, axis=0)
    return [column & (how_many == 1) for column in columns]


def threshold_at(
    values: np.ndarray, weights: np.ndarray, side: str, level: float, total: float
) -> float:
    """Return the strictest value that, as a threshold, drops at most `level` of all documents.

    values: ascending, without NaN. total: the weight of all documents, including those without a
    value.
    """
    if side == "above":
        values, weights = values[::-1], weights[::-1]
    first = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    before = np.concatenate([[0.0], np.cumsum(weights)])[first]
    # Sums of floats: equal sums may differ in the last bits.
    place = np.searchsorted(before, level * total * (1 + 1e-12), "right") - 1
    return values[first[place]].item()


def thresholds_of(of: Measured, rule: Rule, rows: np.ndarray) -> tuple[Any, list[Threshold]]:
    """Return the median, and the threshold of each level; none if no document has a value."""
    assert rule.limit
    side, total, values = rule.limit.side, of.weights[rows].sum(), rule.values[rows]
    known = np.flatnonzero(~np.isnan(values.astype(np.float64)))
    if not known.size:
        return None, []
    known = known[np.argsort(values[known], kind="stable")]
    ascending, weights = values[known], of.weights[rows[known]]
    found = []
    for level in LEVELS:
        value = threshold_at(ascending, weights, side, level, total)
        found.append(Threshold(level, value, share_of(of, rows, beyond(values, side, value))))
    return threshold_at(ascending, weights, "below", 0.5, weights.sum()), found


def rule_figures(of: Measured, rule: Rule, alone: np.ndarray, group: Group) -> RuleFigures:
    """Return the figures of a rule in a group. alone: bool (documents,), what no other rule
    drops."""
    rows = group.rows
    known = rows[has_value(rule.values[rows])] if rule.limit else rows
    median, thresholds = thresholds_of(of, rule, rows) if rule.has_threshold else (None, [])
    return RuleFigures(
        sampled=int(rule.drops[rows].sum()),
        drops=share_of(of, rows, rule.drops[rows]),
        alone=share_of(of, rows, alone[rows]),
        valued=_part(of.weights[known], of.weights[rows]) if rule.limit else 1.0,
        median=median,
        thresholds=thresholds,
        texts=texts_of(of, rule, rows) if rule.judges_texts else [],
    )


def texts_of(of: Measured, rule: Rule, rows: np.ndarray) -> list[TextShare]:
    """Return the most frequent texts first."""
    known = rows[has_value(rule.values[rows])]
    # As objects: numpy's strings all take the size of the longest, and end at a NUL.
    texts, of_row = np.unique(rule.values[known], return_inverse=True)
    all_weights, weights = of.weights[rows].sum(), of.weights[known]
    documents = np.bincount(of_row, weights, texts.size) / all_weights
    drops = np.bincount(of_row, weights * rule.drops[known], texts.size) / all_weights
    first = np.argsort(-documents, kind="stable")[:MOST_TEXTS].tolist()
    return [TextShare(texts[at], float(documents[at]), float(drops[at])) for at in first]


def figures_of_rules(of: Measured) -> list[list[RuleFigures]]:
    """Return the figures of each rule in each group."""
    alone = only([rule.drops for rule in of.rules])
    return [
        [rule_figures(of, rule, its, group) for group in of.groups]
        for rule, its in zip(of.rules, alone, strict=True)
    ]


def figures_of_filters(of: Measured) -> dict[str, list[FilterFigures]]:
    """Return the figures of each filter in each group."""
    alone = dict(zip(of.filters, only(list(of.filters.values())), strict=True))
    return {
        name: [
            FilterFigures(
                int(drops[group.rows].sum()),
                *(
                    share_of(of, group.rows, which[group.rows])
                    for which in (drops, alone[name], of.fates[name])
                ),
            )
            for group in of.groups
        ]
        for name, drops in of.filters.items()
    }


def dropped_by_any(of: Measured) -> list[Share]:
    """Return the share of each group that any filter drops."""
    none = np.zeros(of.sources.size, bool)
    dropped = np.any([none, *of.filters.values()], axis=0)
    return [share_of(of, group.rows, dropped[group.rows]) for group in of.groups]


def overlap_of(names: list[str], drops: list[np.ndarray], weights: np.ndarray) -> Overlap:
    """Return the overlap. drops: bool (documents,) for each name."""
    if not names:
        return Overlap([], np.zeros((0, 0)), np.zeros(0))
    which = np.array(drops).astype(np.float64)
    each = which @ weights
    whole = np.where(each > 0, each, 1.0)
    both = (which * weights) @ which.T / whole[:, None]
    alone = np.array(only(drops)).astype(np.float64) @ weights / whole
    return Overlap(names, both, alone)


def overlaps(of: Measured) -> tuple[Overlap, Overlap]:
    """Return the overlap among filters, and among rules, of those that drop anything."""
    filters = {name: drops for name, drops in of.filters.items() if drops.any()}
    rules = [rule for rule in of.rules if rule.drops.any()]
    return (
        overlap_of(list(filters), list(filters.values()), of.weights),
        overlap_of([rule.full_name for rule in rules], [rule.drops for rule in rules], of.weights),
    )
