"""RedPajama's signals against their plain twin."""

import math

import naive_filters
import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.filters.configured import ConfiguredFilter
from corpusmill.mill.filters.features.redpajama_texts import built_signal_table, signal_table
from corpusmill.mill.filters.known.redpajama_signals import STOP_WORDS
from corpusmill.mill.read.text_column import TextColumn, string_array

ENTRY = {"name": "redpajama_signals"}
PIECES = [
    *("a", "the ", "The", "WORD ", "W1 ", "word", "_", "'", "don't", "\n", "\n\n", " ", "\r\n"),
    *("...", "..", ". ", "…", "#", "•", " ■ x", "–", "!", "?", "”", "{", "}", "½", "12", "Ⅷ", "ǅ"),
    *(
        "lorem ipsum",
        "Lorem-ipsum lorem  ipsum",
        "JavaScript",
        " javascript ",
        "é",
        "漢字",
        "\u0301",
    ),
    *("漢字", "\u0301", "\u2028", "\x1c", "\x85", "A B C D E F G ", "x y x y ", "line\n"),
]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=40).map("".join)


def measured(texts: list[str]) -> list[dict]:
    column = TextColumn.of(string_array([text.encode() for text in texts]))
    found = ConfiguredFilter(ENTRY).measurer().measure(column)
    return [{key: values[row].item() for key, values in found.items()} for row in range(len(texts))]


def differing(one: dict, other: dict) -> list[str]:
    assert one.keys() == other.keys()
    return [
        key
        for key in one
        if not math.isclose(one[key], other[key], rel_tol=1e-9, abs_tol=1e-8)
        and not (math.isnan(one[key]) and math.isnan(other[key]))
    ]


@pytest.mark.filterwarnings("error")
@examples(400)
@given(st.lists(texts, max_size=4))
def test_redpajama_signals__are_those_of_the_twin(texts):
    for text, found in zip(texts, measured(texts), strict=True):
        assert differing(found, naive_filters.redpajama_signals(text, STOP_WORDS)) == [], text


def test_redpajama_signals__of_a_line_of_ten_megabytes():
    before, found, after = measured(["", "The word 1. " * 850_000, "x"])
    assert differing(before, naive_filters.redpajama_signals("", STOP_WORDS)) == []
    assert differing(after, naive_filters.redpajama_signals("x", STOP_WORDS)) == []
    assert found["rps_doc_num_sentences"] == 850_000
    assert found["rps_doc_frac_unique_words"] == 3 / 2_550_000


def test_redpajama_signals__drop_nothing():
    assert not ConfiguredFilter(ENTRY).drops


@pytest.mark.whole
def test_signal_table__kept_on_disk_is_the_one_built_anew():
    assert np.array_equal(signal_table(), built_signal_table())
