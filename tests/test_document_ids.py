"""Chance by keyed hash: one-to-one, another for each purpose and seed, evenly spread."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.read.ids import ids_of_part, keyed_hash, unit_hash

uint64s = st.integers(0, 2**64 - 1)
MANY = np.concatenate([ids_of_part(part, 50_000) for part in range(4)])


def test_ids_of_part__are_part_and_row():
    assert ids_of_part(3, 4).tolist() == [(3 << 32) + row for row in range(4)]
    assert ids_of_part(0, 0).dtype == np.uint64


@given(st.lists(uint64s), st.integers(0, 2**63), st.sampled_from(["split", "order", ""]))
def test_keyed_hash__equals_naive(ids, seed, purpose):
    got = keyed_hash(np.array(ids, np.uint64), seed, purpose)
    assert got.tolist() == [naive.keyed_hash(id, seed, purpose) for id in ids]


def test_keyed_hash__never_gives_two_documents_one_hash():
    assert np.unique(keyed_hash(MANY, 42, "order")).size == MANY.size


@pytest.mark.parametrize(("seed", "purpose"), [(42, "split"), (43, "order"), (4, "2/order")])
def test_keyed_hash__differs_by_purpose_and_seed(seed, purpose):
    same = keyed_hash(MANY, seed, purpose) == keyed_hash(MANY, 42, "order")
    assert same.sum() == 0


@given(st.lists(uint64s, min_size=1))
def test_unit_hash__equals_naive(ids):
    got = unit_hash(np.array(ids, np.uint64), 1, "sample")
    assert got.tolist() == [naive.unit_hash(id, 1, "sample") for id in ids]
    assert got.min() >= 0
    assert got.max() < 1


@pytest.mark.parametrize("purpose", ["split", "sample", "order"])
def test_unit_hash__is_spread_evenly(purpose):
    counts, _ = np.histogram(unit_hash(MANY, 42, purpose), bins=100, range=(0, 1))
    assert abs(counts - MANY.size / 100).max() < 5 * (MANY.size / 100) ** 0.5


def test_unit_hash__of_two_purposes_is_not_related():
    one, other = unit_hash(MANY, 42, "split"), unit_hash(MANY, 42, "sample")
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.01
