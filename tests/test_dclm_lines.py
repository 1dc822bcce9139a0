"""DCLM's edits of lines against their plain twin."""

import math
import re

import naive_filters
import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.filters.configured import ConfiguredFilter
from corpusmill.mill.filters.documents import Documents
from corpusmill.mill.filters.edits import without
from corpusmill.mill.filters.registry import filter_class
from corpusmill.mill.read.text_column import TextColumn, string_array

PIECES = [
    *(
        "a",
        "word word.",
        "B C",
        "\n",
        "\n",
        "\n\n\n",
        " ",
        "\t",
        "\u3000",
        "-",
        "…",
        "12",
        "٣",
        "²",
    ),
    *(
        "3.5k views",
        "1,2 Likes",
        "likes",
        "7 ",
        "k ",
        "M\u3000followers",
        "_",
        "é",
        "漢字",
        "É",
        "ǅ",
    ),
    *("items in cart", "Items In Cart", "items in", " cart", "read ", "Read more", "...", " >>"),
    *("Sign-in", "sign-in ", "sign", "-in", "\r", "\x1c", "\u2028", "\u212a", "ı", "one two three"),
]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=2), max_size=30).map("".join)
CLASS = filter_class({"name": "dclm_lines"})
RULES = list(CLASS.edits)
DEFAULTS = {name: CLASS.settings[name].default for name in CLASS.measured_with}


def edited(texts: list[str], **settings) -> tuple[list[float], list[str], list[tuple]]:
    """Shares, what is left, and the pieces that are cut: text, piece, rule."""
    column = TextColumn.of(string_array([text.encode() for text in texts]))
    documents = Documents(column, pa.record_batch({"text": pa.nulls(len(texts))}), [])
    entry = {"name": "dclm_lines"} | settings
    values, cuts = ConfiguredFilter(entry).measurer().measure_and_edit(documents)
    left = without(column, cuts).array().to_pylist()
    pieces = [
        (texts[row], bytes(column.data[start:stop]).decode(), RULES[rule - 1])
        for row, start, stop, rule in zip(*(one.tolist() for one in cuts), strict=True)
    ]
    return values["removed_word_share"].tolist(), left, pieces


@pytest.mark.filterwarnings("error")
@examples(500)
@given(
    st.lists(texts, max_size=4),
    st.fixed_dictionaries(
        {
            "max_line_upper_share": st.sampled_from([0.5, 0.2, 1]),
            "max_line_digit_share": st.sampled_from([0.999999, 0.5, 1]),
            "cuts_counters": st.booleans(),
            "min_words_per_line": st.integers(0, 3),
            "max_phrase_words": st.sampled_from([10, 2, 0]),
            "max_newlines": st.integers(1, 3),
        }
    )
    | st.just(DEFAULTS),
)
def test_dclm_lines__cut_what_their_twin_does(texts, settings):
    shares, left, _ = edited(texts, **settings)
    for text, share, its in zip(texts, shares, left, strict=True):
        expected, expected_left = naive_filters.dclm_lines(text, settings)
        assert its == expected_left, text
        assert share == expected or (math.isnan(share) and math.isnan(expected))


def one_after_the_other(text: str) -> str:
    """DCLM's modifiers as they are written: each goes through all lines, and strips the text."""
    need = {name: 1 if "max" in name else 0 for name in DEFAULTS} | {"max_newlines": 10**6}
    for name in DEFAULTS:
        if name != "max_newlines":
            text = naive_filters.dclm_lines(text, need | {name: DEFAULTS[name]})[1]
    return text


@examples(200)
@given(
    st.lists(texts.map(lambda text: re.sub(r"[^\S\n]*\n[^\S\n]*", "\n", text.strip())), max_size=3)
)
def test_dclm_lines__at_once_are_those_one_after_the_other(texts):
    """Of lines without white space at their ends."""
    _, left, _ = edited(texts, max_newlines=10**6)
    assert left == [one_after_the_other(text) for text in texts]


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("SHOUTED LINES of it", "upper_case"),
        ("2026", "digits"),
        ("3.5k views", "counter"),
        ("» 1,204 Comments !", "counter"),
        ("Menu", "few_words"),
        ("12 Items in cart", None),
        ("Sign-in", "few_words"),
        ("Read more >>", "phrase"),
    ],
)
def test_dclm_lines__are_told_by_their_rule(line, rule):
    text = f"A line of words.\n{line}\nAnother line of words."
    _, _, pieces = edited([text])
    cut = f" {line.split(' ', 1)[1]}" if rule is None else f"{line}\n"
    assert pieces == [(text, cut, rule or "phrase")]


def test_dclm_lines__drop_documents_that_lose_too_many_words():
    lines = [f"Line {n} has these ten words and no more today." for n in range(10)]
    kept, dropped = "\n".join([*lines, "Menu"]), "\n".join([*lines, *["Menu"] * 6])
    shares, left, _ = edited([kept, dropped, ""])
    assert left == ["\n".join(lines)] * 2 + [""]
    assert shares[:2] == [1 / 101, 6 / 106]
    filter = ConfiguredFilter({"name": "dclm_lines"}).decider()
    values = {"removed_word_share": np.array(shares), "text_bytes": np.ones(3)}
    assert filter.beyond(values).tolist() == [0, 1, 0]


def test_dclm_lines__of_ten_megabytes():
    text = "ab cd " * 1_700_000
    shares, left, pieces = edited(["", text, "MENU\n" * 300_000 + "a line"])
    assert left == ["", text.strip(), "a line"]
    assert len(pieces) == 300_001
    assert shares[2] == 300_000 / 300_002
