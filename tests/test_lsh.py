"""Sorted keys, and stars of shared ones: for any buckets the groups of comparing all with all."""

import itertools
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import naive
import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.dedup.candidates import heads_of_groups, same_key_edges, star_edges
from corpusmill.mill.dedup.edges import SAME_KEY
from corpusmill.mill.dedup.lsh import (
    INCREMENT,
    Bands,
    band_keys,
    count_entries,
    entries_in,
    sorted_bands,
    sorted_digests,
)
from corpusmill.mill.read.ids import ids_of_part
from corpusmill.mill.storage.arrays import save_array
from corpusmill.mill.storage.buckets import Slice, bounded_slices, bucket_slices

BANDS, ROWS = 3, 2
ALL_KEYS = (0, 1 << 64)
# Values from so few that bands often meet; a sketch has one column more than the bands use.
sketches = st.lists(
    st.lists(st.integers(0, 2), min_size=BANDS * ROWS + 1, max_size=BANDS * ROWS + 1), max_size=12
)


def signatures(part: list[list[int]]) -> np.ndarray:
    return np.array(part, np.uint32).reshape(-1, BANDS * ROWS + 1)


def opened(folder, parts: list[np.ndarray], chosen: list[np.ndarray] | None = None) -> list[Bands]:
    bands = []
    for number, table in enumerate(parts):
        rows = np.arange(len(table), dtype=np.uint32) if chosen is None else chosen[number]
        path = Path(folder) / f"{number}.bands"
        sorted_bands(table, rows, BANDS, ROWS, path)
        bands.append(Bands(number, path))
    return bands


def random_parts(seed: int, sizes: list[int], values: int = 4) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, values, (n, BANDS * ROWS + 1), dtype=np.uint32) for n in sizes]


def pairs_of_slice(parts: list[Bands], share: Slice) -> np.ndarray:
    edges = same_key_edges(parts, share)
    assert (edges["matches"] == SAME_KEY).all()
    return np.column_stack([edges["a"], edges["b"]])


def pairs_of_buckets(parts: list[Bands], buckets: int) -> list[list[int]]:
    shares = [s for bucket in range(buckets) for s in bucket_slices(bucket, buckets, BANDS)]
    return [pair for share in shares for pair in pairs_of_slice(parts, share).tolist()]


def expected_groups(parts: list[np.ndarray]) -> dict[int, int]:
    sketch = {}
    for number, table in enumerate(parts):
        sketch |= zip(ids_of_part(number, len(table)).tolist(), table.tolist(), strict=True)
    pairs = [
        (a, b)
        for a, b in itertools.combinations(sketch, 2)
        if naive.shares_band(sketch[a], sketch[b], BANDS, ROWS)
    ]
    return naive.roots(sketch, pairs)


def test_band_keys__are_equal_just_where_slices_are():
    (table,) = random_parts(1, [300])
    keys = band_keys(table, np.arange(300, dtype=np.uint32), 2, 2)
    key_of = {}
    for row, key in zip(table[:, 2:4].tolist(), keys.tolist(), strict=True):
        assert key_of.setdefault(tuple(row), key) == key
    assert len(set(key_of.values())) == len(key_of) == 16


def test_band_keys__equal_naive():
    table = np.array([[7, 2**32 - 1, 0]], np.uint32)
    keys, expected = band_keys(table, np.zeros(1, np.uint32), 0, 3), int(INCREMENT)
    for value in table[0].tolist():
        expected = naive.mixed((expected + int(INCREMENT) + value) & naive.MASK_64)
    assert keys.tolist() == [expected]


def test_star_edges__go_from_the_first_of_each_group():
    keys = np.array([1, 1, 1, 2, 3, 3], np.uint64)
    ids = np.array([4, 5, 9, 1, 0, 7], np.uint64)
    edges = star_edges(heads_of_groups(keys), ids, 7)
    assert edges.tolist() == [(0, 7, 7), (4, 5, 7), (4, 9, 7)]
    assert star_edges(np.zeros(0, bool), ids[:0], 7).size == 0


def test_bands__read_back_what_was_sorted(tmp_path):
    (table,) = random_parts(2, [50])
    rows = np.arange(1, 50, 2, dtype=np.uint32)
    (bands,) = opened(tmp_path, [table], [rows])
    all_keys, all_rows = (table.all() for table in bands.tables())
    assert (all_keys.shape, all_rows.shape) == ((BANDS, 25), (BANDS, 25))
    assert (all_keys.dtype, all_rows.dtype) == (np.uint64, np.uint32)
    for band in range(BANDS):
        keys = band_keys(table, rows, band * ROWS, ROWS)
        expected = sorted(zip(keys.tolist(), rows.tolist(), strict=True))
        got = zip(all_keys[band].tolist(), all_rows[band].tolist(), strict=True)
        assert list(got) == expected


def test_bands__refuse_half_a_file(tmp_path):
    save_array(tmp_path / "0.npy", np.zeros((BANDS, 4), np.uint64))
    with pytest.raises(ValueError, match="EOF: reading magic string"):
        Bands(0, tmp_path / "0.npy").tables()


@examples(60)
@given(st.lists(sketches, min_size=1, max_size=3), st.sampled_from([1, 2, 3, 7, 20]))
def test_pairs_of_slice__equal_naive_groups(tables, buckets):
    parts = [signatures(table) for table in tables]
    with TemporaryDirectory() as folder:
        pairs = pairs_of_buckets(opened(folder, parts), buckets)
    expected = expected_groups(parts)
    assert naive.roots(expected, pairs) == expected


def test_pairs_of_slice__have_one_edge_less_than_documents_per_group(tmp_path):
    table = np.repeat(random_parts(5, [2])[0], [4, 3], axis=0)
    table[4:, :] += 10
    pairs = pairs_of_slice(opened(tmp_path, [table, table]), Slice(1, *ALL_KEYS))
    assert len(pairs) == (8 - 1) + (6 - 1)
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert sorted(set(pairs[:, 0].tolist())) == [0, 4]  # each group's least id


@pytest.mark.parametrize("most", [1, 7, 50, 10_000])
def test_bounded_slices__give_the_same_pairs_in_bounded_pieces(tmp_path, most):
    parts = opened(tmp_path, random_parts(5, [60, 40]))
    share = Slice(0, *ALL_KEYS)
    pieces = list(bounded_slices(share, most, partial(count_entries, parts)))
    largest = max(
        np.unique(np.concatenate([part.of_band(0)[0].all() for part in parts]), return_counts=True)[
            1
        ]
    )
    assert all(count_entries(parts, piece) <= max(most, largest) for piece in pieces)
    got = np.concatenate([pairs_of_slice(parts, piece) for piece in pieces])
    assert sorted(got.tolist()) == pairs_of_slice(parts, share).tolist()


def test_entries_in__are_sorted_by_key_and_id(tmp_path):
    parts = opened(tmp_path, random_parts(7, [50, 0, 30], values=2))
    keys, ids = entries_in(parts, Slice(2, *ALL_KEYS))
    assert sorted(zip(keys.tolist(), ids.tolist(), strict=True)) == list(
        zip(keys.tolist(), ids.tolist(), strict=True)
    )
    assert len(set(ids.tolist())) == ids.size == 80


def test_sorted_digests__are_one_band_of_first_words(tmp_path):
    digests = np.random.default_rng(1).integers(0, 256, (9, 32), dtype=np.uint8)
    rows = np.array([1, 3, 4, 8], np.uint32)
    sorted_digests(digests, rows, tmp_path / "0")
    keys, found = Bands(0, tmp_path / "0").tables()
    heads = {int.from_bytes(digests[row, :8].tobytes(), "big"): row for row in rows.tolist()}
    assert keys.all().tolist() == [sorted(heads)]
    assert found.all().tolist() == [[heads[key] for key in sorted(heads)]]
