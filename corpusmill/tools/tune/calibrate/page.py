"""A calibration as a self-contained HTML page without scripts."""

import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from corpusmill.mill.filters.limits import shown
from corpusmill.mill.report.pages import page
from corpusmill.tools.tune.calibrate.account import Calibration, Told
from corpusmill.tools.tune.calibrate.figures import Threshold
from corpusmill.tools.tune.calibrate.measured import Group, Measured
from corpusmill.tools.tune.calibrate.picture import axis_of, histogram
from corpusmill.tools.tune.calibrate.words import bound_now, facts, number, percent, sign

MOST_GROUPS = 24
"""Maximum number of groups to choose from on the page; calibration.json has all groups."""

JOINERS = "\u200c\u200d"
"""Formatting characters that Persian words and emoji need."""


class Value(NamedTuple):
    """A value of a filter with the rules that limit it. name: empty if the filter has no limits.
    pictures: one per group, if any rule is a limit on numbers."""

    name: str
    rules: list[Told]
    on_numbers: list[Told]
    pictures: list[str]


def with_signs(text: str) -> Iterator[tuple[str, str]]:
    """Yield the text in pieces, each followed by the sign of a control or formatting character. The
    last piece has none."""
    plain = ""
    for character in text:
        category = unicodedata.category(character)
        if character in JOINERS or category[0] not in "CZ" or category == "Zs":
            plain += character
        else:
            yield plain, {"\n": "↵", "\t": "→"}.get(character, f"[U+{ord(character):04X}]")
            plain = character if character in "\n\t" else ""
    yield plain, ""


def distinct(thresholds: list[Threshold]) -> list[Threshold]:
    """Keep the last of several thresholds with one value: no limit drops more documents than it
    does."""
    return list({one.value: one for one in thresholds}.values())


def pictures_of(of: Measured, some: list[Told], groups: list[Group]) -> list[str]:
    """Return the histogram of a value with its limits, for each group."""
    rules = [told.rule for told in some]
    axis = axis_of(rules)
    return [
        histogram(of, rules, group, axis, [told.figures[place].drops.documents for told in some])
        for place, group in enumerate(groups)
    ]


def filters_of(of: Measured, all_rules: list[Told], groups: list[Group]) -> dict[str, list[Value]]:
    """Return the values of each filter, in the order of its limits."""
    by_value: dict[tuple[str, str], list[Told]] = {}
    for told in all_rules:
        value = told.rule.limit.value if told.rule.limit else ""
        by_value.setdefault((told.rule.filter, value), []).append(told)
    filters: dict[str, list[Value]] = {}
    for (name, value), rules in by_value.items():
        on_numbers = [told for told in rules if told.rule.has_threshold]
        pictures = pictures_of(of, on_numbers, groups) if on_numbers else []
        filters.setdefault(name, []).append(Value(value, rules, on_numbers, pictures))
    return filters


def calibration_page(found: Calibration) -> str:
    groups = found.of.groups[:MOST_GROUPS]
    left_out = len(found.of.groups) - len(groups)
    more = [f"{left_out} more groups are in calibration.json."] if left_out else []
    return page(
        "calibration.html", found=found, groups=groups, facts=facts(found) + more,
        filters=filters_of(found.of, found.rules, groups), bound_now=bound_now, distinct=distinct,
        number=number, percent=percent, shown=shown, sign=sign, with_signs=with_signs,
    )  # fmt: skip
