"""Each mode is what its name says."""

import time
import unicodedata

import ftfy
import numpy as np
import pytest
from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st

from corpusmill.mill.read import normalization
from corpusmill.mill.read.normalization import LAST_MARK, LONG_RUN, nfc, normalizer

# Composed, decomposed, excluded from composition, Hangul, marks out of order, singletons.
TRICKY = "éé\u0301\u0327\u0323Å\u212b\u0958\u0344가\u1100\u1161\u11a8ﬁ①a"
texts = st.text(st.one_of(st.sampled_from(TRICKY), st.characters(exclude_categories=["Cs"])))


@examples(300)
@given(texts)
@example("e\u0301")
@example("\u1100\u1161\u11a8")
def test_nfc__equals_unicodedata(text):
    assert nfc(text) == normalizer("nfc")(text) == unicodedata.normalize("NFC", text)


def test_nfc__equals_unicodedata_for_every_code_point():
    for first in range(0, 0x110000, 0x1000):
        block = "".join(chr(c) + "\u0301 " for c in range(first, first + 0x1000))
        assert nfc(block) == unicodedata.normalize("NFC", block)


@examples(60)
@given(texts)
@example("Café “q” ﬁne &amp; schÃ¶n\r\nＡＢＣ\u2028\x00\x1b[0m")
@example("a\ud800b")
@example("&lt;b&gt; <b> &amp;")
def test_ftfy__equals_ftfy(text):
    assert normalizer("ftfy")(text) == ftfy.fix_text(text, normalization="NFC")


@given(texts)
def test_none__changes_nothing(text):
    assert normalizer("none")(text) == text


@given(st.one_of(texts, st.text(st.sampled_from(TRICKY + "e1 "))), st.integers(1, 5))
def test_nfc__of_pieces_is_that_of_the_whole(text, piece_chars):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(normalization, "PIECE_CHARS", piece_chars)
        pieces = list(normalization.pieces_to_compose(text))
        assert nfc(text) == unicodedata.normalize("NFC", text)
    assert "".join(pieces) == text
    assert all(pieces)


MARKS = "\u0301\u0316\u0327\u0345\u0344\u0f73\u0f81\u20d0\U0001d165\u3099\u05b0a\u00e9"
"""Of many classes, some that decompose, and letters between them."""
runs = st.lists(st.tuples(st.sampled_from(MARKS), st.integers(1, 3 * LONG_RUN)), max_size=8).map(
    lambda runs: "".join(mark * count for mark, count in runs)
)


@examples(300)
@given(st.lists(st.one_of(runs, texts), max_size=4).map("".join), st.randoms())
def test_nfc__of_long_runs_of_marks_equals_unicodedata(text, chance):
    shuffled = "".join(chance.sample(text, len(text)))
    for one in (text, shuffled, "".join(chance.choices(MARKS[:-2], k=3 * LONG_RUN)) + text):
        assert nfc(one) == unicodedata.normalize("NFC", one)


def test_nfc__knows_every_mark_that_has_a_class():
    """A run of others would be slow again."""
    classes = [unicodedata.combining(chr(point)) for point in range(0x110000)]
    assert max(np.flatnonzero(classes)) <= LAST_MARK


@pytest.mark.some(4)
@pytest.mark.parametrize("mode", ["nfc", "ftfy"])
@pytest.mark.parametrize(
    "text",
    [
        "\u0301\u0316" * 200_000,
        "\u0301" * 200_000 + "\u0316" * 200_000,
        "e" + "\u0f73\u0344" * 200_000,
        "&#x301;&#x316;" * 70_000,
        "&" + "amp;" * 200_000,
    ],
    ids=["two classes", "the later first", "that decompose", "escaped", "escapes of escapes"],
)
def test_normalizer__takes_moments_for_the_worst_texts(mode, text):
    started = time.process_time()
    normalizer(mode)(text)
    assert time.process_time() - started < 20


@examples(100)
@given(st.lists(st.sampled_from(["&", "amp;", "#38;", "lt;", "<", "\n", "Ã©", "é", " ", "x"])))
def test_ftfy__of_escapes_of_escapes_equals_ftfy(pieces):
    text = "".join(pieces)
    assert normalizer("ftfy")(text) == ftfy.fix_text(text, normalization="NFC")
