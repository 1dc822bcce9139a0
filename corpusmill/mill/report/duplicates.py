"""Duplicates: similarities of removed documents to the kept ones, and sizes of clusters."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpusmill.mill.report import svg
from corpusmill.mill.report.pages import page

BINS = 100
# Similarities are float32, in which 0.83 is less than 0.83 as a double.
EDGES = (np.arange(BINS + 1) / BINS).astype(np.float32)
EQUAL = "identical"
FOUND = {
    EQUAL: "both texts are equal",
    "sketch": "enough sketch values are equal; the similarity is their share",
    "shingles": "the shingles of both texts were compared",
    "band": "they share a band key; the texts were not compared",
    "chain": "a chain of similar documents connects them; the two were not compared",
}
"""Stage in results/clusters -> its meaning."""

WIDTH, HEIGHT = 900, 410
LEFT, RIGHT, TOP, BOTTOM = 140, 880, 30, 350  # of the plot
CLUSTERS, DOCUMENTS = 230, 575  # left ends of the bars of clusters
LONGEST = 190
ROWS, STEP, BAR = 34, 24, 16


class Removed(NamedTuple):
    """Removed duplicates.

    counts: int64 (BINS,): near-duplicates with a similarity from i / BINS to less than
    (i + 1) / BINS; the last one includes 1. stages: all duplicates by stage.
    """

    counts: np.ndarray
    stages: Counter


def removed(clusters: Iterable[pa.Table]) -> Removed:
    """Count the rows of the tables in results/clusters, each with `similarity` and `stage`."""
    counts, stages = np.zeros(BINS, np.int64), Counter[str]()
    for part in clusters:
        near = part["similarity"].filter(pc.not_equal(part["stage"], EQUAL)).drop_null()
        counts += np.histogram(near.to_numpy(), EDGES)[0]
        for row in part["stage"].value_counts().to_pylist():
            stages[row["values"]] += row["counts"]
    return Removed(counts, stages)


def bins(counts: np.ndarray) -> list[tuple[float, float, int]]:
    """Return (from, to, documents) of every bin that is not empty."""
    return [(i / BINS, (i + 1) / BINS, int(counts[i])) for i in np.flatnonzero(counts)]


def _tick_step(most: float) -> int:
    """Return 1, 2 or 5 times a power of ten, so that there are at most six ticks."""
    decade = 10 ** max(0, math.floor(math.log10(most)) - 1)
    return next(step for k in (1, 2, 5, 10, 20) if most <= 6 * (step := k * decade))


def _first(counts: np.ndarray, threshold: float) -> float:
    """Return the start of the axis: a tenth a little before the least value to show."""
    least = min(threshold, bins(counts)[0][0])
    return max(0, math.ceil(round(least * 10, 6)) - 1) / 10


def _similarity_axis(first: float) -> list[str]:
    step = 10 if first < 0.5 else 5 if first < 0.85 else 1
    lines = [svg.line("axis", LEFT, BOTTOM, RIGHT, BOTTOM)]
    for hundredth in range(round(first * 100), 101, step):
        x = LEFT + (RIGHT - LEFT) * (hundredth / 100 - first) / (1 - first)
        lines.append(svg.line("axis", x, BOTTOM, x, BOTTOM + 6))
        lines.append(svg.text(x, BOTTOM + 22, f"{hundredth / 100:g}"))
    label = "similarity to the document that was kept (Jaccard)"
    return [*lines, svg.text((LEFT + RIGHT) / 2, BOTTOM + 48, label)]


def _documents_axis(top: int, step: int) -> list[str]:
    lines = []
    for number in range(0, top + 1, step):
        y = BOTTOM - (BOTTOM - TOP) * number / top
        lines.append(svg.line("grid", LEFT, y, RIGHT, y))
        lines.append(svg.text(LEFT - 8, y + 5, f"{number:,}", "end"))
    return [*lines, svg.upright(14, (TOP + BOTTOM) / 2, "documents")]


def picture(found: Removed, threshold: float) -> str:
    """Draw the histogram; at least one similarity must be known."""
    first = _first(found.counts, threshold)

    def x(similarity: float) -> float:
        return LEFT + (RIGHT - LEFT) * (similarity - first) / (1 - first)

    most = int(found.counts.max())
    step = _tick_step(most)
    top = math.ceil(most / step) * step
    pieces = _documents_axis(top, step)
    for start, end, number in bins(found.counts):
        height = (BOTTOM - TOP) * number / top
        tip = f"{start:.2f} to {end:.2f}: {number:,}"
        pieces.append(
            svg.rectangle(x(start) + 0.5, BOTTOM - height, x(end) - x(start) - 1, height,
                          'class="bar"', tip)
        )  # fmt: skip
    mark = x(threshold)
    beside = "start" if mark < WIDTH / 2 else "end"
    pieces += [
        svg.line("axis", mark, TOP - 8, mark, BOTTOM, 'stroke-dasharray="2 3"'),
        svg.text(mark, TOP - 14, f"threshold {threshold:g}", beside),
    ]
    return svg.image(WIDTH, HEIGHT, pieces + _similarity_axis(first))


def similarities_page(found: Removed, threshold: float) -> str:
    return page("similarities.html", removed=facts(found, threshold), bins=bins(found.counts))


def facts(found: Removed, threshold: float) -> dict[str, Any]:
    """Return the counts, the picture and the stages, for a page."""
    measured = int(found.counts.sum())
    return {
        "total": found.stages.total(),
        "measured": measured,
        "picture": picture(found, threshold) if measured else "",
        "stages": [(name, FOUND[name], found.stages[name]) for name in FOUND if found.stages[name]],
    }


def size_in_words(bin: dict[str, int]) -> str:
    least, most = f"{bin['least']:,}", f"{bin['most']:,}"
    return least if least == most else f"{least} to {most}"


def clusters_picture(bins: Sequence[dict[str, int]]) -> str:
    """Draw one row per size, with a bar of clusters and one of documents."""
    pieces = [
        svg.text(CLUSTERS - 10, ROWS - 14, "documents each", "end", 'class="small"'),
        svg.text(CLUSTERS, ROWS - 14, "clusters", "start", 'class="small"'),
        svg.text(DOCUMENTS, ROWS - 14, "documents in them", "start", 'class="small"'),
    ]
    for what, left, colour in (
        ("clusters", CLUSTERS, svg.DARK),
        ("documents", DOCUMENTS, "#c9a66b"),
    ):
        most = max(bin[what] for bin in bins)
        for place, bin in enumerate(bins):
            y, wide = ROWS + place * STEP, LONGEST * bin[what] / most
            pieces.append(svg.rectangle(left, y, wide, BAR, f'class="{what}" fill="{colour}"'))
            pieces.append(svg.text(left + wide + 6, y + 13, f"{bin[what]:,}", "start"))
    for place, bin in enumerate(bins):
        pieces.append(svg.text(CLUSTERS - 10, ROWS + place * STEP + 13, size_in_words(bin), "end"))
    return svg.image(WIDTH, ROWS + len(bins) * STEP + 10, pieces)
