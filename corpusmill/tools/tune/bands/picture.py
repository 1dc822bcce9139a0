"""S-curves over a histogram of similarities, as SVG."""

from typing import NamedTuple

import numpy as np

from corpusmill.mill.dedup.band_settings import BandSetting, recall_at
from corpusmill.mill.report.svg import image, line, text, upright
from corpusmill.tools.tune.bands.design import similarities

WIDTH, HEIGHT = 900, 670
LEFT, RIGHT, TOP, BOTTOM = 80, 815, 90, 490  # of the plot area
LEGEND, LEGEND_STEP = BOTTOM + 80, 22
MOST_BARS = 128
# Distinguishable for the colour-blind (Okabe and Ito), and by dashes in print.
STROKES = (("#0072b2", "none"), ("#d55e00", "10 4"), ("#009e73", "3 3"), ("#cc79a7", "12 4 3 4"))
STYLE = ".curve { fill: none; stroke-width: 2.5 }"


class Curve(NamedTuple):
    """A setting to draw, and its entry in the legend."""

    label: str
    setting: BandSetting


def _x(similarity: float) -> float:
    return LEFT + (RIGHT - LEFT) * similarity


def _y(share: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * share


def _decades(counts: np.ndarray) -> int:
    """Return the powers of ten on the axis of counts. It starts at half a pair, so that one is
    visible."""
    return max(1, int(np.ceil(np.log10(max(int(counts.max()), 1)))))


def _height(count: float, decades: int) -> float:
    return np.log10(2 * count) / np.log10(2 * 10**decades)


def _bars(counts: np.ndarray, decades: int) -> list[str]:
    """Draw one bar per number of equal values, or per few of them if there are many."""
    together = -(-counts.size // (MOST_BARS + 1))
    step = together / (counts.size - 1)
    lines = []
    for start in range(0, counts.size, together):
        pairs = int(counts[start : start + together].sum())
        left = _x(max(similarities(counts)[start] - step / 2, 0))
        right = min(_x(similarities(counts)[start] + step / 2), RIGHT)
        if pairs:
            top = _y(min(_height(pairs, decades), 1))
            lines.append(
                f'<rect class="bar" x="{left:.1f}" y="{top:.1f}" '
                f'width="{right - left:.1f}" height="{BOTTOM - top:.1f}"/>'
            )
    return lines


def _axes(decades: int) -> list[str]:
    lines = []
    for tenth in range(11):
        x, y = _x(tenth / 10), _y(tenth / 10)
        lines += [line("axis", x, BOTTOM, x, BOTTOM + 6), text(x, BOTTOM + 22, f"{tenth / 10}")]
        lines += [line("axis", LEFT - 6, y, LEFT, y)]
        lines += [text(LEFT - 11, y + 5, f"{tenth / 10}", "end")]
    for decade in range(decades + 1):
        y = _y(_height(10**decade, decades))
        lines += [line("axis", RIGHT, y, RIGHT + 6, y)]
        lines += [
            text(RIGHT + 11, y + 5, f"{10**decade:,}" if decade < 4 else f"1e{decade}", "start")
        ]
    lines += [line("axis", LEFT, BOTTOM, RIGHT, BOTTOM)]
    lines += [line("axis", x, TOP, x, BOTTOM) for x in (LEFT, RIGHT)]
    lines.append(text((LEFT + RIGHT) / 2, BOTTOM + 46, "Jaccard similarity of a pair"))
    lines.append(upright(LEFT - 50, (TOP + BOTTOM) / 2, "probability of becoming a candidate"))
    lines.append(upright(WIDTH - 18, (TOP + BOTTOM) / 2, "pairs in the sample (log scale)"))
    return lines


def _curves(curves: list[Curve]) -> list[str]:
    """Draw the curves and the legend: a line for each, and one for the bars."""
    at = np.linspace(0, 1, 401)
    lines = [
        f'<rect class="bar" x="{LEFT}" y="{LEGEND - 11}" width="44" height="12"/>',
        text(LEFT + 54, LEGEND, "pairs of the sample by their estimated similarity", "start"),
    ]
    for place, curve in enumerate(curves):
        colour, dashes = STROKES[place % len(STROKES)]
        stroke = f'stroke="{colour}" stroke-dasharray="{dashes}"'
        shares = recall_at(at, curve.setting)
        points = " ".join(f"{_x(s):.1f},{_y(p):.1f}" for s, p in zip(at, shares, strict=True))
        lines.append(f'<polyline class="curve" {stroke} points="{points}"/>')
        y = LEGEND + LEGEND_STEP * (place + 1)
        lines.append(line("curve", LEFT, y - 5, LEFT + 44, y - 5, stroke))
        bands, band_rows = curve.setting
        told = f"{curve.label}: {bands} bands x {band_rows} rows"
        lines.append(text(LEFT + 54, y, told, "start"))
    return lines


def picture(counts: np.ndarray, threshold: float, curves: list[Curve], note: str) -> str:
    """Draw the S-curves of settings over a histogram (see `design.histogram`), as an SVG file."""
    decades = _decades(counts)
    grid = [line("grid", LEFT, _y(tenth / 10), RIGHT, _y(tenth / 10)) for tenth in range(1, 11)]
    mark = _x(threshold)
    title = "Curves: share of pairs that each LSH setting finds. Bars: pairs of the sample"
    pieces = [
        text(LEFT, 26, title, "start", 'class="title"'),
        text(LEFT, 46, note, "start", 'class="small"'),
        *grid,
        *_bars(counts, decades),
        line("axis", mark, TOP - 8, mark, BOTTOM, 'stroke-dasharray="2 3"'),
        text(mark, TOP - 14, f"threshold {threshold:g}"),
        *_axes(decades),
        *_curves(curves),
    ]
    return image(WIDTH, HEIGHT, pieces, STYLE)
