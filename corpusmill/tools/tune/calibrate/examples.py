"""Documents just beyond a limit and just within it, to be judged by a person."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from corpusmill.mill.filters.configured import ConfiguredFilter
from corpusmill.mill.filters.documents import Documents
from corpusmill.mill.filters.limits import in_words
from corpusmill.mill.filters.measuring import Measures
from corpusmill.mill.read.text_column import TextColumn
from corpusmill.tools.tune.calibrate.measured import Bound, Measured, Rule
from corpusmill.tools.tune.measuring import part_for

EXCERPT_CHARS = 200


class Example(NamedTuple):
    source: str
    place: str  # file:line, or file and byte if the file was read in stretches
    dropped: bool
    value: float | str | None
    bound: Bound
    chars: int
    start: str  # the first characters
    middle: str  # as many from the middle of a long text


def nearest(rule: Rule, sources: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (dropped, kept): rows of the documents closest to the limit of their source, the
    closest first. Ties are in the order of the sample."""
    distance = np.full(sources.size, np.nan)
    for source, bound in rule.bounds.items():
        if isinstance(bound, int | float):
            rows = sources == source
            distance[rows] = np.abs(rule.values[rows].astype(np.float64) - bound)
    order = np.argsort(distance, kind="stable")
    order = order[~np.isnan(distance[order])]
    return order[rule.drops[order]][:most], order[~rule.drops[order]][:most]


def rows_of(rule: Rule, sources: np.ndarray, most: int) -> np.ndarray:
    """Return the rows to show, dropped ones first. A rule without thresholds shows its first
    dropped ones. A limit on texts that drops some also shows the first kept ones."""
    if rule.has_threshold:
        return np.concatenate(nearest(rule, sources, most))
    dropped = np.flatnonzero(rule.drops)[:most]
    shows_kept = rule.judges_texts and dropped.size
    return np.concatenate([dropped, np.flatnonzero(~rule.drops)[: most if shows_kept else 0]])


def excerpts(text: str) -> tuple[str, str]:
    """Return the beginning, and a piece from the middle if the text is longer than three such
    pieces."""
    at = len(text) // 2
    middle = text[at : at + EXCERPT_CHARS] if len(text) > 3 * EXCERPT_CHARS else ""
    return text[:EXCERPT_CHARS], middle


class Texts(NamedTuple):
    place: str
    chars: int
    start: str
    middle: str


def texts_of(
    part: Path, rows: set[int], filters: list[ConfiguredFilter], entered: set[str]
) -> dict[tuple[int, int], Texts]:
    """Return the texts to show, by row and n: the text after the first n filters that cut.

    entered: files read in stretches, without line numbers.
    """
    cutting = [filter for filter in filters if filter.edits]
    text_part = part_for(cutting, part)
    found, before = {}, 0
    for batch in text_part.batches():
        asked = sorted(row for row in rows if before <= row < before + batch.num_rows)
        if asked:  # otherwise no text is needed here
            some = batch.take(pa.array([row - before for row in asked], pa.int64()))
            documents = Documents(TextColumn.of(some.column("text")), some, text_part.files)
            left, edits = Measures(cutting).add(documents)
            for cut, seen in enumerate([*(edit.before for edit in edits), left]):
                for place, row in enumerate(asked):
                    found[row, cut] = shown_of(seen, place, entered)
        before += batch.num_rows
    return found


def shown_of(documents: Documents, row: int, entered: set[str]) -> Texts:
    text = documents.batch.column("text")[row].as_py()
    path, line = documents.place(row).rsplit(":", 1)
    place = f"{path}, from byte {line}" if path in entered else f"{path}:{line}"
    return Texts(place, len(text), *excerpts(text))


def examples_of(
    of: Measured, part: Path, most: int, filters: list[ConfiguredFilter], entered: set[str]
) -> list[list[Example]]:
    """Return, for every rule, the texts as its filter sees them: after the cuts of earlier
    filters."""
    rows = [rows_of(rule, of.sources, most).tolist() for rule in of.rules]
    texts = texts_of(part, {row for some in rows for row in some}, filters, entered)
    cuts = [bool(filter.edits) for filter in filters]
    before = {filter.name: sum(cuts[:place]) for place, filter in enumerate(filters)}
    return [
        [_example(of, rule, row, texts[row, before[rule.filter]]) for row in some]
        for rule, some in zip(of.rules, rows, strict=True)
    ]


def _example(of: Measured, rule: Rule, row: int, text: Texts) -> Example:
    source, dropped = str(of.sources[row]), bool(rule.drops[row])
    bound = rule.bounds.get(source)
    value = rule.values[row] if rule.limit else rule.reasons[row]
    if rule.limit and dropped and not rule.has_threshold:
        value, bound = in_words(rule.limit, value, bound), None
    return Example(
        source, text.place, dropped, value.item() if isinstance(value, np.generic) else value,
        bound, text.chars, text.start, text.middle,
    )  # fmt: skip
