"""DCLM's rules against their plain twin."""

import math

import naive_filters
import numpy as np
import pyarrow as pa
import pytest
import uniseg.wordbreak
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from word_classes import characters_by_class, one_of

from corpusmill.mill.filters.configured import ConfiguredFilter
from corpusmill.mill.filters.documents import Documents
from corpusmill.mill.read.text_column import TextColumn, string_array

PIECES = [
    *("a", "the ", "THE ", "of", " be ", "word ", "ab c ", "\n", "\n\n", "\n\n\n", " ", "\r\n"),
    *("\u2028", "...", ". . .", ". . . .", "…", "#", "-", "●", " * x", "•", ".", "é", "漢字。"),
    *("\u0301", "\x1c", "12 ", "Ⅷ", "A B C D E F G ", "x y x y x y ", "line\n", "To "),
]
others = st.deferred(
    lambda: st.lists(one_of("".join(characters_by_class().values())), max_size=3).map("".join)
)
texts = st.lists(st.sampled_from(PIECES) | others, max_size=40).map("".join)


def twin(text: str) -> dict:
    return naive_filters.dclm(
        text, [one for one in uniseg.wordbreak.words(text) if one and not one.isspace()]
    )


def measured(texts: list[str]) -> list[dict]:
    column = TextColumn.of(string_array([text.encode() for text in texts]))
    documents = Documents(column, pa.record_batch({"text": pa.nulls(len(texts))}), [])
    found = ConfiguredFilter({"name": "dclm"}).measurer().measure_documents(documents)
    return [{key: column[row].item() for key, column in found.items()} for row in range(len(texts))]


def same(one: dict, other: dict) -> bool:
    return one.keys() == other.keys() and all(
        math.isclose(one[key], other[key], rel_tol=1e-12)
        or (math.isnan(one[key]) and math.isnan(other[key]))
        for key in one
    )


@pytest.mark.filterwarnings("error")
@examples(400)
@given(st.lists(texts, max_size=4))
def test_dclm__measures_what_its_twin_does(texts):
    for text, found in zip(texts, measured(texts), strict=True):
        assert same(found, twin(text)), text


def test_dclm__of_a_line_of_ten_megabytes():
    before, found, after = measured(["", "To be or not. " * 700_000, "x"])
    assert same(before, twin(""))
    assert same(after, twin("x"))
    assert found["dclm_stop_words"] == 1_400_000
    assert found["dclm_copied_line_share"] == 0
    assert found["dclm_copied_10_gram_share"] == 1


def test_dclm__drops_in_the_order_of_its_rules():
    good = "to be " + " ".join(f"word{n} thing{n}" for n in range(40))
    texts = ["too short", "a b " * 40, "# " + good.replace(" ", " # "), good, good + "\n" + good]
    measures = measured(texts)
    values = {name: np.array([one[name] for one in measures]) for name in measures[0]}
    values["text_bytes"] = np.array([len(text) for text in texts])
    filter = ConfiguredFilter({"name": "dclm"}).decider()
    said = [filter.limits[n - 1].value if n else None for n in filter.beyond(values).tolist()]
    assert said == [
        "dclm_words", "dclm_mean_word_chars", "dclm_symbol_ratio", None, "dclm_copied_line_share",
    ]  # fmt: skip
