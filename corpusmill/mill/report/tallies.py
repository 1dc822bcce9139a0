"""Distributions of values per source and language, of all documents and of those kept.

The bins are the same for every part, so that tallies of parts add up.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpusmill.mill.decide.fates import KEPT

LANGUAGE = "language"
"""Name of the value by which documents are grouped in addition to their source, if a filter
measures it as text."""

STAGES = ("read", "kept")
MOST_TEXTS = 10_000
"""Maximum number of distinct values of a text column in a tally, per source and language."""


def _edges() -> np.ndarray:
    """Return the bin starts: two-digit numbers from 1e-9 to 9.9e16, their negatives, and 0."""
    sizes = [float(f"{lead}e{power}") for power in range(-10, 16) for lead in range(10, 100)]
    return np.array([-math.inf, *(-one for one in reversed(sizes)), 0.0, *sizes])


EDGES = _edges()

KEY = ["source", "language", "stage", "value"]
_OF_KEY = [(name, pa.string()) for name in KEY]
BINS = pa.schema(
    [*_OF_KEY, ("low", pa.float64()), ("text", pa.string()), ("documents", pa.uint64())]
)
"""One row per non-empty bin, which starts at `low`. For text columns, one row per distinct text."""

TOTALS = pa.schema(
    [
        *_OF_KEY,
        ("documents", pa.uint64()),
        ("sum", pa.float64()),
        ("least", pa.float64()),
        ("greatest", pa.float64()),
    ]
)
"""One row per numeric value. Documents without a value (NaN) do not count."""
HOW = {"documents": "sum", "sum": "sum", "least": "min", "greatest": "max"}
"""How rows of TOTALS with the same key are combined."""


class Tally(NamedTuple):
    bins: pa.Table
    totals: pa.Table


class _Groups(NamedTuple):
    """The group of each document, and source and language of each group."""

    of_row: np.ndarray
    source: pa.Array
    language: pa.Array


def tally_of_part(measures: pa.Table, kept: np.ndarray) -> Tally:
    """Return the tally of a part's table of measures. kept: bool (documents,)."""
    groups = grouped(measures)
    bins, totals = [BINS.empty_table()], [TOTALS.empty_table()]
    for name in measures.column_names:
        column = measures.column(name)
        is_text = pa.types.is_string(column.type)
        if name in ("source", "preference") or (
            is_text and (name == LANGUAGE or name.endswith("_reason"))
        ):
            continue
        for stage, chosen in zip(STAGES, (np.ones(kept.size, bool), kept), strict=True):
            if is_text:
                bins.append(_texts(column, groups, chosen, stage, name))
            else:
                found = _numbers(column.to_numpy(), groups, chosen, stage, name)
                bins.append(found.bins)
                totals.append(found.totals)
    return Tally(pa.concat_tables(bins), pa.concat_tables(totals))


def grouped(measures: pa.Table) -> _Groups:
    sources = measures.column("source").cast(pa.string()).to_pylist()
    languages: list[str | None] = [None] * measures.num_rows
    if tells_languages(measures):
        languages = measures.column(LANGUAGE).to_pylist()
    pairs = list(zip(sources, languages, strict=True))
    known = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
    columns = (pa.array([pair[place] for pair in known], pa.string()) for place in (0, 1))
    return _Groups(np.array([known[pair] for pair in pairs], np.int64), *columns)


def dropped_by_language(measures: pa.Table, fates: pa.ChunkedArray) -> dict[str, dict[str, int]]:
    """Return language -> fate -> dropped documents; empty if no filter detects languages.

    measures: of a part. fates: of its documents, as texts.
    """
    if not tells_languages(measures):
        return {}
    rows = pa.table({"language": measures.column(LANGUAGE), "fate": fates})
    rows = rows.filter(pc.not_equal(rows["fate"], KEPT)).drop_null()
    counts = rows.group_by(rows.column_names, use_threads=False).aggregate([([], "count_all")])
    found: dict[str, dict[str, int]] = {}
    for row in counts.to_pylist():
        found.setdefault(row["language"], {})[row["fate"]] = row["count_all"]
    return found


def tells_languages(measures: pa.Table) -> bool:
    names = measures.column_names
    return LANGUAGE in names and pa.types.is_string(measures.column(LANGUAGE).type)


def _table(
    schema: pa.Schema,
    groups: _Groups,
    numbers: np.ndarray,
    stage: str,
    value: str,
    **columns: np.ndarray | pa.Array,
) -> pa.Table:
    """Return one row per group. numbers: of the groups."""
    of_key = {
        "source": groups.source.take(pa.array(numbers)),
        "language": groups.language.take(pa.array(numbers)),
        "stage": pa.repeat(stage, numbers.size),
        "value": pa.repeat(value, numbers.size),
    }
    nothing = pa.nulls(numbers.size)
    arrays = of_key | columns
    return pa.table(
        [pa.array(arrays.get(field.name, nothing)).cast(field.type) for field in schema],
        schema=schema,
    )


def _texts(
    column: pa.ChunkedArray, groups: _Groups, chosen: np.ndarray, stage: str, value: str
) -> pa.Table:
    rows = pa.table({"group": groups.of_row, "text": column}).filter(pa.array(chosen))
    by_text = rows.drop_null().group_by(["group", "text"], use_threads=False)
    counts = by_text.aggregate([([], "count_all")])
    return _table(
        BINS, groups, counts["group"].to_numpy(), stage, value,
        text=counts["text"].combine_chunks(), documents=counts["count_all"].to_numpy(),
    )  # fmt: skip


def _numbers(
    values: np.ndarray, groups: _Groups, chosen: np.ndarray, stage: str, value: str
) -> Tally:
    chosen = chosen & ~np.isnan(values)
    of_group, numbers = groups.of_row[chosen], values[chosen]
    # In float32, 0.7 is less than 0.7 as a double.
    edges = EDGES.astype(np.float32) if values.dtype == np.float32 else EDGES
    places = np.searchsorted(edges, numbers, "right") - 1
    keys, counts = np.unique(of_group * EDGES.size + places, return_counts=True)
    bins = _table(
        BINS, groups, keys // EDGES.size, stage, value,
        low=EDGES[keys % EDGES.size], documents=counts,
    )  # fmt: skip
    order = np.argsort(of_group, kind="stable")
    present, first = np.unique(of_group[order], return_index=True)
    parted = np.split(numbers[order].astype(float), first[1:])
    parted = parted if present.size else []
    totals = _table(
        TOTALS, groups, present, stage, value,
        documents=np.array([mine.size for mine in parted], np.int64),
        sum=np.array([_total(mine) for mine in parted]),
        least=np.array([mine.min() for mine in parted]) + 0.0,
        greatest=np.array([mine.max() for mine in parted]) + 0.0,
    )  # fmt: skip
    return Tally(bins, totals)


def _total(numbers: np.ndarray) -> float:
    """Return the sum, the same in any order; NaN or infinite if it is not finite."""
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):
        with np.errstate(all="ignore"):
            return float(numbers.sum())


def added(tallies: Iterable[Tally], most_texts: int = MOST_TEXTS) -> Tally:
    """Return the sum of tallies, with rows sorted by their keys.

    If a column has more than `most_texts` different texts, keep the most frequent ones, of ties the
    first in sort order.
    """
    whole = Tally(BINS.empty_table(), TOTALS.empty_table())
    for one in tallies:
        bins, totals = (pa.concat_tables(pair) for pair in zip(whole, one, strict=True))
        bins = _summed(bins, [*KEY, "low", "text"], {"documents": "sum"}, BINS)
        totals = _summed(totals, KEY, HOW, TOTALS)
        whole = Tally(_without_rare_texts(bins, most_texts), totals)
    return whole


def _summed(table: pa.Table, keys: list[str], how: dict[str, str], schema: pa.Schema) -> pa.Table:
    groups = table.group_by(keys, use_threads=False).aggregate(list(how.items()))
    named = groups.rename_columns(
        [name.removesuffix(f"_{how[key]}") if (key := name.rsplit("_", 1)[0]) in how else name
         for name in groups.column_names]
    )  # fmt: skip
    return named.select(schema.names).cast(schema).sort_by([(key, "ascending") for key in keys])


def _without_rare_texts(bins: pa.Table, most: int) -> pa.Table:
    texts = bins.filter(pc.is_valid(bins["text"]))
    of_value = ["source", "language", "value"]
    read = texts.filter(pc.equal(texts["stage"], STAGES[0]))
    counts = read.group_by(of_value, use_threads=False).aggregate([([], "count_all")])
    if not counts.num_rows or pc.max(counts["count_all"]).as_py() <= most:
        return bins
    ranked = read.sort_by([("documents", "descending"), ("text", "ascending")])
    kept: dict[tuple, int] = {}
    shown = set()
    for *value, text in zip(
        *(ranked[name].to_pylist() for name in [*of_value, "text"]), strict=True
    ):
        kept[tuple(value)] = kept.get(tuple(value), 0) + 1
        if kept[tuple(value)] <= most:
            shown.add((*value, text))
    rows = zip(*(bins[name].to_pylist() for name in [*of_value, "text"]), strict=True)
    return bins.filter(pa.array([row[3] is None or row in shown for row in rows]))


def quantiles(bins: pa.Table, shares: dict[str, float]) -> dict[tuple, dict[str, float]]:
    """Return (source, language, stage, value) -> quantiles by name.

    A quantile is the start of the first bin up to which the share of documents is reached. bins:
    sorted by these keys and `low`.
    """
    numbers = bins.filter(pc.is_valid(bins["low"]))
    keys = list(zip(*(numbers[name].to_pylist() for name in KEY), strict=True))
    upto = np.cumsum(numbers["documents"].to_numpy().astype(np.int64))
    low = numbers["low"].to_numpy()
    starts = [place for place, key in enumerate(keys) if place == 0 or key != keys[place - 1]]
    ends = [*starts[1:], len(keys)] if starts else []
    found = {}
    for start, end in zip(starts, ends, strict=True):
        before = upto[start - 1] if start else 0
        total = upto[end - 1] - before
        places = {
            name: np.searchsorted(upto, before + share * total) for name, share in shares.items()
        }
        found[keys[start]] = {name: float(low[place]) for name, place in places.items()}
    return found
