"""Both engines find the components that naive label passing finds, and the same winners."""

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusmill.components import (
    BLOCK_PAIRS,
    ENGINES,
    Candidates,
    as_ids,
    pair_blocks,
    winners_of,
)

part_sizes = st.lists(st.integers(0, 8), min_size=1, max_size=5).filter(any)


def starts_of(sizes: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


@st.composite
def graphs(draw):
    """Part sizes, and pairs of dense document numbers, least first or not."""
    sizes = draw(part_sizes)
    numbers = st.integers(0, sum(sizes) - 1)
    return sizes, draw(st.lists(st.tuples(numbers, numbers), max_size=12))


def roots_of(engine: str, sizes: list[int], pairs: list[tuple[int, int]], blocks: int = 1):
    starts = starts_of(sizes)
    numbers = np.array(pairs, np.int64).reshape(-1, 2)
    ids = as_ids(numbers.ravel(), starts).reshape(-1, 2)
    return ENGINES[engine](np.array_split(ids, blocks), starts)


def elected(sizes, root, worse, lengths) -> list[int]:
    starts = starts_of(sizes)

    def candidates(part: int) -> Candidates:
        rows = slice(starts[part], starts[part + 1])
        return Candidates(np.array(worse, np.uint64)[rows], np.array(lengths, np.uint64)[rows])

    ids = np.concatenate(list(winners_of(np.array(root), starts, candidates)))
    return [int(starts[id >> 32]) + (id & 0xFFFFFFFF) for id in ids.tolist()]


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=80)
@given(graph=graphs())
def test_components__equal_naive(engine, graph):
    sizes, pairs = graph
    expected = naive.roots(range(sum(sizes)), pairs)
    assert roots_of(engine, sizes, pairs).tolist() == [expected[n] for n in sorted(expected)]


@pytest.mark.parametrize("engine", ENGINES)
def test_components__root_is_the_least_member(engine):
    chain = [(5, 9), (9, 7), (7, 3), (3, 8)]
    got = roots_of(engine, [4, 0, 6], chain)
    assert got.tolist() == [0, 1, 2, 3, 4, 3, 6, 3, 3, 3]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("blocks", [1, 2, 5])
def test_components__do_not_depend_on_order_or_blocks(engine, blocks):
    rng = np.random.default_rng(1)
    pairs = rng.integers(0, 300, (200, 2))
    expected = roots_of(engine, [100, 200], pairs.tolist())
    shuffled = rng.permutation(pairs)[:, ::-1].tolist()
    assert (roots_of(engine, [100, 200], shuffled, blocks) == expected).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_components__without_pairs_everyone_is_alone(engine):
    assert roots_of(engine, [2, 1], []).tolist() == [0, 1, 2]


@settings(max_examples=150)
@given(graph=graphs(), data=st.data())
def test_winners_of__equal_naive(graph, data):
    sizes, pairs = graph
    one_each = {"min_size": sum(sizes), "max_size": sum(sizes)}
    worse = data.draw(st.lists(st.sampled_from([0, 1, 2, 1 << 32, (1 << 32) + 1]), **one_each))
    lengths = data.draw(st.lists(st.integers(0, 2), **one_each))
    root = naive.roots(range(sum(sizes)), pairs)
    got = elected(sizes, [root[n] for n in sorted(root)], worse, lengths)
    assert got == naive.winners(root, worse, lengths)


@pytest.mark.parametrize(
    ("worse", "lengths", "expected"),
    [
        ([1, 1, 0, 1], [9, 9, 1, 9], 2),  # the better source, however short
        ([0, 0, 0, 0], [5, 7, 6, 7], 1),  # the longest, the first of these
        ([0, 0, 0, 0], [5, 5, 5, 5], 0),  # the lowest id
        ([1 << 32, 7, 7, 1 << 32], [9, 1, 2, 9], 2),  # never one that the filter rejected
    ],
)
def test_winners_of__prefer_rank_then_length_then_id(worse, lengths, expected):
    assert elected([2, 2], [0, 0, 0, 0], worse, lengths) == [expected] * 4


@given(part_sizes)
def test_as_ids__are_part_and_row(sizes):
    numbers = np.arange(sum(sizes))
    expected = [part << 32 | row for part, size in enumerate(sizes) for row in range(size)]
    assert as_ids(numbers, starts_of(sizes)).tolist() == expected


def test_pair_blocks__give_every_pair_once(tmp_path, monkeypatch):
    monkeypatch.setattr("corpusmill.components.BLOCK_PAIRS", 3)
    files = [np.arange(2 * n, dtype=np.uint64).reshape(-1, 2) for n in (7, 0, 3)]
    for number, pairs in enumerate(files):
        np.save(tmp_path / f"{number}.npy", pairs)
    blocks = list(pair_blocks(tmp_path / f"{number}.npy" for number in range(3)))
    assert np.concatenate(blocks).tolist() == np.concatenate(files).tolist()
    assert max(map(len, blocks)) == 3 < BLOCK_PAIRS
