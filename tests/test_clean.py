"""Cleaning in the kernel is cleaning in Python, character by character."""

import naive
import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st

from corpusmill.kernels.clean import clean_text, count_cleaned
from corpusmill.mill.read.text_column import TextColumn
from corpusmill.mill.read.unicode_tables import character_table

# What lower-casing and cleaning treat specially: sigmas, dotted i, case-ignorable characters
# (marks, soft hyphen, apostrophe, modifier letters), spaces of all kinds, punctuation.
TRICKY = "ΣσςİıIiaAß'.:·\u0307\u0301\u00ad\u200b\u2019ʰᵃͅ \t\n\x1c\x85\u00a0\u2028\u3000-!_—𝐀Ǆ水😀"
EVERY_CHARACTER = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
texts = st.text(st.one_of(st.sampled_from(TRICKY), st.characters(exclude_categories=["Cs"])))


def cleaned(text: str) -> str:
    data = np.frombuffer(text.encode() or b"\0", np.uint8)
    size = len(text.encode())
    chars = np.full(size + 2, 0xFFFFFFFF, np.uint32)
    n = clean_text(data, 0, size, character_table(), chars)
    return chars[:n].astype("<u4").tobytes().decode("utf-32-le")


def counted(texts: list[str]) -> list[int]:
    column = TextColumn.of(pa.array(texts, pa.large_string()))
    counts = np.zeros(len(texts), np.uint32)
    count_cleaned(column.data, column.offsets, character_table(), counts)
    return counts.tolist()


@examples(500)
@given(texts)
@example("ΑΣ ΣΑΣ'Σ. ΑΣ'")
@example("İ")
@example("\u0307Σ")
def test_clean_text__equals_naive(text):
    assert cleaned(text) == naive.clean(text)


# {} stands for every code point in turn; ASCII spaces between keep the places apart.
@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "context", ["{}", "a{}b", "a{}Σ", "aΣ{}", "aΣ{}b", "{}Σ{}", "Σ{}Σb", " {} ", "'{}Σ"]
)
def test_clean_text__equals_naive_for_every_code_point(context):
    bulk = " ".join(context.replace("{}", character) for character in EVERY_CHARACTER)
    assert cleaned(bulk) == naive.clean(bulk)


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "!?", " - ", "a", " a", "a ", "a - b"])
def test_clean_text__equals_naive_at_the_edges(text):
    assert cleaned(text) == naive.clean(text)


@given(st.lists(texts, max_size=4))
@example(["a - b", " !", "İ", "水 。 水", ""])
def test_count_cleaned__is_the_length_of_naive(texts):
    assert counted(texts) == [len(naive.clean(text)) for text in texts]


@pytest.mark.some(2)
@pytest.mark.one_in(3)
@pytest.mark.parametrize("context", ["{}", "a{}b", "a {} b", "{}Σ{}", " {} "])
def test_count_cleaned__equals_naive_for_every_code_point(context):
    texts = [context.replace("{}", character) for character in EVERY_CHARACTER]
    assert counted(texts) == [len(naive.clean(text)) for text in texts]
