"""Both engines find the components that naive label passing finds, and bins hold them whole."""

import naive
import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.kernels.components import PAIRS_AT_ONCE
from corpusmill.mill.dedup.components import ENGINES, bins_of, document_blocks, paired, roots_among
from corpusmill.mill.read.ids import dense_numbers, starts_of_parts

part_sizes = st.lists(st.integers(0, 8), min_size=1, max_size=5).filter(any)


@st.composite
def graphs(draw):
    """Part sizes, and pairs of dense document numbers, least first or not."""
    sizes = draw(part_sizes)
    numbers = st.integers(0, sum(sizes) - 1)
    return sizes, draw(st.lists(st.tuples(numbers, numbers), max_size=12))


def roots_of(engine: str, sizes: list[int], pairs: list[tuple[int, int]], blocks: int = 1):
    starts = starts_of_parts(sizes)
    ids_of = [part << 32 | row for part, size in enumerate(sizes) for row in range(size)]
    ids = np.array([(ids_of[a], ids_of[b]) for a, b in pairs], np.uint64).reshape(-1, 2)
    return ENGINES[engine](np.array_split(ids, blocks), starts)


@pytest.mark.parametrize("engine", ENGINES)
@examples(80)
@given(graph=graphs())
def test_components__equal_naive(engine, graph):
    sizes, pairs = graph
    expected = naive.roots(range(sum(sizes)), pairs)
    assert roots_of(engine, sizes, pairs).tolist() == [expected[n] for n in sorted(expected)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("blocks", [1, 2, 5])
def test_components__do_not_depend_on_order_or_blocks(engine, blocks):
    rng = np.random.default_rng(1)
    pairs = rng.integers(0, 300, (200, 2))
    expected = roots_of(engine, [100, 200], pairs.tolist())
    shuffled = rng.permutation(pairs)[:, ::-1].tolist()
    assert (roots_of(engine, [100, 200], shuffled, blocks) == expected).all()


@pytest.mark.parametrize("pairs", [n * PAIRS_AT_ONCE + k for n in (1, 5) for k in (-1, 0, 1, 77)])
@pytest.mark.parametrize("documents", [20, 400, 3000])
def test_union_find__equals_naive_over_many_pairs(documents, pairs):
    ends = np.random.default_rng(pairs).integers(0, documents, (pairs, 2)).tolist()
    expected = naive.roots(range(documents), ends)
    got = roots_of("union_find", [7, documents - 7], ends)
    assert got.tolist() == [expected[n] for n in range(documents)]


@pytest.mark.parametrize("step", [1, -1])
def test_union_find__climbs_chains_longer_than_what_is_read_at_once(step):
    documents = 3 * PAIRS_AT_ONCE + 7
    chain = [(n, n + 1) for n in range(documents - 1)][::step]
    assert not roots_of("union_find", [documents], chain).any()


@given(graph=graphs())
def test_roots_among__equal_naive(graph):
    sizes, pairs = graph
    expected = naive.roots(range(sum(sizes)), pairs)
    one, other = np.array(pairs, np.int64).reshape(-1, 2).T
    assert roots_among(sum(sizes), one, other).tolist() == [expected[n] for n in sorted(expected)]


@given(part_sizes)
def test_dense_numbers__count_the_documents_of_all_parts(sizes):
    ids = [part << 32 | row for part, size in enumerate(sizes) for row in range(size)]
    got = dense_numbers(np.array(ids, np.uint64), starts_of_parts(sizes))
    assert got.tolist() == list(range(sum(sizes)))


@given(graph=graphs(), bins=st.integers(1, 5), data=st.data())
def test_bins_of__hold_every_component_whole_and_nobody_else(graph, bins, data):
    sizes, pairs = graph
    documents = sum(sizes)
    needs = data.draw(st.lists(st.booleans(), min_size=documents, max_size=documents))
    root = naive.roots(range(documents), pairs)
    roots = np.array([root[n] for n in range(documents)])
    labels = bins_of(roots, paired(roots), np.array(needs), bins).tolist()
    bin_of = {}
    for n, label in enumerate(labels):
        alone = list(root.values()).count(root[n]) == 1
        assert (label == 0) == alone
        if not alone:
            assert (label - 1) % 2 == needs[n]
            assert bin_of.setdefault(root[n], (label - 1) // 2) == (label - 1) // 2 < bins


def test_bins_of__do_not_depend_on_the_block(monkeypatch):
    roots = np.array([0, 0, 2, 2, 4, 0, 6, 7, 7, 2])
    needs = np.arange(10) % 2 == 0
    in_pair = paired(roots)
    expected = bins_of(roots, in_pair, needs, 3).tolist()
    monkeypatch.setattr("corpusmill.mill.dedup.components.BLOCK_DOCUMENTS", 3)
    assert paired(roots).tolist() == in_pair.tolist()
    blocks = [bins_of(roots[b], in_pair[b], needs[b], 3) for b in document_blocks(roots.size)]
    assert [len(block) for block in blocks] == [3, 3, 3, 1]
    assert np.concatenate(blocks).tolist() == expected
