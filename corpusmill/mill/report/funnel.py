"""The funnel of every source: records read, dropped by fate, and kept."""

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any, NamedTuple

from corpusmill.mill.decide.fates import KEPT
from corpusmill.mill.report import svg
from corpusmill.mill.report.pages import page, percent, shortened

# No source and no fate can have these names.
ALL = "all sources"
IN, CUT, WRITTEN = "records in", "spans cut out", "copies written"

WIDTH = 900
LEFT, RIGHT = 84, 900  # of the bars
BAR, LEGEND_STEP, SOURCE_STEP = 14, 22, 68
LEGEND = 20  # the heading of its columns
NAME_CHARS = 38
COLOURS = (
    "#d55e00", "#56b4e9", "#f0e442", "#009e73", "#cc79a7", "#0072b2", "#e69f00", "#8c6d31",
    "#9e9ac8", "#a6d854", "#e41a1c", "#17becf",
)  # fmt: skip
"""Colours of fates; the first ones are distinct for colour-blind readers too (Okabe and Ito)."""
STYLE = ".name { font-weight: bold }"


class Figure(NamedTuple):
    """A row of the funnel. Malformed records have no text bytes; cut spans are not documents."""

    source: str
    what: str
    documents: int | None
    text_bytes: int | None


class Measure(NamedTuple):
    """The quantity that a bar's length shows."""

    name: str
    of: Callable[[Figure], Any]
    words: Callable[[int], str]


MEASURES = (
    Measure("documents", attrgetter("documents"), "{:,}".format),
    Measure("text", attrgetter("text_bytes"), lambda number: f"{number / 1e6:,.2f} MB"),
)
COLUMNS = ((470, 566), (710, 806))
"""For each measure, the x positions at which its number and its share end in the legend."""


def figures(summary: dict) -> list[Figure]:
    """Return all counts of documents and bytes in results/summary.json, source by source."""
    return [figure for account in _accounts(summary) for figure in account]


def _accounts(summary: dict) -> list[list[Figure]]:
    """Return the accounts of all sources together, then of each source."""
    accounts = {ALL: summary, **summary["sources"]}
    return [list(_figures(name, account)) for name, account in accounts.items()]


def _figures(source: str, account: dict) -> Iterator[Figure]:
    documents, text_bytes = account["documents"], account["bytes"]
    yield Figure(source, IN, documents["in"], text_bytes["in"])
    for fate, number in documents["dropped"].items():
        yield Figure(source, fate, number, text_bytes["dropped"].get(fate))
    if "cut" in text_bytes:
        yield Figure(source, CUT, None, text_bytes["cut"])
    yield Figure(source, KEPT, documents[KEPT], text_bytes[KEPT])
    yield Figure(source, WRITTEN, documents["written"], text_bytes["written"])


def _shares(account: list[Figure]) -> list[Figure]:
    """Return the outcomes of records and bytes read, the kept ones first; no zeros."""
    parts = [figure for figure in account if figure.what not in (IN, WRITTEN)]
    some = [figure for figure in parts if figure.documents or figure.text_bytes]
    return sorted(some, key=lambda figure: figure.what != KEPT)


def _colours(account: list[Figure]) -> dict[str, str]:
    """Return a colour per visible fate; beyond COLOURS they repeat in lighter shades."""
    fates = [figure.what for figure in _shares(account) if figure.what != KEPT]
    colours = {}
    for place, fate in enumerate(fates):
        again, which = divmod(place, len(COLOURS))
        white = again / (again + 1)
        parts = (int(COLOURS[which][at : at + 2], 16) for at in (1, 3, 5))
        mixed = (round(part + (255 - part) * white) for part in parts)
        colours[fate] = "#" + "".join(f"{part:02x}" for part in mixed)
    return colours | {KEPT: svg.DARK}


def _legend(account: list[Figure], colours: dict[str, str]) -> list[str]:
    """Draw one row per outcome, with the figures of all sources."""
    shares = _shares(account)
    lines = []
    for place, figure in enumerate(shares, 1):
        y = LEGEND + place * LEGEND_STEP
        lines.append(svg.rectangle(0, y - 11, 22, 12, f'fill="{colours[figure.what]}"'))
        lines.append(svg.text(32, y, shortened(figure.what, NAME_CHARS), "start"))
    for (right, share), (name, of, words) in zip(COLUMNS, MEASURES, strict=True):
        lines.append(svg.text(share, LEGEND, name, "end", 'class="small"'))
        for place, figure in enumerate(shares, 1):
            y, part = LEGEND + place * LEGEND_STEP, of(figure)
            if part is not None:
                lines.append(svg.text(right, y, words(part), "end"))
                lines.append(svg.text(share, y, percent(part, of(account[0])), "end"))
    return lines


def _bar(y: float, account: list[Figure], measure: Measure, colours: dict[str, str]) -> list[str]:
    """Draw a bar of the kept and dropped parts."""
    name, of, words = measure
    lines = [svg.text(LEFT - 8, y + BAR - 3, name, "end", 'class="small"')]
    whole, x = of(account[0]), float(LEFT)
    for figure in _shares(account):
        if part := of(figure):
            width = (RIGHT - LEFT) * part / whole
            look = f'class="{name}" fill="{colours[figure.what]}"'
            tip = f"{figure.what}: {words(part)} ({percent(part, whole)})"
            lines.append(svg.rectangle(x, y, width, BAR, look, tip))
            x += width
    return lines


def _source(y: float, account: list[Figure], colours: dict[str, str]) -> list[str]:
    """Draw name and figures of a source, and its two bars below."""
    source, _, came, _ = account[0]
    (kept,) = (figure.documents for figure in account if figure.what == KEPT)
    told = f"{came:,} records in, {kept:,} kept"
    lines = [
        svg.text(0, y, shortened(source, NAME_CHARS), "start", 'class="name"'),
        svg.text(RIGHT, y, told, "end", 'class="small"'),
    ]
    for place, measure in enumerate(MEASURES):
        lines += _bar(y + 9 + place * (BAR + 2), account, measure, colours)
    return lines


def picture(summary: dict) -> str:
    """Draw the legend with totals, and two bars per source: documents and text."""
    accounts = _accounts(summary)
    colours = _colours(accounts[0])
    pieces = _legend(accounts[0], colours)
    first = LEGEND + (len(_shares(accounts[0])) + 2) * LEGEND_STEP
    for place, account in enumerate(accounts):
        pieces += _source(first + place * SOURCE_STEP, account, colours)
    return svg.image(WIDTH, first + len(accounts) * SOURCE_STEP, pieces, STYLE)


def funnel_page(summary: dict, account: str) -> str:
    """Return the page. account: content of results/summary.txt."""
    return page(
        "funnel.html", picture=picture(summary), account=account, heading=Figure._fields,
        rows=figures(summary),
    )  # fmt: skip
