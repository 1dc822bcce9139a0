"""Pairs by equal values: as comparing all with all, whatever the blocks."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.kernels.similarity import BLOCK, count_pairs

PERMUTATIONS = 5
sketches = st.lists(
    st.lists(st.sampled_from([0, 1, 2**32 - 1]), min_size=PERMUTATIONS, max_size=PERMUTATIONS),
    max_size=12,
)


def counted(signatures: np.ndarray) -> list[int]:
    counts = np.zeros(signatures.shape[1] + 1, np.int64)
    count_pairs(signatures, counts)
    return counts.tolist()


@given(sketches)
def test_count_pairs__equal_naive(table):
    got = counted(np.array(table, np.uint32).reshape(-1, PERMUTATIONS))
    assert got == naive.pairs_by_equal_values(table, PERMUTATIONS)


@pytest.mark.parametrize("documents", [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3])
def test_count_pairs__take_every_pair_of_all_blocks(documents):
    table = np.random.default_rng(documents).integers(0, 3, (documents, 7), dtype=np.uint32)
    assert counted(table) == naive.pairs_by_equal_values(table.tolist(), 7)


def test_count_pairs__add_to_what_is_there():
    counts = np.full(3, 10, np.int64)
    count_pairs(np.zeros((4, 2), np.uint32), counts)
    assert counts.tolist() == [10, 10, 16]
