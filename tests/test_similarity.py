"""Shingle sets in the kernel are Python's sets; pairs of groups are those of comparing all."""

import itertools

import naive
import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.kernels.similarity import (
    Texts,
    equal_values,
    measure_pairs,
    pairs_of_groups,
    shares_earlier_band,
    shingle_set,
)
from corpusmill.mill.read.text_column import TextColumn, string_array
from corpusmill.mill.read.unicode_tables import character_table

WIDTHS = [1, 3, 13]
# No NUL: as a leading digit of the polynomial it weighs nothing, in the sketches too.
characters = st.one_of(
    st.sampled_from("abAB .,\t\u3000ßΣσςİı水😀\U0010ffff"),
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
)
few_characters = st.text("ab ,", max_size=40)
texts = st.one_of(st.text(characters, max_size=60), few_characters)


def set_in_kernel(text: str, width: int):
    # Something stands before and behind the text, as in a column.
    data = np.frombuffer(b"zz" + text.encode() + b"zz", np.uint8)
    return shingle_set(data, 2, data.size - 2, character_table(), width)


def column(several: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    offsets, data = TextColumn.of(string_array([text.encode() for text in several]))
    return data, offsets[:-1], offsets[1:]


def measured(
    several: list[str], pairs: list[tuple[int, int]], width: int, threshold=0
) -> list[float]:
    values = np.empty(len(pairs))
    both = np.array(pairs, np.int64).reshape(-1, 2)
    measure_pairs(both, threshold, Texts(*column(several), character_table(), width), values)
    return values.tolist()


@pytest.mark.parametrize("width", WIDTHS)
@examples(300)
@given(text=texts)
def test_shingle_set__has_as_many_as_pythons(width, text):
    slots, size = set_in_kernel(text, width)
    assert size == len(naive.shingles(text, width)) == np.count_nonzero(slots)
    assert slots.size >= 2 * size


@pytest.mark.some(3)
@pytest.mark.parametrize("width", WIDTHS)
@examples(300)
@given(one=texts, other=texts, cut=st.integers(0, 60), tail=few_characters)
def test_jaccard__is_that_of_pythons_sets(width, one, other, cut, tail):
    several = [one, other, one[:cut] + tail, one[cut:], other.upper(), one + other]
    pairs = list(itertools.product(range(len(several)), repeat=2))
    sets = [naive.shingles(text, width) for text in several]
    expected = [naive.jaccard(sets[a], sets[b]) for a, b in pairs]
    assert measured(several, pairs, width) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("", "", 0), (" \t", "...", 0), ("", "a", 0), ("a", "a", 1), ("a", "A.", 1),
        ("a", "ab", 0), ("abc" * 50, "abc" * 90, 1), ("aaaaaaaaaaaaa", "a" * 5000, 1),
        ("ABCDEFGHIJKLMNO", "abcdefghijklmn", 2 / 3),
    ],
)  # fmt: skip
def test_jaccard__of_texts_that_are_short_or_repeat_themselves(one, other, expected):
    assert measured([one, other], [(0, 1), (1, 0)], 13) == [expected, expected]


@examples(200)
@given(one=few_characters, other=few_characters, cut=st.integers(0, 40), at=st.floats(0, 1))
def test_jaccard__below_the_threshold_is_told_apart_and_no_more(one, other, cut, at):
    several = [one, other, one[:cut] + other, one[cut:], one + other]
    pairs = list(itertools.product(range(len(several)), repeat=2))
    sets = [naive.shingles(text, 3) for text in several]
    exact = [naive.jaccard(sets[a], sets[b]) for a, b in pairs]
    for threshold in (at, *exact):  # just at it, too
        expected = [value if value >= threshold else -1 for value in exact]
        assert measured(several, pairs, 3, threshold) == expected


def test_jaccard__of_long_texts():
    rng = np.random.default_rng(1)
    one = "".join(rng.choice(list("abcdefgh 水"), 20_000))
    other = one[:9_000] + "X" + one[9_000:15_000]
    expected = naive.jaccard(naive.shingles(one, 13), naive.shingles(other, 13))
    assert measured([one, other], [(0, 1)], 13) == [expected]


def test_measure_pairs__of_no_pairs():
    assert measured(["a"], [], 3) == []
    assert measured([], [], 3) == []


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=300))
def test_equal_values__equals_naive(values):
    one, other = np.array(values, np.uint32).T
    got = equal_values(np.ascontiguousarray(one), np.ascontiguousarray(other))
    assert got == naive.equal_values(one.tolist(), other.tolist())


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=9, max_size=9),
    st.integers(1, 3), st.data(),
)  # fmt: skip
def test_shares_earlier_band__equals_naive(values, width, data):
    one, other = np.array(values, np.uint32).T.copy()
    band = data.draw(st.integers(0, 9 // width))
    expected = naive.shares_band(one.tolist(), other.tolist(), band, width)
    assert shares_earlier_band(one, other, band, width) == expected


def naive_pairs(signatures, starts, band, width, least, most):
    found = []
    for first, last in itertools.pairwise(starts):
        for j in range(first, last):
            equal = {i: naive.equal_values(signatures[i], signatures[j]) for i in range(first, j)}
            likely = sorted((i for i in equal if equal[i] >= least), key=lambda i: (-equal[i], i))
            chosen = likely[:most]
            if len(likely) > most and first in likely and first not in chosen:
                chosen[-1] = first
            found += [
                (i, j, equal[i])
                for i in chosen
                if not naive.shares_band(signatures[i], signatures[j], band, width)
            ]
    return sorted(found)


@examples(200)
@given(
    sizes=st.lists(st.integers(0, 7), max_size=5), seed=st.integers(0, 99),
    band=st.integers(0, 2), least=st.integers(0, 6), most=st.integers(1, 6),
)  # fmt: skip
def test_pairs_of_groups__equal_naive(sizes, seed, band, least, most):
    table = np.random.default_rng(seed).integers(0, 2, (sum(sizes), 6), dtype=np.uint32)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    got = pairs_of_groups(table, starts, band, 2, least, most)
    expected = naive_pairs(table.tolist(), starts.tolist(), band, 2, least, most)
    assert sorted(map(tuple, got.tolist())) == expected
