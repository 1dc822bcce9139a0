"""Gopher's and FineWeb's rules against their plain twins."""

import functools
import math

import naive
import naive_filters
import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.kernels import repeats
from corpusmill.kernels import words as kernels
from corpusmill.mill.filters.configured import ConfiguredFilter
from corpusmill.mill.filters.documents import Documents
from corpusmill.mill.filters.features.words import given_words, sentence_ends, word_table
from corpusmill.mill.filters.known.gopher_quality import STOP_WORDS
from corpusmill.mill.read.text_column import TextColumn, string_array
from corpusmill.mill.read.unicode_tables import scalars, text_of

PIECES = [
    *("a", "the", "of", "to be", "ab", "c", "word", "\n", "\n\n", "\n\n\n", " ", "\r\n", "\u2028"),
    *("\x85", "\x1c", "...", "....", "…", "#", "-", "•", " - x", ".", "!", "é", "漢字。", "\u0301"),
    *("\t", "{", "\x00", "12", "x" * 40, "A B C D E F G. "),
]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=40).map("".join)


@functools.cache
def marks() -> set[str]:
    is_mark = word_table()[scalars()] & kernels.NO_MARK == 0
    return set(text_of(scalars()[is_mark]))


@functools.cache
def ends() -> set[str]:
    return set(text_of(sentence_ends()))


TWINS = {
    "gopher_quality": lambda text, words: naive_filters.gopher_quality(
        text, words, marks(), STOP_WORDS
    ),
    "gopher_repetition": naive_filters.gopher_repetition,
    "fineweb_quality": lambda text, words: naive_filters.fineweb_quality(text, words, ends(), 30),
}


def measured(name: str, texts: list[str], words: list[list[str]] | None = None) -> list[dict]:
    """The values of each text; words: theirs, or those of str.split."""
    column = TextColumn.of(string_array([text.encode() for text in texts]))
    documents = Documents(column, pa.record_batch({"text": pa.nulls(len(texts))}), [])
    entry = {"name": name, "words": "whitespace"}
    if words is not None:
        first = np.concatenate([[0], np.cumsum(list(map(len, words)))]).astype(np.int64)
        flat = [word.encode() for of_text in words for word in of_text]
        documents._split["whitespace"] = given_words(first, TextColumn.of(string_array(flat)))
    found = ConfiguredFilter(entry).measurer().measure_documents(documents)
    return [{key: column[row].item() for key, column in found.items()} for row in range(len(texts))]


def same(one: dict, other: dict) -> bool:
    return one.keys() == other.keys() and all(
        one[key] == other[key] or (math.isnan(one[key]) and math.isnan(other[key])) for key in one
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", TWINS)
@examples(600)
@given(st.lists(texts, max_size=4))
def test_rule_filter__measures_what_its_twin_does(name, texts):
    for text, found in zip(texts, measured(name, texts), strict=True):
        assert same(found, TWINS[name](text, text.split())), text


@examples(1000)
@given(st.lists(st.lists(st.integers(1, 4), max_size=12), max_size=8), st.data())
def test_lengthen__finds_the_runs_that_come_again(passages, data):
    order = data.draw(st.lists(st.sampled_from(passages), max_size=12)) if passages else []
    words = [word for passage in order for word in passage]
    grams = repeats.room_for_grams(len(words) + 3)
    repeats.find_pairs(np.array(words, np.uint64), grams)
    for n in range(2, 12):
        got: dict[int, list[int]] = {}
        for place, one in enumerate(grams.classes[: len(words)].tolist()):
            got.setdefault(one, []).append(place)
        got.pop(0, None)
        expected = naive.places_of_runs(words, n)
        assert list(got.values()) == expected
        often, first = max(((len(one), -one[0]) for one in expected), default=(0, 0))
        assert repeats.top_gram(grams) == (often, -first)
        repeats.lengthen(grams)


def test_gopher_repetition__knows_words_apart_whose_digits_add_up_alike():
    text = "12 34 of 13 24 or 21 25 and 20 35"
    (found,) = measured("gopher_repetition", [text])
    assert same(found, naive_filters.gopher_repetition(text, text.split()))


@pytest.mark.parametrize("name", TWINS)
def test_rule_filter__takes_any_words(name):
    text = "don't you... say so\n- to be\nso so so so so so so so so so so"
    words = [["do", "n't", "you", "...", "say", "so", "-", "to", "be", *["so"] * 11]]
    (found,) = measured(name, [text], words)
    assert same(found, TWINS[name](text, words[0]))


@pytest.mark.parametrize("name", TWINS)
def test_rule_filter__a_line_of_ten_megabytes_and_no_text(name):
    long = "word " * 2_000_000
    values = measured(name, ["", long, "x"])
    assert same(values[0], TWINS[name]("", []))
    assert values[1]["top_2_gram_share"] > 1.7 if name == "gopher_repetition" else values[1]
