"""How values are spread: counts of bins add up, totals and quantiles are those of the values."""

import math
import re
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.report.statistics import STATISTICS, statistics_of, statistics_page
from corpusmill.mill.report.tallies import (
    BINS,
    EDGES,
    TOTALS,
    Tally,
    added,
    dropped_by_language,
    quantiles,
    tally_of_part,
)

numbers = st.floats(-1e12, 1e12) | st.sampled_from([0.0, math.nan, 0.3, 1e15])
documents = st.lists(
    st.tuples(
        st.sampled_from(["web", "books"]), st.sampled_from(["en", "de"]), numbers,
        st.integers(0, 10**9), st.sampled_from([None, "a", "b"]), st.booleans(),
    ),
    max_size=20,
)  # fmt: skip


def table(rows: list[tuple]) -> tuple[pa.Table, np.ndarray]:
    source, language, share, size, text, kept = zip(*rows, strict=True) if rows else [()] * 6
    columns = {
        "share": pa.array(share, pa.float64()),
        "language": pa.array(language, pa.string()),
        "label": pa.array(text, pa.string()),
        "text_bytes": pa.array(size, pa.uint64()),
        "source": pa.array(source, pa.string()).dictionary_encode(),
        "rule_reason": pa.array(text, pa.string()),
    }
    return pa.table(columns), np.array(kept, bool)


class Rows(NamedTuple):
    bins: list[dict]
    totals: list[dict]


def rows_of(tally: Tally) -> Rows:
    return Rows(tally.bins.to_pylist(), tally.totals.to_pylist())


def members(rows: list[tuple], place: int, key: dict) -> list:
    """The values that a row of the tally is about."""
    return [
        row[place]
        for row in rows
        if (key["source"], key["language"]) == row[:2] and (key["stage"] == "read" or row[5])
    ]


@examples(300)
@given(st.lists(documents, min_size=1, max_size=3))
def test_tallies__add_up_to_what_the_values_are(parts):
    rows = [row for part in parts for row in part]
    whole = added(tally_of_part(*table(part)) for part in parts)
    assert (whole.bins.schema, whole.totals.schema) == (BINS, TOTALS)
    found = rows_of(whole)
    assert {row["value"] for row in found.bins} <= {"share", "text_bytes", "label"}
    for place, name in ((2, "share"), (3, "text_bytes")):
        totals = [row for row in found.totals if row["value"] == name]
        keys = {(r[0], r[1], stage) for r in rows for stage in ("read", "kept")
                if not math.isnan(r[place]) and (stage == "read" or r[5])}  # fmt: skip
        assert {(row["source"], row["language"], row["stage"]) for row in totals} == keys
        for row in totals:
            values = [one for one in members(rows, place, row) if not math.isnan(one)]
            assert row["documents"] == len(values)
            assert math.isclose(row["sum"], math.fsum(values), rel_tol=1e-12, abs_tol=1e-6)
            assert (row["least"], row["greatest"]) == (min(values), max(values))
            mine = [
                one for one in found.bins
                if all(one[k] == row[k] for k in ("source", "language", "stage", "value"))
            ]  # fmt: skip
            assert sum(one["documents"] for one in mine) == len(values)
            for one in mine:
                after = EDGES[np.searchsorted(EDGES, one["low"]) + 1]
                assert one["documents"] == sum(one["low"] <= value < after for value in values)
    for row in found.bins:
        if row["value"] == "label":
            assert row["documents"] == members(rows, 4, row).count(row["text"])


def test_tallies__of_texts_those_that_were_read_most_often():
    parts = [
        [("web", "en", 0.0, 1, f"{part}{n}", False) for n in range(9) for _ in range(3)]
        + [("web", "en", 0.0, 1, "common", True)] * 2
        for part in "ab"
    ]
    found = rows_of(added([tally_of_part(*table(part)) for part in parts], most_texts=10)).bins
    counts = {(row["text"], row["stage"]): row["documents"] for row in found if row["text"]}
    assert counts["common", "read"] == counts["common", "kept"] == 4
    assert len({text for text, _ in counts}) == 10


def test_tallies__take_what_is_not_finite_and_float32_as_it_is_written():
    values = [math.inf, -math.inf, 1e308, 1e308, math.nan]
    columns = {"wild": pa.array(values), "share": pa.array([0.7] * 5, pa.float32()),
               "source": pa.array(["web"] * 5).dictionary_encode(),
               "language": pa.array([1] * 5)}  # fmt: skip
    found = added([tally_of_part(pa.table(columns), np.ones(5, bool))])
    spread = quantiles(found.bins, {"median": 0.5})
    assert spread["web", None, "read", "share"] == {"median": 0.7}
    totals = {row["value"]: row for row in found.totals.to_pylist() if row["stage"] == "read"}
    assert math.isnan(totals["wild"]["sum"])
    assert totals["wild"]["documents"] == 4
    assert totals["language"]["sum"] == 5


def test_dropped_by_language__counts_what_has_both():
    rows = [("en", "kept"), ("en", "a"), ("de", "a"), ("en", "a"), ("en", "b"), (None, "a")]
    language, fate = (pa.array(one, pa.string()) for one in zip(*rows, strict=True))
    fates = pa.chunked_array([fate])
    got = dropped_by_language(pa.table({"language": language}), fates)
    assert got == {"en": {"a": 2, "b": 1}, "de": {"a": 1}}
    assert dropped_by_language(pa.table({"words": language}), fates) == {}
    assert dropped_by_language(pa.table({"language": pa.array([1] * 6)}), fates) == {}


@examples(200)
@given(st.lists(st.integers(0, 200), min_size=1))
def test_quantiles__are_where_their_bin_begins(values):
    columns = {"size": pa.array(values, pa.int64()),
               "source": pa.array(["web"] * len(values)).dictionary_encode()}  # fmt: skip
    tally = added([tally_of_part(pa.table(columns), np.ones(len(values), bool))])
    found = quantiles(tally.bins, {"p5": 0.05, "median": 0.5, "p95": 0.95})
    for name, share in (("p5", 0.05), ("median", 0.5), ("p95", 0.95)):
        value = sorted(values)[max(math.ceil(share * len(values)) - 1, 0)]
        assert found["web", None, "read", "size"][name] == (
            value if value < 100 else value // 10 * 10
        )


def test_statistics__are_per_language_and_of_all_and_their_page_is_escaped():
    rows = [("web", "en", 0.5, 10, "<b>", True), ("web", "de", 0.25, 30, None, False)]
    rows += [("web", None, 0.0012, 20, "<i>", True)]
    measures, kept = table(rows)
    measures = measures.append_column("<u>", pa.array([1, 2, 3]))
    found = added([tally_of_part(measures, kept)])
    statistics = statistics_of(found)
    assert pa.Table.from_pylist(statistics, STATISTICS).num_rows == len(statistics)
    read = [r for r in statistics if r["value"] == "text_bytes" and r["stage"] == "read"]
    assert len(read) == 3
    assert {r["language"]: (r["documents"], r["mean"], r["median"]) for r in read} == {
        None: (3, 20, 20), "en": (1, 10, 10), "de": (1, 30, 30),
    }  # fmt: skip
    languages = {"en": {"read": 1, "read_bytes": 10, "kept": 1, "kept_bytes": 10}}
    page = statistics_page(statistics, found.bins, languages)
    assert "&lt;b&gt;" in page
    assert "&lt;u&gt;" in page
    assert "0.0012" in page
    assert not re.search("<[biu]>", page)
    assert statistics_page([], BINS.empty_table(), {}).count("<h2>") == 0
