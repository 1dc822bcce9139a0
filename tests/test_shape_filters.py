"""Lengths and shares of characters against their plain twins."""

import math
from functools import partial

import naive_filters
import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.filters.configured import ConfiguredFilter, configured
from corpusmill.mill.filters.documents import Documents
from corpusmill.mill.filters.known.char_shares import built_kinds, kind_table
from corpusmill.mill.filters.registry import filter_class, known_filters
from corpusmill.mill.read.text_column import TextColumn, string_array
from corpusmill.run.filter_faults import filter_faults

PIECES = [
    *("", "word", "A", "1", "٣", "½", " ", "\n", "\r\n", "\u2028", "\x85", "\t", "\x00", "."),
    *("#", "$", "。", "،", "«", "漢字", "\u0301", "क्षि", "😀", "x" * 300, "é" * 130, "\u200b"),
]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=30).map("".join)
TWINS = {
    "lengths": lambda text: naive_filters.lengths(text, text.split()),
    "char_shares": naive_filters.char_shares,
}


def measured(name: str, texts: list[str]) -> list[dict]:
    column = TextColumn.of(string_array([text.encode() for text in texts]))
    documents = Documents(column, pa.record_batch({"text": pa.nulls(len(texts))}), [])
    entry = {"name": name} | ({"words": "whitespace"} if name == "lengths" else {})
    found = ConfiguredFilter(entry).measurer().measure_documents(documents)
    return [{key: column[row].item() for key, column in found.items()} for row in range(len(texts))]


def same(one: dict, other: dict) -> bool:
    close = partial(math.isclose, rel_tol=1e-15)
    return one.keys() == other.keys() and all(
        close(one[key], other[key]) or (math.isnan(one[key]) and math.isnan(other[key]))
        for key in one
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", TWINS)
@examples(600)
@given(st.lists(texts, max_size=4))
def test_shape_filter__measures_what_its_twin_does(name, texts):
    for text, found in zip(texts, measured(name, texts), strict=True):
        assert same(found, TWINS[name](text)), text


@pytest.mark.whole
@pytest.mark.parametrize("name", TWINS)
def test_shape_filter__of_a_line_of_ten_megabytes(name):
    text = "漢a 1" * 1_700_000
    before, found, after = measured(name, ["", text, "x"])
    assert same(found, TWINS[name](text))
    assert same(before, TWINS[name](""))
    assert same(after, TWINS[name]("x"))


@pytest.mark.parametrize("name", TWINS)
def test_shape_filter__drops_nothing_by_itself(name):
    assert list(filter_faults(configured([{"name": name}]), ["web"])) == []
    limits = {limit.setting: None for limit in filter_class({"name": name}).limits}
    filter = ConfiguredFilter({"name": name} | limits).decider()
    values = {value: np.zeros(3) for value in filter.values} | {"text_bytes": np.ones(3, int)}
    assert filter.drops(values).tolist() == [False] * 3


def test_kind_table__kept_on_disk_is_the_one_built_anew():
    assert np.array_equal(kind_table(), built_kinds())


def test_values__of_our_filters_have_names_of_their_own():
    faults = filter_faults(configured([{"name": name} for name in known_filters()]), ["web"])
    assert [fault for fault in faults if "already measures" in fault] == []
