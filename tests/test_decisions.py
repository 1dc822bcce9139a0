"""Splits, copies and order: by the document alone, in the wanted shares."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.decide.fates import SPLITS
from corpusmill.mill.decide.splits_and_copies import copies_of, order_keys, shards_of, splits_of
from corpusmill.mill.read.ids import ids_of_part, unit_hash

FRACTIONS = {"train": 0.9, "validation": 0.07, "test": 0.03}
IDS = ids_of_part(0, 200_000)
TRAIN = np.zeros(IDS.size, np.uint8)


def copies(weight: float, splits: np.ndarray = TRAIN) -> np.ndarray:
    return copies_of(IDS, np.full(IDS.size, weight), splits, seed=42, mixes=False)


def test_splits_of__equal_naive():
    got = splits_of(IDS[:2000], FRACTIONS, seed=7).tolist()
    assert got == [naive.split(id, FRACTIONS, seed=7) for id in IDS[:2000].tolist()]


def test_splits_of__do_not_move_when_documents_are_added():
    before = splits_of(IDS[:1000], FRACTIONS, seed=42)
    grown = np.concatenate([ids_of_part(7, 500), IDS[:5000], ids_of_part(1, 100)])
    assert (splits_of(grown, FRACTIONS, seed=42)[500:1500] == before).all()


def test_splits_of__keep_the_held_out_when_a_share_grows():
    small = splits_of(IDS, {"validation": 0.01, "test": 0}, seed=42)
    large = splits_of(IDS, {"validation": 0.02, "test": 0}, seed=42)
    assert set(np.flatnonzero(small)) < set(np.flatnonzero(large))


@pytest.mark.parametrize(("validation", "test"), [(0, 0), (0, 0.5), (0.5, 0)])
def test_splits_of__fraction_zero_has_no_documents(validation, test):
    fractions = {"train": 1 - validation - test, "validation": validation, "test": test}
    got = set(splits_of(IDS, fractions, seed=42).tolist())
    assert got == {SPLITS.index(split) for split in SPLITS if fractions[split]}


@pytest.mark.parametrize("weight", [0, 0.5, 1, 2, 2.5, 100])
def test_copies_of__are_weight_on_average_and_nearly_each(weight):
    got = copies(weight)
    assert got.dtype == np.uint16
    assert set(got.tolist()) <= {int(np.floor(weight)), int(np.ceil(weight))}
    assert got.mean() == pytest.approx(weight, abs=0.005)


def test_copies_of__equal_naive():
    got = copies(2.3)[:500].tolist()
    assert got == [2 + (naive.unit_hash(id, 42, "sample") < 2.3 - 2) for id in range(500)]


@pytest.mark.parametrize("weight", [0, 0.5, 1, 2.5])
def test_copies_of__held_out_appear_at_most_once(weight):
    splits = splits_of(IDS, {"validation": 0.3, "test": 0.3}, seed=1)
    got, in_train = copies(weight, splits), copies(weight)
    assert (got[splits > 0] == np.minimum(in_train[splits > 0], 1)).all()
    assert (got[splits == 0] == in_train[splits == 0]).all()


def test_copies_of__smaller_weight_keeps_a_subset():
    assert (copies(0.5) <= copies(0.7)).all()
    assert (copies(0.5) < copies(0.7)).any()
    assert ((copies(1.5) == 2) == (copies(0.5) == 1)).all()


@pytest.mark.parametrize("n", [1, 2, 3, 7, 100])
def test_order_keys__space_the_copies_of_one_evenly(n):
    id, times = np.full(n, 5, np.uint64), np.full(n, n, np.uint16)
    keys = order_keys(id, np.arange(n, dtype=np.uint16), times, seed=42).tolist()
    gaps = [(b - a) % 2**64 for a, b in zip(keys, keys[1:] + keys[:1], strict=True)]
    assert all(abs(gap - 2**64 // n) <= n for gap in gaps) or n == 1
    assert keys[0] == naive.keyed_hash(5, 42, "order")


def test_order_keys__are_not_the_chance_of_the_split():
    keys = order_keys(IDS, TRAIN, TRAIN + 1, seed=42) / 2**64
    assert abs(np.corrcoef(keys, unit_hash(IDS, 42, "split"))[0, 1]) < 0.01


@given(st.lists(st.integers(0, 2**64 - 1)), st.integers(1, 2**31))
def test_shards_of__equal_naive(keys, shards):
    got = shards_of(np.array(keys, np.uint64), shards).tolist()
    assert got == [naive.shard(key, shards) for key in keys]
