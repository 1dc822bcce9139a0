"""Formatted figures for the terminal and the page."""

import numpy as np

from corpusmill.mill.filters.limits import shown
from corpusmill.tools.tune.calibrate.account import Calibration
from corpusmill.tools.tune.calibrate.measured import Bound, Rule
from corpusmill.tools.tune.sample import standard_error


def percent(share: float) -> str:
    """Format a share: `12.3 %`; `<0.1 %` for small but positive ones."""
    if 0 < share < 0.0005:
        return "<0.1 %"
    return f"{100 * share:.1f} %" if share else "-"


def number(value: Bound, digits: int = 4) -> str:
    """Format a value: `digits` digits of a fraction, a whole number in full (`0.1234`, `12,345`),
    the beginning of a text."""
    if value is None:
        return "none"
    if isinstance(value, str | list):
        return shown(value)
    if isinstance(value, int) or (abs(value) >= 1000 and np.isfinite(value)):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def bound_now(rule: Rule) -> str:
    """Return the current limit, with a star if some source has another."""
    others = any(its != rule.bound for its in rule.bounds.values())
    return number(rule.bound) + ("*" if others else "")


def sign(rule: Rule) -> str:
    side = rule.limit.side if rule.limit else ""
    return {"below": "<", "above": ">", "missing": "="}.get(side, side)


def facts(found: Calibration) -> list[str]:
    """Describe the sample behind the figures, and its uncertainty."""
    sampled = sum(one.sampled for one in found.sampled)
    documents = sum(one.documents for one in found.sampled)
    whole = all(one.read_share >= 1 for one in found.sampled)
    some = [one for one in found.sampled if one.sampled < one.documents]
    size = found.of.text_bytes.sum() / 1e6
    lines = [
        f"{sampled:,} documents sampled ({size:,.1f} MB) of "
        f"{'' if whole else 'about '}{documents:,.0f}; seed {found.seed}. Totals weight each "
        "source by its size.",
    ]
    if some:
        error = max(standard_error(0.1, one.sampled, one.documents) for one in some)
        lines.append(
            f"A share of 10 % of a source has a standard error of at most {100 * error:.1f} %."
        )
    else:
        lines.append("Every document is in the sample, so the shares are exact.")
    part_read = [one for one in found.sampled if one.read_share < 1]
    if any(one.entered for one in part_read):
        lines.append(
            "Uncompressed files were read in evenly spaced stretches. If neighbouring documents "
            "are similar, the shares are less certain."
        )
    if any(len(one.entered) < one.files for one in part_read):
        lines.append(
            "Only the beginnings of compressed and Parquet files were read: a sorted file is not "
            "sampled evenly. Raise --read to read more."
        )
    if found.spans != "none":
        lines.append(
            f"spans.unit is {found.spans}: a run cuts repeated spans before it measures documents, "
            "but this sample still has them."
        )
    return lines
