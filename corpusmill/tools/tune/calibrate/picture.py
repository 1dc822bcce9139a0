"""Histograms of a value with its limits, as SVG for a page that defines their colours."""

import math
from html import escape
from typing import NamedTuple

import numpy as np

from corpusmill.mill.report import svg
from corpusmill.tools.tune.calibrate.measured import Group, Measured, Rule
from corpusmill.tools.tune.calibrate.words import number, percent

WIDTH, HEIGHT = 480, 230
LEFT, RIGHT, TOP, BOTTOM = 58, 468, 42, 190  # of the plot area
BINS = 40
MOST_BOUNDS = 6
LEAST_SHARE, DECADES = 1e-4, 4  # of the axis of shares, which ends at 1
# Beyond both, the axis would serve only a few values.
QUANTILES = 0.002, 0.998
BEYOND_PICTURES = 1e300
NARROWEST = 1e-9
"""Minimum width of an axis, relative to its values. Floats cannot divide a narrower axis into
bars."""

ROOM = 1.3
"""Factor by which a logarithmic axis exceeds its last limit."""

LOGARITHMIC_FROM = 20
"""An axis is logarithmic if its largest value, such as a count, is greater than this."""


class Axis(NamedTuple):
    """An axis: its ends, and whether it shows log(1 + x)."""

    least: float
    greatest: float
    logarithmic: bool
    edges: np.ndarray  # float64, of the bars, as values

    def x(self, value: float) -> float:
        low, high, at = (
            math.log1p(one) if self.logarithmic else one
            for one in (self.least, self.greatest, min(max(value, self.least), self.greatest))
        )
        return LEFT + (RIGHT - LEFT) * min((at - low) / (high - low), 1.0)


def bounds_of(rules: list[Rule], source: str | None) -> list[tuple[Rule, float]]:
    """Return the limits of a source, or of all sources, each once."""
    found: dict[tuple[str, float], Rule] = {}
    for rule in rules:
        for name, bound in rule.bounds.items():
            if isinstance(bound, int | float) and source in (None, name):
                found[rule.name, bound] = rule
    return [(rule, bound) for (_, bound), rule in found.items()][:MOST_BOUNDS]


def drawn_at(rule: Rule, bound: float) -> float:
    """Return the place of a limit, between the values that it drops and those that it keeps."""
    assert rule.limit
    if rule.values.dtype.kind in "bui":
        return bound - 0.5 if rule.limit.side == "below" else bound + 0.5
    return float(bound if rule.limit.side == "below" else np.nextafter(bound, np.inf))


def axis_of(rules: list[Rule]) -> Axis:
    """Return one axis for all groups, so that their pictures are comparable. rules: of one
    value."""
    values = rules[0].values.astype(np.float64)
    finite = values[np.abs(values) < BEYOND_PICTURES]
    limits = [drawn_at(rule, bound) for rule, bound in bounds_of(rules, None)]
    ends = [*(np.quantile(finite, QUANTILES) if finite.size else [0.0, 1.0]), *limits]
    least, greatest = min(ends), max(ends)
    if greatest - least <= NARROWEST * max(abs(least), NARROWEST):
        greatest = least + max(1.0, 2 * NARROWEST * abs(least))
    whole = rules[0].values.dtype.kind in "bui"
    if whole and greatest - least <= BINS:
        least, greatest = math.floor(least + 0.5) - 0.5, math.floor(greatest + 0.5) + 0.5
        return Axis(least, greatest, False, np.arange(least, greatest + 1))
    if 0 <= least < greatest / 4 or (whole and least < 0):
        least = 0.0
    logarithmic = greatest > LOGARITHMIC_FROM and least >= 0
    # Space for a bar of values beyond a limit at the end of the axis.
    wide = (greatest - least) / BINS
    for limit in limits:
        greatest = max(greatest, limit * ROOM if logarithmic else limit + wide)
        if least:
            least = min(least, limit / ROOM if logarithmic else limit - wide)
    scale, value = (np.log1p, np.expm1) if logarithmic else (np.asarray, np.asarray)
    edges = value(np.linspace(scale(least), scale(greatest), BINS + 1))
    for limit in limits:  # no bar crosses a limit
        edges[np.abs(edges[1:-1] - limit).argmin() + 1] = limit
    return Axis(least, greatest, logarithmic, np.unique(edges))


def heights_of(values: np.ndarray, weights: np.ndarray, whole: float, axis: Axis) -> np.ndarray:
    """Return the share of documents for each bar. Values beyond the axis count in the last bars."""
    inside = np.clip(values, axis.edges[0], axis.edges[-1])
    return np.histogram(inside, axis.edges, weights=weights)[0] / whole


def _y(share: float) -> float:
    above = math.log10(max(share, LEAST_SHARE) / LEAST_SHARE) / DECADES
    return BOTTOM - (BOTTOM - TOP) * above


def _bars(kind: str, heights: np.ndarray, axis: Axis) -> str:
    """Draw all bars as one path, a fifth of the size of separate rectangles."""
    steps = []
    for place in np.flatnonzero(heights > LEAST_SHARE):
        left, right = axis.x(axis.edges[place]), axis.x(axis.edges[place + 1])
        gap = 0.5 if right - left > 3 else 0
        top = _y(min(heights[place], 1.0))
        steps.append(f"M{left + gap:.1f} {BOTTOM}V{top:.1f}H{right - gap:.1f}V{BOTTOM}Z")
    return f'<path class="{kind}" d="{"".join(steps)}"/>'


def ticks_of(axis: Axis) -> list[float]:
    if axis.logarithmic:
        powers = [0.0, *(10.0**power for power in range(9))]
        return [one for one in powers if axis.least <= one <= axis.greatest]
    wide = axis.greatest - axis.least
    decade = 10.0 ** math.floor(math.log10(wide))
    step = next(size for k in (0.1, 0.2, 0.5, 1, 2, 5) if wide <= 6 * (size := k * decade))
    if axis.edges.size <= BINS and wide <= BINS + 1:
        step = max(step, 1.0) if float(axis.edges[0] * 2).is_integer() else step
    first = math.ceil(axis.least / step - 1e-9)
    last = math.floor(axis.greatest / step + 1e-9)
    return [place * step for place in range(first, last + 1)]


def _axes(axis: Axis) -> list[str]:
    lines = []
    for power in range(DECADES + 1):
        share = LEAST_SHARE * 10**power
        lines.append(svg.line("grid", LEFT, _y(share), RIGHT, _y(share)))
        lines.append(svg.text(LEFT - 6, _y(share) + 4, f"{100 * share:g} %", "end"))
    lines.append(svg.line("axis", LEFT, BOTTOM, RIGHT, BOTTOM))
    for value in ticks_of(axis):
        at = axis.x(value)
        lines.append(svg.line("axis", at, BOTTOM, at, BOTTOM + 5))
        anchor = "end" if at > RIGHT - 20 else "middle"
        lines.append(svg.text(min(at + 10, WIDTH) if anchor == "end" else at, BOTTOM + 20,
                              f"{value:,.6g}", anchor))  # fmt: skip
    return lines


def _limits(bounds: list[tuple[Rule, float]], axis: Axis) -> list[str]:
    """Draw the limits as lines, with their names in rows."""
    lines = []
    for place, (rule, bound) in enumerate(bounds):
        at, y = axis.x(drawn_at(rule, bound)), 14 + 15 * (place % 2)
        anchor = "start" if at < (LEFT + RIGHT) / 2 else "end"
        lines.append(svg.line("limit", at, y + 4, at, BOTTOM))
        named = f"{rule.name} {number(bound)}" if len(bounds) <= 2 else number(bound)
        lines.append(svg.text(at, y, named, anchor, 'class="limit"'))
    return lines


def alternative(of: Measured, rules: list[Rule], group: Group, shares: list[float]) -> str:
    """Describe the picture in words, as alternative text."""
    said = [
        f"{percent(share) if share else 'nothing'} dropped by {rule.name}"
        for rule, share in zip(rules, shares, strict=True)
    ]
    value = rules[0].limit.value if rules[0].limit else ""
    return f"Histogram of {value} in {group.title}: {', '.join(said)}."


def histogram(
    of: Measured, rules: list[Rule], group: Group, axis: Axis, shares: list[float]
) -> str:
    """Draw a histogram. rules: of one value. shares: of documents that each rule drops."""
    values = rules[0].values[group.rows].astype(np.float64)
    known = ~np.isnan(values)
    weights = of.weights[group.rows]
    whole = weights.sum()
    dropped = np.any([rule.drops[group.rows] for rule in rules], axis=0) & known
    source = group.name if group.kind == "source" else None
    pieces = _axes(axis)
    for kind, which in (("kept", known), ("dropped", dropped)):
        pieces.append(_bars(kind, heights_of(values[which], weights[which], whole, axis), axis))
    pieces += _limits(bounds_of(rules, source), axis)
    said = escape(alternative(of, rules, group, shares), quote=True)
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{said}">\n'
        + "\n".join(pieces)
        + "\n</svg>\n"
    )
