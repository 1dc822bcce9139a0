"""A calibration as tables for the terminal, in 100 columns."""

import textwrap
from collections.abc import Iterator

from corpusmill.messages.text_tables import in_blocks
from corpusmill.mill.report.pages import shortened
from corpusmill.tools.tune.calibrate.account import Calibration
from corpusmill.tools.tune.calibrate.figures import Share, Threshold
from corpusmill.tools.tune.calibrate.measured import Rule
from corpusmill.tools.tune.calibrate.words import bound_now, facts, number, percent, sign

WIDTH = 100
NAME_CHARS = 36
GROUP_CHARS = 14
LEVELS = (0.01, 0.05, 0.1, 0.25, 0.5)
MOST_TEXTS = 8
MOST_GROUPS, MOST_OVERLAPPING = 13, 12
"""Maximum number of columns for sources and languages, and of filters in the table of overlaps. The
files have all of them."""


def sample_table(found: Calibration) -> str:
    lines = [["source", "files", "read", "malformed", "documents", "sampled"]]
    for one in found.sampled:
        about = "" if one.read_share >= 1 else "~"
        lines.append([
            shortened(one.name, NAME_CHARS), f"{one.files:,}", f"{100 * one.read_share:.0f} %",
            f"{one.malformed:,}", f"{about}{one.documents:,.0f}", f"{one.sampled:,}",
        ])  # fmt: skip
    return in_blocks(lines, WIDTH)


def _indented(rule: Rule) -> str:
    return "  " + shortened(f"{rule.name} {sign(rule)} {bound_now(rule)}", NAME_CHARS - 2)


def _shares(name: str, groups: list[Share], alone: Share | None, first: Share | None) -> list[str]:
    """Return a line of the table of shares."""
    whole, *others = groups[:MOST_GROUPS]
    more = [percent(one.documents) if one else "" for one in (alone, first)]
    parts = [percent(one.documents) for one in others]
    return [name, percent(whole.documents), percent(whole.text_bytes), *more, *parts]


def shares_table(found: Calibration) -> str:
    """Return the table of shares dropped now: a line for each filter and, below it, for its
    rules."""
    titles = [shortened(group.title, GROUP_CHARS) for group in found.of.groups[:MOST_GROUPS]]
    lines = [["", "documents", "bytes", "alone", "first", *titles[1:]]]
    lines.append(_shares("all filters", found.any_filter, None, None))
    for name, figures in found.filters.items():
        drops = [one.drops for one in figures]
        lines.append(
            _shares(shortened(name, NAME_CHARS), drops, figures[0].alone, figures[0].first)
        )
        for rule, of_rule, _ in found.rules:
            if rule.filter == name and rule.limit:
                drops = [one.drops for one in of_rule]
                lines.append(_shares(_indented(rule), drops, of_rule[0].alone, None))
    return in_blocks(lines, WIDTH)


def _cell(thresholds: list[Threshold], level: float) -> str:
    """Return the threshold, or a dash if even the strictest one drops nothing."""
    (at,) = [one for one in thresholds if one.level == level]
    return number(at.value, 3) if at.share.documents else "-"


def thresholds_table(found: Calibration) -> str:
    lines = [["", "now", *(f"{100 * level:g} %" for level in LEVELS)]]
    for name in found.filters:
        rules = [
            (rule, figures[0])
            for rule, figures, _ in found.rules
            if rule.filter == name and figures[0].thresholds
        ]
        if rules:
            lines.append([shortened(name, NAME_CHARS), *[""] * (1 + len(LEVELS))])
        for rule, all_rows in rules:
            cells = [_cell(all_rows.thresholds, level) for level in LEVELS]
            named = "  " + shortened(f"{rule.name} {sign(rule)}", NAME_CHARS - 2)
            lines.append([named, bound_now(rule), *cells])
    return in_blocks(lines, WIDTH)


def texts_table(found: Calibration) -> str:
    """Return the most frequent texts of limits on texts, in all sources."""
    lines = [["", "documents", "dropped"]]
    for rule, figures, _ in found.rules:
        if rule.judges_texts:
            lines.append([_indented(rule).strip(), "", ""])
            for text, documents, drops in figures[0].texts[:MOST_TEXTS]:
                plain = "".join(one if one.isprintable() else "?" for one in text)
                named = "  " + shortened(plain, NAME_CHARS - 2)
                lines.append([named, percent(documents), percent(drops)])
    return in_blocks(lines, WIDTH)


def overlap_table(found: Calibration) -> str:
    overlap = found.overlap_of_filters
    names = overlap.names[:MOST_OVERLAPPING]
    lines = [["filter", "alone", *(shortened(name, GROUP_CHARS) for name in names)]]
    for row, name in enumerate(names):
        cells = [
            "" if column == row else percent(overlap.both[row, column])
            for column in range(len(names))
        ]
        lines.append([shortened(name, NAME_CHARS), percent(overlap.alone[row]), *cells])
    return in_blocks(lines, WIDTH)


def told(found: Calibration) -> Iterator[str]:
    yield from (textwrap.fill(fact, WIDTH) for fact in facts(found))
    yield "\nThe sample"
    yield sample_table(found)
    yield "\nDropped now, of all documents"
    yield "alone: dropped by no other filter or rule; first: dropped by no filter before it"
    if any("*" in bound_now(rule) for rule in found.of.rules):
        yield "* some sources have another limit, or none"
    yield shares_table(found)
    yield "\nFor each share: the strictest threshold that drops at most this share of documents"
    yield "a dash: too many ties, so no limit drops such a share"
    yield thresholds_table(found)
    if any(rule.judges_texts for rule in found.of.rules):
        yield "\nThe most frequent texts among the values that are texts, such as labels"
        yield texts_table(found)
    if found.overlap_of_filters.names:
        yield "\nShare of each filter's dropped documents that each other filter drops too"
        yield overlap_table(found)
    yield ""
