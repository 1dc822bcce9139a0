"""Documents just beyond a limit and just within it, for a person to judge."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from corpusmill.calibration.measured import Measured, Rule
from corpusmill.text.parts import TextPart

EXCERPT_CHARS = 200


class Example(NamedTuple):
    source: str
    place: str  # file:line, or the byte of a file that was entered
    dropped: bool
    value: float | str | None
    bound: float | None
    chars: int
    start: str  # the first characters
    middle: str  # as many from the middle, where the text is long


def nearest(rule: Rule, sources: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """(dropped, kept): rows of the documents whose values are the nearest to the limit of their
    source, the nearest first; of equal distance the first in the sample."""
    distance = np.full(sources.size, np.nan)
    for source, bound in rule.bounds.items():
        if bound is not None:
            rows = sources == source
            distance[rows] = np.abs(rule.values[rows].astype(np.float64) - bound)
    order = np.argsort(distance, kind="stable")
    order = order[~np.isnan(distance[order])]
    return order[rule.drops[order]][:most], order[~rule.drops[order]][:most]


def rows_of(rule: Rule, sources: np.ndarray, most: int) -> np.ndarray:
    """Rows to show: dropped ones, then kept ones; of a rule without a limit the first dropped."""
    if rule.limit is None:
        return np.flatnonzero(rule.drops)[:most]
    return np.concatenate(nearest(rule, sources, most))


def excerpts(text: str) -> tuple[str, str]:
    """The beginning, and a piece from the middle if the text is more than three such pieces."""
    at = len(text) // 2
    middle = text[at : at + EXCERPT_CHARS] if len(text) > 3 * EXCERPT_CHARS else ""
    return text[:EXCERPT_CHARS], middle


class Texts(NamedTuple):
    place: str
    chars: int
    start: str
    middle: str


def texts_of(part: Path, rows: set[int], entered: set[str]) -> dict[int, Texts]:
    """What is shown of some rows. entered: the files whose lines nobody counted."""
    found, before = {}, 0
    text_part = TextPart(part, ["text", "file", "line"])
    for batch in text_part.batches():
        for row in sorted(row for row in rows if before <= row < before + batch.num_rows):
            text = batch.column("text")[row - before].as_py()
            path = text_part.files[batch.column("file")[row - before].as_py()]["path"]
            line = batch.column("line")[row - before].as_py()
            place = f"{path}, from byte {line}" if path in entered else f"{path}:{line}"
            found[row] = Texts(place, len(text), *excerpts(text))
        before += batch.num_rows
    return found


def examples_of(
    of: Measured, part: Path, most: int, entered: set[str]
) -> Iterator[tuple[Rule, list[Example]]]:
    """Of every rule."""
    rows = [rows_of(rule, of.sources, most) for rule in of.rules]
    texts = texts_of(part, {row for some in rows for row in some.tolist()}, entered)
    for rule, some in zip(of.rules, rows, strict=True):
        yield rule, [_example(of, rule, row, texts[row]) for row in some.tolist()]


def _example(of: Measured, rule: Rule, row: int, text: Texts) -> Example:
    source = str(of.sources[row])
    value = rule.values[row].item() if rule.limit else rule.reasons[row]
    return Example(
        source, text.place, bool(rule.drops[row]), value, rule.bounds.get(source), text.chars,
        text.start, text.middle,
    )  # fmt: skip
