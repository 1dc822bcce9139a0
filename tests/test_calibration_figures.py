"""Figures of a calibration, and texts and numbers as they are shown, piece by piece."""

import math

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.tools.tune.calibrate.account import plain
from corpusmill.tools.tune.calibrate.examples import excerpts
from corpusmill.tools.tune.calibrate.figures import (
    overlap_of,
    threshold_at,
)
from corpusmill.tools.tune.calibrate.page import with_signs
from corpusmill.tools.tune.calibrate.words import number
from corpusmill.tools.tune.sample import standard_error

WEIGHTED = st.lists(
    st.tuples(st.integers(0, 9), st.integers(1, 5)), min_size=1, max_size=12
).map(sorted)  # fmt: skip


@given(WEIGHTED, st.sampled_from(["below", "above"]), st.integers(0, 20), st.integers(0, 9))
def test_threshold_at__equals_naive(some, side, twentieth, without):
    """without: the weight of documents that have no value."""
    values, weights = map(np.array, zip(*some, strict=True))
    total = int(weights.sum()) + without
    got = threshold_at(values, weights.astype(float), side, twentieth / 20, total)
    assert got == naive.threshold_at(some, side, twentieth, 20, total)


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans(), st.integers(1, 4)),
                min_size=1, max_size=9))  # fmt: skip
def test_overlap__equals_naive(rows):
    *drops, weights = (np.array(column) for column in zip(*rows, strict=True))
    got = overlap_of(["a", "b", "c"], drops, weights.astype(float))
    both, alone = naive.overlap([set(np.flatnonzero(one).tolist()) for one in drops], weights)
    assert np.allclose(got.both, both)
    assert np.allclose(got.alone, alone)


def test_standard_error__is_that_of_the_hypergeometric_law():
    rng = np.random.default_rng(1)
    shares = rng.hypergeometric(100, 900, 200, size=20_000) / 200
    assert standard_error(0.1, 200, 1000) == pytest.approx(shares.std(), rel=0.03)
    assert standard_error(0.1, 5, 5) == 0


@pytest.mark.parametrize(
    ("value", "words"),
    [(None, "none"), (12345, "12,345"), (0.123456, "0.1235"), (1234.5, "1,234"),
     (math.inf, "inf"), (0, "0")],
)  # fmt: skip
def test_number__in_words(value, words):
    assert number(value) == words


def test_plain__has_no_number_that_json_has_not():
    got = plain({"a": [math.nan, math.inf, -math.inf, 1.5]})
    assert got == {"a": ["NaN", "Infinity", "-Infinity", 1.5]}


# What is shown of texts.


def test_with_signs__shows_what_could_not_be_seen():
    assert list(with_signs("a\tb\x00<c>&\u202eד\u200d\ufeff\n\x85 \u3000")) == [
        ("a", "→"), ("\tb", "[U+0000]"), ("<c>&", "[U+202E]"), ("ד\u200d", "[U+FEFF]"), ("", "↵"),
        ("\n", "[U+0085]"), (" \u3000", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(("chars", "middle"), [(0, 0), (600, 0), (601, 200)])
def test_excerpts__of_long_texts_have_a_middle(chars, middle):
    text = "".join(chr(0x4E00 + n) for n in range(chars))
    start, piece = excerpts(text)
    assert start == text[:200]
    assert len(piece) == middle
    assert piece in text[200:]
