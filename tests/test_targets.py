"""Every copy of every document goes to exactly one target, in order."""

import naive
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.decide.splits_and_copies import copies_by_split
from corpusmill.mill.read.ids import ids_of_part
from corpusmill.mill.shuffle.targets import emissions, first_targets

SHARDS = {"train": 5, "validation": 2, "test": 1}
documents = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=20)


def emitted(rows: list[tuple[int, int]], shards=SHARDS):
    table = np.array(rows, np.int64).reshape(-1, 2)
    ids = ids_of_part(2, len(rows))
    copies = copies_by_split(table[:, 1].astype(np.uint8), table[:, 0].astype(np.uint16))
    return ids, emissions(ids, copies, shards, dict.fromkeys(copies, 42))


def test_first_targets__number_train_first():
    assert first_targets(SHARDS) == {"train": 0, "validation": 5, "test": 7, "end": 8}


def test_first_targets__a_split_without_shards_takes_no_number():
    got = first_targets({"train": 3, "test": 1})
    assert got == {"train": 0, "validation": 3, "test": 3, "end": 4}


@given(documents)
def test_emissions__have_every_copy_exactly_once(rows):
    _, (row, copy, _, _) = emitted(rows)
    expected = [(r, c) for r, (copies, _) in enumerate(rows) for c in range(copies)]
    assert sorted(zip(row.tolist(), copy.tolist(), strict=True)) == expected


@given(documents)
def test_emissions__are_ordered_by_target_then_key(rows):
    ids, (row, _, key, target) = emitted(rows)
    got = list(zip(target.tolist(), key.tolist(), ids[row].tolist(), strict=True))
    assert got == sorted(got)


@given(documents)
def test_emissions__target_is_split_and_naive_shard(rows):
    _, (row, _, key, target) = emitted(rows)
    starts, splits = [0, 5, 7], ["train", "validation", "test"]
    for r, k, t in zip(row.tolist(), key.tolist(), target.tolist(), strict=True):
        split = rows[r][1]
        assert t == starts[split] + naive.shard(k, SHARDS[splits[split]])


def test_emissions__do_not_need_shards_of_unused_splits():
    _, (row, _, _, target) = emitted([(1, 0), (0, 1)], {"train": 1})
    assert (row.tolist(), target.tolist()) == ([0], [0])


def test_first_targets__stages_stand_in_place_of_train():
    got = first_targets({"validation": 1, "stable": 2, "decay": 3})
    assert got == {"decay": 0, "stable": 3, "train": 5, "validation": 5, "test": 6, "end": 6}


def test_emissions__of_stages_have_orders_of_their_own():
    ids = ids_of_part(0, 50)
    copies = {"decay": np.ones(50, np.uint16), "stable": np.full(50, 2, np.uint16)}
    got = emissions(ids, copies, {"decay": 1, "stable": 1}, {"decay": 42, "stable": 42})
    decay, stable = (got.row[got.target == target].tolist() for target in (0, 1))
    assert sorted(decay) == list(range(50))
    assert sorted(stable) == sorted([*range(50), *range(50)])
    assert decay != [row for row in stable if row in decay][:50]
