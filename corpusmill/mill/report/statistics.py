"""Distributions of values, of all documents read and of those kept."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from corpusmill.mill.report import svg
from corpusmill.mill.report.pages import Row, page
from corpusmill.mill.report.tallies import KEY, STAGES, TOTALS, Tally, added, quantiles

QUANTILES = {"p5": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95}
FIGURES = ["mean", "least", *QUANTILES, "greatest"]

STATISTICS = pa.schema(
    [*TOTALS, ("mean", pa.float64()), *((name, pa.float64()) for name in QUANTILES)]
)
"""The columns of TOTALS, the mean, and the quantiles to two digits. A null language means all
languages."""

SHOWN_LANGUAGES, SHOWN_TEXTS = 15, 15
WIDTH, HEIGHT = 900, 150
LEFT, RIGHT, TOP, BOTTOM = 40, 860, 12, 120  # of the plot
MOST_BARS = 120
LABELS = 8
PER_DECADE = (10, 5, 2, 1)
"""Possible numbers of bars per power of ten. The first number that gives at most MOST_BARS bars is
used."""
SHARE_STEP = 0.02
ROUNDING = 1e-9
LARGEST = 1e17
"""Upper bound on the absolute value of all bin starts, except minus infinity."""


def statistics_of(tally: Tally) -> list[dict[str, Any]]:
    """Return rows of STATISTICS per source, language, stage and value; also for all languages of a
    source together."""
    rows = []
    for one in (all_languages(tally), with_language(tally)):
        spread = quantiles(one.bins, QUANTILES)
        for row in one.totals.to_pylist():
            found = spread[tuple(row[name] for name in KEY)]
            # A bin starts at or below its least value.
            found = {name: max(row["least"], low) for name, low in found.items()}
            rows.append(row | {"mean": row["sum"] / row["documents"]} | found)
    return rows


def all_languages(tally: Tally) -> Tally:
    """Return a tally with the languages of each source summed."""
    place, field = TOTALS.get_field_index("language"), TOTALS.field("language")
    nulls = (pa.nulls(one.num_rows, pa.string()) for one in tally)
    together = (one.set_column(place, field, of) for one, of in zip(tally, nulls, strict=True))
    return added([Tally(*together)])


def with_language(tally: Tally) -> Tally:
    return Tally(*(one.filter(pc.is_valid(one["language"])) for one in tally))


def statistics_page(statistics: Sequence[dict[str, Any]], bins: pa.Table, languages: dict) -> str:
    """Return the page. statistics: rows of STATISTICS. bins: of BINS. languages: of the summary."""
    by_value: dict[str, list[dict[str, Any]]] = {}
    for row in over_all(bins):
        by_value.setdefault(row["value"], []).append(row)
    values = []
    for value in dict.fromkeys(bins["value"].to_pylist()):
        rows = by_value[value]
        if rows[0]["text"] is None:
            told = {"picture": picture(rows), "rows": rows_of(value, statistics)}
        else:
            told = {"picture": "", "rows": most_frequent(rows)}
        values.append({"name": value} | told)
    return page(
        "statistics.html", values=values, figures=FIGURES, shown_languages=SHOWN_LANGUAGES,
        languages=[
            [name, of["read"], of["read_bytes"] / 1e6, of["kept"], of["kept_bytes"] / 1e6]
            for name, of in languages.items()
        ],
    )  # fmt: skip


def over_all(bins: pa.Table) -> list[dict[str, Any]]:
    """Return the bins of all sources and languages together."""
    keys = ["value", "stage", "low", "text"]
    summed = bins.group_by(keys, use_threads=False).aggregate([("documents", "sum")])
    ordered = summed.rename_columns([*keys, "documents"]).sort_by([(k, "ascending") for k in keys])
    return ordered.to_pylist()


def short(number: float, digits: int = 4) -> str:
    """Format a number with so many digits, without powers of ten: `17,510`, `0.1234`."""
    rounded = float(f"{number:.{digits}g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 1000 else f"{rounded:g}"


def rows_of(value: str, statistics: Sequence[dict[str, Any]]) -> list[Row]:
    return [
        [row["source"], row["stage"], row["documents"], *(short(row[name]) for name in FIGURES)]
        for row in statistics
        if row["value"] == value and row["language"] is None
    ]


def _counts(rows: Sequence[dict[str, Any]], by: str) -> dict[Any, dict[str, int]]:
    counts: dict[Any, dict[str, int]] = {}
    for row in rows:
        counts.setdefault(row[by], dict.fromkeys(STAGES, 0))[row["stage"]] += row["documents"]
    return counts


def most_frequent(rows: Sequence[dict[str, Any]]) -> list[Row]:
    counts = _counts(rows, "text")
    ranked = sorted(counts, key=lambda text: (-counts[text]["read"], text))[:SHOWN_TEXTS]
    return [[text, *(counts[text][stage] for stage in STAGES)] for text in ranked]


class Bars(NamedTuple):
    """Bars of equal width, empty ones included."""

    starts: list[float]
    of_bin: dict[float, int]
    """Returns the index of the bar for the start of a bin."""
    labelled: list[int]


def bars_of(lows: Sequence[float]) -> Bars:
    """Return the bars. Shares have a linear scale, all else a logarithmic one. lows: bin starts."""
    if all(0 <= low <= 1 for low in lows) and any(0 < low < 1 for low in lows):
        steps = {low: math.floor(low / SHARE_STEP + ROUNDING) for low in lows}
        first, last = min(steps.values()), max(steps.values())
        return Bars(
            [SHARE_STEP * step for step in range(first, last + 1)],
            {low: step - first for low, step in steps.items()},
            labels([step % 5 == 0 for step in range(first, last + 1)]),
        )
    for per_decade in PER_DECADE:
        bars = logarithmic(lows, per_decade)
        if len(bars.starts) <= MOST_BARS:
            break
    return bars


def logarithmic(lows: Sequence[float], per_decade: int) -> Bars:
    """Return logarithmic bars, ordered by sign and size."""
    steps = {low: ((low > 0) - (low < 0), step_of(low, per_decade)) for low in lows}
    of_sign = {sign: [step for one, step in steps.values() if one == sign] for sign in (-1, 0, 1)}
    ranges = {s: range(min(of), max(of) + 1) for s, of in of_sign.items() if of}
    order = [
        (sign, step)
        for sign, its in ranges.items()
        for step in (reversed(its) if sign < 0 else its)
    ]
    places = {bar: place for place, bar in enumerate(order)}
    return Bars(
        [sign * start_of(step, per_decade) for sign, step in order],
        {low: places[step] for low, step in steps.items()},
        labels([sign == 0 or step % per_decade == 0 for sign, step in order]),
    )


def step_of(low: float, per_decade: int) -> int:
    size = min(abs(low), LARGEST)
    return math.floor(math.log10(size) * per_decade + ROUNDING) if size else 0


def start_of(step: int, per_decade: int) -> float:
    """Return the first two-digit number in a bar; bins start at such numbers."""
    power, rest = divmod(step, per_decade)
    return float(f"{math.ceil(10 ** (1 + rest / per_decade) - ROUNDING)}e{power - 1}")


def labels(is_round: Sequence[bool]) -> list[int]:
    """Return which bars show their start: those at round numbers, if there are some."""
    chosen = [place for place, one in enumerate(is_round) if one]
    chosen = chosen if len(chosen) > 1 else list(range(len(is_round)))
    least = -(-len(is_round) // LABELS)
    kept: list[int] = []
    for place in chosen:
        if not kept or place - kept[-1] >= least:
            kept.append(place)
    return kept


def picture(rows: Sequence[dict[str, Any]]) -> str:
    """Draw bars: light for documents read, dark for documents kept."""
    counts = _counts(rows, "low")
    bars = bars_of(sorted(counts))
    numbers = [[0 for _ in STAGES] for _ in bars.starts]
    for low, found in counts.items():
        for place, stage in enumerate(STAGES):
            numbers[bars.of_bin[low]][place] += found[stage]
    most = max(read for read, _ in numbers)
    step = (RIGHT - LEFT) / len(numbers)
    pieces = [svg.line("axis", LEFT, BOTTOM, RIGHT, BOTTOM)]
    for place, (start, those) in enumerate(zip(bars.starts, numbers, strict=True)):
        x = LEFT + place * step
        tip = f"from {short(start, 3)}: {those[0]:,} read, {those[1]:,} kept"
        for number, fill in zip(those, (svg.LIGHT, svg.DARK), strict=True):
            height = (BOTTOM - TOP) * number / most
            wide, look = max(step - 1, 0.5), f'fill="{fill}"'
            pieces.append(svg.rectangle(x, BOTTOM - height, wide, height, look, tip))
        if place in bars.labelled:
            pieces.append(svg.text(x + step / 2, BOTTOM + 20, short(start, 3)))
    return svg.image(WIDTH, HEIGHT, pieces)
