"""Edges are sorted records, and sketches decide only where a mistake is as improbable as said."""

import math
from fractions import Fraction

import numpy as np
import pytest
from handmade import edge_array

from corpusmill.mill.dedup.edges import (
    IDENTICAL,
    MISSED,
    MISTAKEN,
    SAME_KEY,
    certain_matches,
    edge_blocks,
    edges_from,
    edges_of,
    undecided,
)
from corpusmill.mill.read.ids import ROW_BITS
from corpusmill.mill.storage.arrays import save_array


def chance_of_fewer(matches: int, permutations: int, threshold: float) -> Fraction:
    """Exactly: that fewer sketch values are equal, of a pair just at the threshold."""
    p, n = Fraction(threshold), permutations
    return sum(
        (math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(min(matches, n + 1))),
        Fraction(0),
    )


@pytest.mark.some(3)
@pytest.mark.parametrize("permutations", [1, 2, 16, 128, 256])
@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.5, 0.8, 0.99])
def test_certain_matches__are_the_outermost_that_the_binomial_allows(permutations, threshold):
    least, enough = certain_matches(permutations, threshold)
    assert chance_of_fewer(least, permutations, threshold) <= MISSED
    assert chance_of_fewer(least + 1, permutations, threshold) > MISSED
    assert 1 - chance_of_fewer(enough, permutations, threshold) <= MISTAKEN
    assert 1 - chance_of_fewer(enough - 1, permutations, threshold) > MISTAKEN
    assert 0 <= least < permutations * threshold < enough <= permutations + 1


@pytest.mark.parametrize("threshold", [0.05, 0.8, 0.99])
def test_certain_matches__of_the_largest_sketch(threshold):
    """4,096 permutations, what the schema allows; C(4096, 2048) is no float any more."""
    least, enough = certain_matches(4096, threshold)
    spread = math.sqrt(4096 * threshold * (1 - threshold))
    assert 3 < (4096 * threshold - least) / spread < 4.5
    assert 5 < (enough - 4096 * threshold) / spread < 7.5 or enough == 4097


def test_certain_matches__without_sketches_only_equal_texts_decide():
    least, enough = certain_matches(0, 0.8)
    assert (least, enough) == (0, 1)
    edges = edge_array([(0, 1, IDENTICAL), (0, 2, SAME_KEY), (1, 2, 0)])
    assert undecided(edges, enough).tolist() == [False, False, True]


def test_edges_of__are_sorted_with_the_lesser_id_first():
    rng = np.random.default_rng(1)
    a, b = rng.permutation(400).astype(np.uint64).reshape(2, 200) % np.uint64(50)
    matches = np.arange(200)
    edges = edges_of(a, b, matches)
    assert edges.dtype.itemsize == 18
    expected = [
        (min(x, y), max(x, y), m)
        for x, y, m in zip(a.tolist(), b.tolist(), matches.tolist(), strict=True)
    ]
    assert sorted(edges.tolist()) == sorted(expected)
    pairs = [edge[:2] for edge in edges.tolist()]
    assert pairs == sorted(pairs)
    assert edges_of(a[:0], b[:0], IDENTICAL).size == 0


def saved(tmp_path, blocks: list[list[tuple]]) -> list:
    for number, edges in enumerate(blocks):
        save_array(tmp_path / f"{number}.npy", edge_array(edges))
    return [tmp_path / f"{number}.npy" for number in range(len(blocks))]


def test_edges_from__take_those_that_begin_in_the_parts(tmp_path):
    ids = [part << ROW_BITS | row for part in (0, 1, 2, 0xFFFF) for row in (0, 1, 2**32 - 1)]
    edges = [(a, b, 1) for a in ids for b in ids if a < b]
    files = saved(tmp_path, [edges[0::2], [], edges[1::2]])
    for first, last in [(0, 1), (0, 2), (1, 3), (2, 0xFFFF), (0xFFFF, 0x10000), (5, 9)]:
        got = edges_from(files, first << ROW_BITS, last << ROW_BITS)
        expected = [edge for edge in edges if first <= edge[0] >> ROW_BITS < last]
        assert sorted(got.tolist()) == expected
    assert edges_from([], 0, 1 << ROW_BITS).dtype == edge_array([]).dtype


@pytest.mark.parametrize("rows", [1, 2, 3, 100])
def test_edge_blocks__are_all_edges_in_bounded_blocks(tmp_path, progress, rows):
    edges = [(a, a + 1, a) for a in range(7)]
    blocks = list(edge_blocks(saved(tmp_path, [edges[:5], [], edges[5:]]), progress, rows))
    assert np.concatenate(blocks).tolist() == edges
    assert max(map(len, blocks)) <= rows
