"""How values are spread: counts of bins add up, totals and quantiles are those of the values."""

import math

import numpy as np
import pyarrow as pa
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.documents.tallies import BINS, EDGES, TOTALS, added, quantile, tally_of_part
from corpusmill.report.statistics import STATISTICS, statistics_of, statistics_page

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
    found = added(tally_of_part(*table(part)) for part in parts)
    assert pa.Table.from_pylist(found.totals, TOTALS).num_rows == len(found.totals)
    assert pa.Table.from_pylist(found.bins, BINS).num_rows == len(found.bins)
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


def test_tallies__do_not_depend_on_how_documents_are_parted():
    rows = [("web", "en", n / 7, n, "ab"[n % 2], n % 3 == 0) for n in range(50)]
    whole = added([tally_of_part(*table(rows))])
    assert whole.bins == added(tally_of_part(*table([row])) for row in reversed(rows)).bins


def test_tallies__of_texts_the_most_frequent():
    rows = [("web", "en", 0.0, 1, f"t{n}", True) for n in range(1500)]
    rows += [("web", "en", 0.0, 1, "t1499", True)]
    labels = [row for row in added([tally_of_part(*table(rows))]).bins if row["text"] is not None]
    kept = {row["text"]: row["documents"] for row in labels if row["stage"] == "kept"}
    assert len(kept) == 1000
    assert kept["t1499"] == 2


def test_quantile__is_where_its_bin_begins():
    bins = [(0.0, 5), (1.0, 4), (2.5, 1)]
    assert [quantile(bins, share) for share in (0.05, 0.5, 0.51, 0.9, 0.95)] == [0, 0, 1, 1, 2.5]


def test_statistics__are_per_language_and_of_all_and_their_page_is_escaped():
    rows = [("web", "en", 0.5, 10, "<b>", True), ("web", "de", 0.25, 30, None, False)]
    found = added([tally_of_part(*table(rows))])
    statistics = statistics_of(found)
    assert pa.Table.from_pylist(statistics, STATISTICS).num_rows == len(statistics)
    read = [r for r in statistics if r["value"] == "text_bytes" and r["stage"] == "read"]
    assert {r["language"]: (r["documents"], r["mean"], r["median"]) for r in read} == {
        None: (2, 20, 10), "en": (1, 10, 10), "de": (1, 30, 30),
    }  # fmt: skip
    page = statistics_page(statistics, found.bins)
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
