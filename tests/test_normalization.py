"""Each mode is what its name says."""

import unicodedata

import ftfy
import pytest
from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st

from corpusmill.text import normalization
from corpusmill.text.normalization import nfc, normalizer

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


def test_ftfy__mends_what_nfc_leaves():
    text = "Cafe\u0301 “q” ﬁne"
    assert normalizer("ftfy")(text) == 'Café "q" fine'
    assert normalizer("nfc")(text) == "Café “q” ﬁne"


def test_ftfy__leaves_no_surrogate():
    normalizer("ftfy")("a\ud800b\udc00").encode("utf-8")


@given(texts)
def test_none__changes_nothing(text):
    assert normalizer("none")(text) == text


def test_normalizer__of_another_mode_is_refused():
    with pytest.raises(KeyError):
        normalizer("nfkc")


@given(st.one_of(texts, st.text(st.sampled_from(TRICKY + "e1 "))), st.integers(1, 5))
def test_nfc__of_pieces_is_that_of_the_whole(text, piece_chars):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(normalization, "PIECE_CHARS", piece_chars)
        pieces = list(normalization.pieces_to_compose(text))
        assert nfc(text) == unicodedata.normalize("NFC", text)
    assert "".join(pieces) == text
    assert all(pieces)
