"""S-curves over a histogram of similarities, as SVG."""

from typing import NamedTuple
from xml.sax.saxutils import escape

import numpy as np

from corpusmill.designer.design import BandSetting, s_curve, similarities

WIDTH, HEIGHT = 900, 670
LEFT, RIGHT, TOP, BOTTOM = 80, 815, 90, 490  # of the plot
LEGEND, LEGEND_STEP = BOTTOM + 80, 22
MOST_BARS = 128
# Apart for the colour-blind too (Okabe and Ito), and by their dashes in print.
STROKES = (("#0072b2", "none"), ("#d55e00", "10 4"), ("#009e73", "3 3"), ("#cc79a7", "12 4 3 4"))
STYLE = (
    "text { font: 14px sans-serif; fill: #222 } .title { font-size: 17px; font-weight: bold } "
    ".small { font-size: 13px; fill: #555 } .axis { stroke: #222 } .grid { stroke: #e4e4e4 } "
    ".bar { fill: #c4c9d0 } .curve { fill: none; stroke-width: 2.5 }"
)


class Curve(NamedTuple):
    """A setting to draw, and what the legend says of it."""

    label: str
    setting: BandSetting


def _x(similarity: float) -> float:
    return LEFT + (RIGHT - LEFT) * similarity


def _y(share: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * share


def _line(kind: str, x1: float, y1: float, x2: float, y2: float, more: str = "") -> str:
    return (
        f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        f"{' ' + more if more else ''}/>"
    )


def _text(x: float, y: float, text: str, anchor: str = "middle", more: str = "") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f"<text {place}{' ' + more if more else ''}>{escape(text)}</text>"


def _upright(x: float, text: str) -> str:
    y = (TOP + BOTTOM) / 2
    return _text(x, y, text, more=f'transform="rotate(-90 {x:.1f} {y:.1f})"')


def _decades(counts: np.ndarray) -> int:
    """Powers of ten on the axis of counts, which starts at half a pair so that one is seen."""
    return max(1, int(np.ceil(np.log10(max(int(counts.max()), 1)))))


def _height(count: float, decades: int) -> float:
    return np.log10(2 * count) / np.log10(2 * 10**decades)


def _bars(counts: np.ndarray, decades: int) -> list[str]:
    """One bar per number of equal values, or per few of them when there are many."""
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
        lines += [_line("axis", x, BOTTOM, x, BOTTOM + 6), _text(x, BOTTOM + 22, f"{tenth / 10}")]
        lines += [_line("axis", LEFT - 6, y, LEFT, y)]
        lines += [_text(LEFT - 11, y + 5, f"{tenth / 10}", "end")]
    for decade in range(decades + 1):
        y = _y(_height(10**decade, decades))
        lines += [_line("axis", RIGHT, y, RIGHT + 6, y)]
        lines += [
            _text(RIGHT + 11, y + 5, f"{10**decade:,}" if decade < 4 else f"1e{decade}", "start")
        ]
    lines += [_line("axis", LEFT, BOTTOM, RIGHT, BOTTOM)]
    lines += [_line("axis", x, TOP, x, BOTTOM) for x in (LEFT, RIGHT)]
    lines.append(_text((LEFT + RIGHT) / 2, BOTTOM + 46, "Jaccard similarity of a pair"))
    lines.append(_upright(LEFT - 50, "probability to become a candidate"))
    lines.append(_upright(WIDTH - 18, "pairs in the sample (log scale)"))
    return lines


def _curves(curves: list[Curve]) -> list[str]:
    """The curves, and the legend: a line of it for each, and one for the bars."""
    at = np.linspace(0, 1, 401)
    lines = [
        f'<rect class="bar" x="{LEFT}" y="{LEGEND - 11}" width="44" height="12"/>',
        _text(LEFT + 54, LEGEND, "pairs of the sample by their estimated similarity", "start"),
    ]
    for place, curve in enumerate(curves):
        colour, dashes = STROKES[place % len(STROKES)]
        stroke = f'stroke="{colour}" stroke-dasharray="{dashes}"'
        shares = s_curve(at, curve.setting)
        points = " ".join(f"{_x(s):.1f},{_y(p):.1f}" for s, p in zip(at, shares, strict=True))
        lines.append(f'<polyline class="curve" {stroke} points="{points}"/>')
        y = LEGEND + LEGEND_STEP * (place + 1)
        lines.append(_line("curve", LEFT, y - 5, LEFT + 44, y - 5, stroke))
        bands, rows = curve.setting
        lines.append(_text(LEFT + 54, y, f"{curve.label}: {bands} bands x {rows} rows", "start"))
    return lines


def picture(counts: np.ndarray, threshold: float, curves: list[Curve], note: str) -> str:
    """The S-curves of settings over a histogram (see `lsh_design.histogram`), as an SVG file."""
    decades = _decades(counts)
    grid = [_line("grid", LEFT, _y(tenth / 10), RIGHT, _y(tenth / 10)) for tenth in range(1, 11)]
    mark = _x(threshold)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}">',
        f"<style>{STYLE}</style>",
        '<rect width="100%" height="100%" fill="#fff"/>',
        _text(
            LEFT,
            26,
            "What LSH settings find, over the pairs of the sample",
            "start",
            'class="title"',
        ),
        _text(LEFT, 46, note, "start", 'class="small"'),
        *grid,
        *_bars(counts, decades),
        _line("axis", mark, TOP - 8, mark, BOTTOM, 'stroke-dasharray="2 3"'),
        _text(mark, TOP - 14, f"threshold {threshold:g}"),
        *_axes(decades),
        *_curves(curves),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"
