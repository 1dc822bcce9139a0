"""How the values of documents are spread: of those that were read, and of those that were kept."""

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from corpusmill.documents.tallies import STAGES, TOTALS, Tally, added, quantile
from corpusmill.report import svg
from corpusmill.report.pages import Row, page, paragraph, table

QUANTILES = {"p5": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95}

STATISTICS = pa.schema(
    [
        *TOTALS,
        ("mean", pa.float64()),
        *((name, pa.float64()) for name in QUANTILES),
    ]
)
"""As TOTALS, with the mean, and quantiles to two digits. A language that is null stands for all."""

SHOWN_LANGUAGES, SHOWN_TEXTS = 15, 15
WIDTH, HEIGHT = 900, 150
LEFT, RIGHT, TOP, BOTTOM = 20, 880, 12, 120  # of the plot
MOST_BARS = 120


def statistics_of(tally: Tally) -> list[dict[str, Any]]:
    """A row of STATISTICS for each source, language, stage and value; and for all languages of a
    source together."""
    bins: dict[tuple, list[tuple[float, int]]] = {}
    whole = with_all_languages(tally)
    for row in whole.bins:
        if row["text"] is None:
            bins.setdefault(_key(row), []).append((row["low"], row["documents"]))
    return [
        row
        | {"mean": row["sum"] / row["documents"]}
        | {name: quantile(bins[_key(row)], share) for name, share in QUANTILES.items()}
        for row in whole.totals
    ]


def with_all_languages(tally: Tally) -> Tally:
    """The tally, and the same with the languages of each source taken together."""
    if all(row["language"] is None for row in tally.totals):
        return tally
    merged = added([Tally(*([row | {"language": None} for row in rows] for rows in tally))])
    return Tally([*merged.bins, *tally.bins], [*merged.totals, *tally.totals])


def _key(row: dict) -> tuple:
    return tuple(row[name] for name in TOTALS.names[:4])


def statistics_page(statistics: Sequence[dict[str, Any]], bins: Sequence[dict[str, Any]]) -> str:
    """statistics: rows of STATISTICS. bins: rows of BINS, languages apart."""
    values = dict.fromkeys(row["value"] for row in statistics)
    texts = dict.fromkeys(row["value"] for row in bins if row["text"] is not None)
    pieces = [
        paragraph(
            "What was measured of documents, of all that were read and of those that were kept. "
            "Quantiles are exact to two digits. Each number by language too: statistics.parquet "
            "and histograms.parquet beside this page."
        ),
        languages(statistics),
    ]
    for value in values:
        pieces += [f"<h2>{value}</h2>\n", picture(value, bins), rows_of(value, statistics)]
    for value in texts:
        pieces += [f"<h2>{value}</h2>\n", most_frequent(value, bins)]
    return page("Statistics", *pieces)


def rows_of(value: str, statistics: Iterable[dict[str, Any]]) -> str:
    heading = ["source", "stage", "documents", "mean", "least", *QUANTILES, "greatest"]
    return table(
        heading,
        [
            [row[name] for name in heading]
            for row in statistics
            if row["value"] == value and row["language"] is None
        ],
    )


def languages(statistics: Iterable[dict[str, Any]]) -> str:
    """Documents and text of each language, over all sources, the most frequent first."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in statistics:
        if row["value"] == "text_bytes" and row["language"] is not None:
            of_stage = found.setdefault(row["language"], {one: [0, 0.0] for one in STAGES})
            of_stage[row["stage"]][0] += row["documents"]
            of_stage[row["stage"]][1] += row["sum"] / 1e6
    ranked = sorted(found, key=lambda one: (-found[one]["read"][0], one))
    heading = ["language", "documents read", "MB read", "documents kept", "MB kept"]
    rows: list[Row] = [
        [one, *found[one]["read"], *found[one]["kept"]] for one in ranked[:SHOWN_LANGUAGES]
    ]
    if not rows:
        return ""
    rest = len(ranked) - SHOWN_LANGUAGES
    more = paragraph(f"And {rest} languages with fewer documents.") if rest > 0 else ""
    return f"<h2>languages</h2>\n{table(heading, rows)}{more}"


def most_frequent(value: str, bins: Iterable[dict[str, Any]]) -> str:
    counts: dict[str, dict[str, int]] = {}
    for row in bins:
        if row["value"] == value and row["text"] is not None:
            of_stage = counts.setdefault(row["text"], dict.fromkeys(STAGES, 0))
            of_stage[row["stage"]] += row["documents"]
    ranked = sorted(counts, key=lambda text: (-counts[text]["read"], text))[:SHOWN_TEXTS]
    return table(
        [value, "documents read", "documents kept"],
        [[text, *(counts[text][stage] for stage in STAGES)] for text in ranked],
    )


def picture(value: str, bins: Iterable[dict[str, Any]]) -> str:
    """Bars of all sources together: light for what was read, dark for what was kept of it."""
    counts: dict[float, dict[str, int]] = {}
    for row in bins:
        if row["value"] == value and row["text"] is None:
            of_bin = counts.setdefault(row["low"], dict.fromkeys(STAGES, 0))
            of_bin[row["stage"]] += row["documents"]
    lows = sorted(counts)
    together = -(-len(lows) // MOST_BARS)  # bins of a bar
    bars = [
        (bar[0], [sum(counts[low][stage] for low in bar) for stage in STAGES])
        for bar in (lows[start : start + together] for start in range(0, len(lows), together))
    ]
    most = max(read for _, (read, _) in bars)
    step = (RIGHT - LEFT) / len(bars)
    pieces = [svg.line("axis", LEFT, BOTTOM, RIGHT, BOTTOM)]
    for place, (low, (read, kept)) in enumerate(bars):
        tip = f"from {low:g}: {read:,} read, {kept:,} kept"
        for number, fill in ((read, "#c4c9d0"), (kept, "#30475e")):
            height = (BOTTOM - TOP) * number / most
            x = LEFT + place * step
            more = f'fill="{fill}"'
            pieces.append(svg.rectangle(x, BOTTOM - height, max(step - 1, 0.5), height, more, tip))
        if place % max(1, len(bars) // 8) == 0:
            pieces.append(svg.text(LEFT + place * step, BOTTOM + 20, f"{low:g}", "start"))
    return svg.image(WIDTH, HEIGHT, pieces)
