"""How the values of documents are spread, per source and language, of all and of those kept.

Counts of bins that are the same for every part, so that tallies of parts add up to those of all.
"""

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

LANGUAGE = "language"
"""The value that groups documents beside their source, where a filter measures it."""

STAGES = ("read", "kept")
MOST_TEXTS = 1000
"""Of a value that is a text: as many different ones of a source and stage are told."""


def _edges() -> np.ndarray:
    """Numbers of two digits from 1e-9 on, their negatives, and 0: where bins begin, ascending."""
    sizes = [float(f"{lead}e{power}") for power in range(-10, 16) for lead in range(10, 100)]
    return np.array([-math.inf, *(-one for one in reversed(sizes)), 0.0, *sizes])


EDGES = _edges()

BINS = pa.schema(
    [
        ("source", pa.string()),
        ("language", pa.string()),
        ("stage", pa.string()),
        ("value", pa.string()),
        ("low", pa.float64()),
        ("text", pa.string()),
        ("documents", pa.uint64()),
    ]
)
"""A row per bin that has documents, `low` where it begins; or per text of a value that is one."""

TOTALS = pa.schema(
    [
        ("source", pa.string()),
        ("language", pa.string()),
        ("stage", pa.string()),
        ("value", pa.string()),
        ("documents", pa.uint64()),
        ("sum", pa.float64()),
        ("least", pa.float64()),
        ("greatest", pa.float64()),
    ]
)
"""A row per value that is a number. Documents without a value, NaN that is, do not count."""


class Tally(NamedTuple):
    bins: list[dict]
    totals: list[dict]


def tally_of_part(measures: pa.Table, kept: np.ndarray) -> Tally:
    """Of the table of measures of a part. kept: bool (documents,)."""
    groups, names = grouped(measures)
    found = Tally([], [])
    for column in measures.column_names:
        array = measures.column(column)
        if column in ("source", LANGUAGE, "preference") or column.endswith("_reason"):
            continue
        for stage, chosen in zip(STAGES, (np.ones(kept.size, bool), kept), strict=True):
            place = {"stage": stage, "value": column}
            if pa.types.is_string(array.type):
                found.bins.extend(_texts(array.to_pylist(), groups, names, chosen, place))
            else:
                _numbers(array.to_numpy().astype(float), groups, names, chosen, place, found)
    return found


def grouped(measures: pa.Table) -> tuple[np.ndarray, list[dict]]:
    """The group of every document, and source and language of each group."""
    columns = [measures.column("source").cast(pa.string()).to_pylist()]
    has_language = LANGUAGE in measures.column_names
    columns.append(
        measures.column(LANGUAGE).to_pylist() if has_language else [None] * measures.num_rows
    )
    pairs = list(zip(*columns, strict=True))
    known = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
    groups = np.array([known[pair] for pair in pairs], np.int64)
    return groups, [{"source": source, "language": language} for source, language in known]


def _texts(
    texts: list[str | None], groups: np.ndarray, names: list[dict], chosen: np.ndarray, place: dict
) -> Iterator[dict]:
    counts: dict[tuple[int, str], int] = {}
    for row in np.flatnonzero(chosen).tolist():
        text = texts[row]
        if text is not None:
            key = int(groups[row]), text
            counts[key] = counts.get(key, 0) + 1
    for (group, text), documents in counts.items():
        yield names[group] | place | {"low": None, "text": text, "documents": documents}


def _numbers(
    values: np.ndarray,
    groups: np.ndarray,
    names: list[dict],
    chosen: np.ndarray,
    place: dict,
    found: Tally,
) -> None:
    chosen = chosen & ~np.isnan(values)
    of_group, numbers = groups[chosen], values[chosen]
    bins = np.searchsorted(EDGES, numbers, "right") - 1
    keys, counts = np.unique(of_group * EDGES.size + bins, return_counts=True)
    for key, documents in zip(keys.tolist(), counts.tolist(), strict=True):
        group, bin_ = divmod(key, EDGES.size)
        row = {"low": EDGES[bin_].item(), "text": None, "documents": documents}
        found.bins.append(names[group] | place | row)
    for group in np.unique(of_group).tolist():
        mine = numbers[of_group == group]
        # fsum: the sum of floats in any order.
        row = {"documents": mine.size, "sum": math.fsum(mine), "least": mine.min().item(),
               "greatest": mine.max().item()}  # fmt: skip
        found.totals.append(names[group] | place | row)


def added(tallies: Iterable[Tally]) -> Tally:
    """The tally of all parts, its rows in order of what they are of."""
    bins: dict[tuple, int] = {}
    totals: dict[tuple, list[dict]] = {}
    for one in tallies:
        for row in one.bins:
            key = tuple(row[name] for name in BINS.names[:-1])
            bins[key] = bins.get(key, 0) + row["documents"]
        for row in one.totals:
            totals.setdefault(tuple(row[name] for name in TOTALS.names[:4]), []).append(row)
    return Tally(list(_most(bins)), [_sum(key, totals[key]) for key in sorted(totals, key=_order)])


def _order(key: tuple) -> tuple:
    return tuple((one is not None, one) for one in key)


def _most(bins: dict[tuple, int]) -> Iterator[dict]:
    """Of texts the most frequent, of equally frequent ones the first in order."""
    shown: dict[tuple, int] = {}
    by_count = sorted(bins, key=lambda key: (key[5] is None, -bins[key], _order(key)))
    kept = set()
    for key in by_count:
        shown[key[:4]] = shown.get(key[:4], 0) + (key[5] is not None)
        if key[5] is None or shown[key[:4]] <= MOST_TEXTS:
            kept.add(key)
    for key in sorted(kept, key=_order):
        yield dict(zip(BINS.names, (*key, bins[key]), strict=True))


def _sum(key: tuple, rows: list[dict]) -> dict:
    return dict(zip(TOTALS.names[:4], key, strict=True)) | {
        "documents": sum(row["documents"] for row in rows),
        "sum": math.fsum(row["sum"] for row in rows),
        "least": min(row["least"] for row in rows),
        "greatest": max(row["greatest"] for row in rows),
    }


def quantile(bins: list[tuple[float, int]], share: float) -> float:
    """Where the bin begins up to which at least `share` of the documents are. bins: low and
    documents of each, ascending."""
    wanted, seen = share * sum(documents for _, documents in bins), 0
    for low, documents in bins:
        seen += documents
        if seen >= wanted:
            return low
    raise ValueError("no documents")
