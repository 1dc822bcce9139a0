"""Cleaning in the kernel is cleaning in Python, character by character."""

import naive
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpusmill.kernels.clean import clean_text, count_cleaned
from corpusmill.text.columns import TextColumn
from corpusmill.text.unicode_tables import character_table

# What lower-casing and cleaning treat specially: sigmas, dotted i, case-ignorable characters
# (marks, soft hyphen, apostrophe, modifier letters), spaces of all kinds, punctuation.
TRICKY = "ΣσςİıIiaAß'.:·\u0307\u0301\u00ad\u200b\u2019ʰᵃͅ \t\n\x1c\x85\u00a0\u2028\u3000-!_—𝐀Ǆ水😀"
EVERY_CHARACTER = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
texts = st.text(st.one_of(st.sampled_from(TRICKY), st.characters(exclude_categories=["Cs"])))


def cleaned(text: str, limit: int | None = None) -> str:
    data = np.frombuffer(text.encode() or b"\0", np.uint8)
    size = len(text.encode())
    limit = size if limit is None else limit
    chars = np.full(min(size, limit + 1) + 2, 0xFFFFFFFF, np.uint32)
    n = clean_text(data, 0, size, character_table(), limit, chars)
    return chars[:n].astype("<u4").tobytes().decode("utf-32-le")


def counted(texts: list[str], limit: int) -> list[int]:
    column = TextColumn.of(pa.array(texts, pa.large_string()))
    counts = np.zeros(len(texts), np.uint32)
    count_cleaned(column.data, column.offsets, character_table(), limit, counts)
    return counts.tolist()


@settings(max_examples=500)
@given(texts)
@example("ΑΣ ΣΑΣ'Σ. ΑΣ'")
@example("İ")
@example("\u0307Σ")
def test_clean_text__equals_naive(text):
    assert cleaned(text) == naive.clean(text)


# {} stands for every code point in turn; ASCII spaces between keep the places apart.
@pytest.mark.parametrize(
    "context", ["{}", "a{}b", "a{}Σ", "aΣ{}", "aΣ{}b", "{}Σ{}", "Σ{}Σb", " {} ", "'{}Σ"]
)
def test_clean_text__equals_naive_for_every_code_point(context):
    bulk = " ".join(context.replace("{}", character) for character in EVERY_CHARACTER)
    assert cleaned(bulk) == naive.clean(bulk)


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "!?", " - ", "a", " a", "a ", "a - b"])
def test_clean_text__equals_naive_at_the_edges(text):
    assert cleaned(text) == naive.clean(text)


@given(st.lists(texts, max_size=4), st.integers(0, 12))
def test_count_cleaned__is_the_length_up_to_the_limit(texts, limit):
    expected = [min(len(naive.clean(text)), limit) for text in texts]
    assert counted(texts, limit) == expected


@pytest.mark.parametrize("ending", ["", " ", "  ", "!", " !", "İ", " İ", "a", "Σ "])
@pytest.mark.parametrize("limit", [0, 1, 4, 5, 6, 7])
def test_count_cleaned__is_exact_around_the_limit(ending, limit):
    text = "abcde" + ending
    assert counted([text, "x"], limit) == [min(len(naive.clean(text)), limit), min(1, limit)]


@given(texts, st.integers(0, 12))
def test_clean_text__stops_early_only_beyond_the_limit(text, limit):
    got, expected = cleaned(text, limit), naive.clean(text)
    assert got.rstrip(" ") == expected[: len(got)].rstrip(" ")
    assert got == expected or len(got) > limit


def test_count_cleaned__of_no_documents_is_empty():
    assert counted([], 200) == []
