"""Edges of all slices together are those of comparing all documents with all."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import naive
import numpy as np
import pytest
from effort import examples
from handmade import candidate_files, verdict_file
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.decide.fates import KEPT
from corpusmill.mill.dedup.candidates import FAR_APART, identical_edges, looked_up, similar_edges
from corpusmill.mill.dedup.edges import IDENTICAL
from corpusmill.mill.dedup.lsh import count_entries, save_bands
from corpusmill.mill.dedup.order import Preference
from corpusmill.mill.storage.arrays import save_array
from corpusmill.mill.storage.buckets import Slice, bounded_slices, bucket_slices

BANDS, ROWS = 3, 2
PERMUTATIONS = BANDS * ROWS + 1
ANY_ORDER = Preference({"s": None}, {"s": 1}, None, None)
sketch = st.lists(st.integers(0, 2), min_size=PERMUTATIONS, max_size=PERMUTATIONS)


@st.composite
def corpora(draw):
    """Sketches of a few texts, and parts of documents that have them."""
    sketches = draw(st.lists(sketch, min_size=1, max_size=10))
    text = st.integers(0, len(sketches) - 1)
    return sketches, draw(st.lists(st.lists(text, max_size=8), min_size=1, max_size=4))


def text_of(parts: list[list[int]]) -> dict[int, int]:
    return {
        number << 32 | row: text
        for number, part in enumerate(parts)
        for row, text in enumerate(part)
    }


def all_slices(buckets: int, bands: int) -> list[Slice]:
    return [s for bucket in range(buckets) for s in bucket_slices(bucket, buckets, bands)]


def similar_of_all(files, least: int, buckets: int = 1, most: int = 1000) -> list[tuple]:
    banded, _, corpus = files
    return [
        edge
        for share in all_slices(buckets, BANDS)
        for piece in bounded_slices(share, most, partial(count_entries, banded))
        for edge in similar_edges(banded, piece, corpus, ROWS, least, ANY_ORDER).tolist()
    ]


def identical_of_all(files, buckets: int = 1) -> list[tuple]:
    _, digested, corpus = files
    shares = all_slices(buckets, 1)
    return [
        e for share in shares for e in identical_edges(digested, share, corpus.digests).tolist()
    ]


buckets = st.sampled_from([1, 2, 3, 7, 20])


@examples(100)
@given(corpora(), buckets)
def test_identical_edges__are_a_star_of_every_text(corpus, buckets):
    sketches, parts = corpus
    with TemporaryDirectory() as folder:
        files = candidate_files(folder, parts, sketches, BANDS, ROWS)
        got = identical_of_all(files, buckets)
    expected = naive.identical_pairs(text_of(parts))
    assert sorted(got) == [(a, b, IDENTICAL) for a, b in expected]


@examples(60)
@given(corpora(), buckets, st.integers(0, PERMUTATIONS), st.sampled_from([1, 3, 1000]))
def test_similar_edges__are_all_pairs_that_share_a_band_each_once(corpus, buckets, least, most):
    sketches, parts = corpus
    with TemporaryDirectory() as folder:
        files = candidate_files(folder, parts, sketches, BANDS, ROWS)
        got = similar_of_all(files, least, buckets, most)
    assert sorted(got) == naive.similar_pairs(text_of(parts), sketches, BANDS, ROWS, least)


def test_similar_edges__of_one_slice_are_sorted(tmp_path):
    sketches = np.random.default_rng(1).integers(0, 2, (30, PERMUTATIONS)).tolist()
    parts = [list(range(15, 30)), [], list(range(15))]
    banded, _, corpus = candidate_files(tmp_path, parts, sketches, BANDS, ROWS)
    whole = Slice(0, 0, 1 << 64)
    edges = similar_edges(banded, whole, corpus, ROWS, 0, ANY_ORDER).tolist()
    assert edges == sorted(edges)
    assert len(edges) > 50


def test_identical_edges__tell_digests_apart_that_begin_alike(tmp_path):
    _, digested, corpus = candidate_files(
        tmp_path, [[0, 1, 2, 0, 1, 2]], [[0] * PERMUTATIONS] * 3, BANDS, ROWS
    )
    digests = np.zeros((6, 32), np.uint8)
    digests[[1, 4], 31] = digests[[2, 5], 8] = 1
    save_array(corpus.digests[0], digests)
    keys = [np.zeros(6, np.uint64)]  # all are equal
    save_bands(digested[0].path, keys, 1, np.arange(6, dtype=np.uint32))
    got = identical_edges(digested, Slice(0, 0, 1 << 64), corpus.digests)
    assert got.tolist() == [(n, n + 3, IDENTICAL) for n in range(3)]


def test_looked_up__are_the_rows_of_the_ids(tmp_path):
    tables = [np.arange(12).reshape(4, 3) + 100 * n for n in range(3)]
    files = [tmp_path / f"{n}.npy" for n in range(3)]
    for file, table in zip(files, tables, strict=True):
        save_array(file, table)
    ids = np.array([2 << 32 | 1, 3, 2 << 32 | 3, 0, 3], np.uint64)
    expected = np.stack([tables[i >> 32][i & 3] for i in ids.tolist()])
    assert (looked_up(files, ids) == expected).all()
    assert (looked_up(files, ids, 1) == expected[:, 1]).all()


def test_looked_up__rows_far_apart_are_the_same_rows(tmp_path):
    table = np.arange(3000 * 2, dtype=np.uint32).reshape(3000, 2)
    save_array(tmp_path / "one.npy", table)
    ids = np.array([2999, 7, 7, 1500], np.uint64)
    assert ids.size * FAR_APART < len(table)
    assert (looked_up([tmp_path / "one.npy"], ids) == table[ids.astype(int)]).all()


def clique(folder: Path, sketches: list[list[int]], sizes: list[int]):
    """One part of different texts, the best of which is the longest."""
    verdict_file(folder / "0.verdicts", [KEPT] * len(sizes), ["s"] * len(sizes), sizes)
    return candidate_files(folder, [list(range(len(sizes)))], sketches, BANDS, ROWS)


@pytest.mark.parametrize("most", [1, 2, 5])
def test_similar_edges__pair_all_of_a_large_group_with_the_best(tmp_path, monkeypatch, most):
    monkeypatch.setattr("corpusmill.mill.dedup.candidates.MOST_PARTNERS", most)
    sizes = np.random.default_rng(1).permutation(40).tolist()
    files = clique(tmp_path, [[3] * PERMUTATIONS] * 40, sizes)
    edges = similar_of_all(files, 1)
    ranked = sorted(range(40), key=lambda n: -sizes[n])
    expected = {
        (min(one, other), max(one, other), PERMUTATIONS)
        for place, one in enumerate(ranked)
        for other in ranked[: min(place, most)]
    }
    assert set(edges) == expected
    assert len(edges) == len(expected)


@pytest.mark.parametrize("chunk", [1, 3, 7, 100])
def test_similar_edges__do_not_depend_on_the_chunk(tmp_path, monkeypatch, chunk):
    sketches = np.random.default_rng(2).integers(0, 3, (60, PERMUTATIONS)).tolist()
    files = clique(tmp_path, sketches, list(range(60)))
    expected = similar_of_all(files, 3)
    monkeypatch.setattr("corpusmill.mill.dedup.candidates.CHUNK_ROWS", chunk)
    assert similar_of_all(files, 3) == expected
    assert len(expected) > 100


def members_of(edges: list[tuple]) -> list[int]:
    root = naive.roots({end for edge in edges for end in edge[:2]}, [edge[:2] for edge in edges])
    labels = list(root.values())
    return sorted(labels.count(label) for label in set(labels))


def test_similar_edges__cut_a_group_of_equal_sketches_by_ids(tmp_path, monkeypatch):
    monkeypatch.setattr("corpusmill.mill.dedup.candidates.MOST_MEMBERS", 8)
    files = clique(tmp_path, [[3] * PERMUTATIONS] * 20, list(range(20)))
    banded, _, corpus = files
    for band, count in ((0, 28 + 28 + 6), (1, 0), (2, 0)):
        share = Slice(band, 0, 1 << 64)
        edges = similar_edges(banded, share, corpus, ROWS, 0, ANY_ORDER).tolist()
        assert len(edges) == count
    assert members_of(similar_of_all(files, 0)) == [4, 8, 8]


def test_similar_edges__cut_a_large_group_by_further_values(tmp_path, monkeypatch):
    monkeypatch.setattr("corpusmill.mill.dedup.candidates.MOST_MEMBERS", 4)
    # They share the first band; the next two values tell them apart by fours.
    sketches = [[0, 0, n // 8, n // 4 % 2, n, n, n] for n in range(16)]
    edges = similar_of_all(clique(tmp_path, sketches, [1] * 16), 2)
    expected = [(a, b, 4) for a in range(16) for b in range(a + 1, 16) if a // 4 == b // 4]
    assert sorted(edge for edge in edges if edge[2] == 4) == expected


def test_similar_edges__pair_a_large_group_with_the_text_whose_copy_is_best(tmp_path, monkeypatch):
    monkeypatch.setattr("corpusmill.mill.dedup.candidates.MOST_PARTNERS", 2)
    # Text 0 has the worst document of part 0 and, in part 1, the best of all.
    priority = {"poor": 9, "s": 5, "best": 1}
    preference = Preference(priority, dict.fromkeys(priority, 1), None, None)
    verdict_file(tmp_path / "0.verdicts", [KEPT] * 6, ["poor"] + ["s"] * 5, [1] * 6)
    verdict_file(tmp_path / "1.verdicts", [KEPT], ["best"], [1])
    banded, _, corpus = candidate_files(
        tmp_path, [list(range(6)), [0]], [[3] * PERMUTATIONS] * 6, BANDS, ROWS
    )
    edges = similar_edges(banded, Slice(0, 0, 1 << 64), corpus, ROWS, 1, preference)
    partners = {b for a, b in edges[["a", "b"]].tolist() if a == 0}
    assert partners == {1, 2, 3, 4, 5}


def test_similar_edges__find_a_pair_that_an_earlier_band_had_no_room_for(tmp_path, monkeypatch):
    monkeypatch.setattr("corpusmill.mill.dedup.candidates.MOST_PARTNERS", 2)
    # All share band 0; the last two share band 2 too, and nobody else does.
    sketches = [[0, 0, 1, n, n, n, n] for n in (0, 1, 2, 9, 9)]
    sketches[3][2], sketches[4][2] = 2, 3
    edges = similar_of_all(clique(tmp_path, sketches, [9, 8, 7, 6, 5]), 2)
    assert (3, 4, 6) in edges
