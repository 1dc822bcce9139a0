"""All figures of a calibration, and their form in calibration.json."""

import math
from typing import Any, NamedTuple

from corpusmill.tools.tune.calibrate.examples import Example
from corpusmill.tools.tune.calibrate.figures import FilterFigures, Overlap, RuleFigures, Share
from corpusmill.tools.tune.calibrate.measured import Measured, Rule
from corpusmill.tools.tune.sample import Sampled

OF_SOURCE = ("name", "files", "read_share", "documents", "malformed", "sampled", "entered")
"""Figures of a source in calibration.json."""


class Told(NamedTuple):
    """A rule with its figures in each group, and its examples."""

    rule: Rule
    figures: list[RuleFigures]
    examples: list[Example]


class Calibration(NamedTuple):
    """The figures of a calibration. Lists have an item per group, in the order of `of.groups`."""

    seed: int
    spans: str  # spans.unit; a sample is not cut by spans
    sampled: list[Sampled]
    of: Measured
    rules: list[Told]
    filters: dict[str, list[FilterFigures]]
    any_filter: list[Share]
    overlap_of_filters: Overlap
    overlap_of_rules: Overlap


def plain(value: Any) -> Any:
    """Convert named tuples for JSON. Values without a JSON number become text."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(member) for name, member in value._asdict().items()}
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [plain(member) for member in value]
    return value


def as_json(found: Calibration) -> dict[str, Any]:
    titles = [group.title for group in found.of.groups]

    def by_group(figures: list) -> dict[str, Any]:
        return {title: plain(one) for title, one in zip(titles, figures, strict=True)}

    return {
        "corpusmill.calibration": 1,
        "seed": found.seed,
        "sources": {
            one.name: {name: plain(getattr(one, name)) for name in OF_SOURCE}
            for one in found.sampled
        },
        "groups": [
            {"title": one.title, "kind": one.kind, "name": one.name, "sampled": one.rows.size}
            for one in found.of.groups
        ],
        "all_filters": by_group(found.any_filter),
        "filters": {name: by_group(figures) for name, figures in found.filters.items()},
        "rules": [
            {
                "filter": rule.filter,
                "value": rule.limit and rule.limit.value,
                "side": rule.limit and rule.limit.side,
                "setting": rule.limit and rule.limit.setting,
                "bounds": plain(rule.bounds),
                "groups": by_group(figures),
                "examples": plain(examples),
            }
            for rule, figures, examples in found.rules
        ],
        "overlap": {
            "filters": _overlap(found.overlap_of_filters),
            "rules": _overlap(found.overlap_of_rules),
        },
    }


def _overlap(overlap: Overlap) -> dict[str, Any]:
    return {
        "names": overlap.names,
        "dropped_too": {
            name: dict(zip(overlap.names, row, strict=True))
            for name, row in zip(overlap.names, overlap.both.tolist(), strict=True)
        },
        "alone": dict(zip(overlap.names, overlap.alone.tolist(), strict=True)),
    }
