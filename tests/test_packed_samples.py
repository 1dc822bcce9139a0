"""Samples of documents that a run packed over a whole split, read by its index."""

import json
import pickle
import time
from concurrent.futures import ThreadPoolExecutor

import naive
import naive_stream
import numpy as np
import pytest
from file_server import served
from hypothesis import given
from hypothesis import strategies as st
from stream_corpus import END, documents, read_manifest, write_corpus, write_manifest

from corpusmill.reader import (
    Batches,
    Corpus,
    InOrder,
    PackedSamples,
    Shuffled,
    cu_seqlens_of,
    loss_mask,
    positions_of,
    segments_of,
)
from corpusmill.reader.manifest import PackIndex
from corpusmill.reader.node_locks import NodeLock

LENGTH = 8
SHARDS = [[5, 9, 30, 3], [], [2, 2, 2, 7], [100, 1, 40]]
SIZES = st.lists(st.lists(st.integers(1, 40), max_size=12), min_size=1, max_size=4)


@pytest.fixture
def results(tmp_path):
    return write_corpus(tmp_path, {"train": SHARDS, "test": [[]]}, pack=(LENGTH,))


@pytest.fixture
def train(results):
    return Corpus(results).split("train")


def naive_rows(shards: list[list[int]], length: int) -> list[list[int]]:
    sizes = [size for own in shards for size in own]
    tokens = [id for document in documents(sizes, 0, 50_000) for id in document]
    rows = [[id for a, b in row for id in tokens[a:b]]
            for row in naive.packed_index(sizes, length, 42)]  # fmt: skip
    return [row + [END] * (length + 1 - len(row)) for row in rows]


@given(SIZES.filter(any), st.integers(2, 20))
def test_packed_samples__equal_naive(tmp_path_factory, shards, length):
    results = write_corpus(tmp_path_factory.mktemp("packed"), {"train": shards}, pack=(length,))
    samples = PackedSamples(Corpus(results).split("train"), length)
    assert samples.rows(np.arange(len(samples))).tolist() == naive_rows(shards, length)


def test_packed_samples__of_one_shard_are_the_rows_of_the_shard(tmp_path):
    sizes = [size for own in SHARDS for size in own]
    results = write_corpus(tmp_path, {"train": [sizes]}, pack=(LENGTH,))
    samples = PackedSamples(Corpus(results).split("train"), LENGTH)
    expected = naive_stream.packed(documents(sizes, 0, 50_000), LENGTH, END)
    assert sorted(samples.rows(np.arange(len(samples))).tolist()) == sorted(expected)


def test_packed_samples__have_every_token_but_a_first_as_a_target_once(train):
    samples = PackedSamples(train, LENGTH)
    rows = samples.rows(np.arange(len(samples)))
    targets = rows[:, 1:][loss_mask(segments_of(rows, END))]
    sizes = [size for own in SHARDS for size in own]
    expected = [id for document in documents(sizes, 0, 50_000) for id in document[1:]]
    assert sorted(targets.tolist()) == sorted(expected)


def test_packed_samples__come_by_number_in_any_order(train):
    samples = PackedSamples(train, LENGTH)
    numbers = np.array([5, 0, 5, len(samples) - 1])
    assert samples.rows(numbers).tolist() == [samples[number].tolist() for number in numbers]
    assert samples.rows(numbers[:0]).shape == (0, LENGTH + 1)
    with pytest.raises(IndexError, match=r"expected a row within \[0, \d+\), got -1"):
        samples[-1]


def test_packed_samples__need_an_index_of_the_length(train, results):
    with pytest.raises(
        ValueError, match=r"length 9: expected a length that .* found 8\. Mill with"
    ):
        PackedSamples(train, 9)
    with pytest.raises(ValueError, match="test: expected documents in packed rows, found none"):
        PackedSamples(Corpus(results).split("test"), LENGTH)


@pytest.mark.parametrize(("order", "seed"), [(InOrder, []), (Shuffled, [3])])
def test_packed_orders__have_every_row_once_per_epoch(order, seed, train):
    packed = order(train, LENGTH, *seed, packed=True)
    got = [row for batch in Batches(packed, 4, epochs=2) for row in batch.tolist()]
    assert sorted(got) == sorted(2 * naive_rows(SHARDS, LENGTH))
    assert (got == 2 * naive_rows(SHARDS, LENGTH)) == (order is InOrder)


def test_packed_orders__resume_on_other_ranks_and_workers(train):
    order = Shuffled(pickle.loads(pickle.dumps(train)), LENGTH, 3, packed=True)
    expected = [row for batch in Batches(order, 4, epochs=1) for row in batch.tolist()]
    before = Batches(order, 2, rank=1, world_size=2)
    next(before)
    state = json.loads(json.dumps(before.state_dict()))
    after = [Batches(order, 1, rank, 3, epochs=1, worker=(0, 1)) for rank in range(3)]
    for batches in after:
        batches.load_state_dict(state)
    steps = zip(*after, strict=True)
    assert [row for step in steps for part in step for row in part.tolist()] == expected[4:]


def test_packed_orders__refuse_the_state_of_windows_and_of_another_index(train):
    packed = Shuffled(train, LENGTH, 3, packed=True)
    state = Batches(Shuffled(train, LENGTH, 3), 1).state_dict()
    with pytest.raises(ValueError, match="The state was saved for another corpus or order"):
        Batches(packed, 1).load_state_dict(state)
    state = Batches(packed, 1).state_dict()
    state["order"] = state["order"] | {"index": ["", ""]}
    with pytest.raises(ValueError, match="state: expected index 0 "):
        Batches(packed, 1).load_state_dict(state)


def test_packed_samples__are_fetched_with_their_index(results, tmp_path):
    with served(results) as server:
        split = Corpus(server.address, tmp_path / "cache").split("train")
        samples = PackedSamples(split, LENGTH)
        got = samples.rows(np.arange(len(samples))).tolist()
        assert got == naive_rows(SHARDS, LENGTH)
    # Now there is no server.
    assert len(PackedSamples(split, LENGTH)) == len(samples)
    assert len(list((tmp_path / "cache").glob("*/*-pack-8.*npy"))) == 2


def test_packed_samples__wait_for_the_process_that_fetches(results, tmp_path):
    split = Corpus(results, tmp_path / "cache").split("train")
    folder, index = tmp_path / "cache" / split.digest[:16], split.shards.packs[LENGTH].pieces
    folder.mkdir(parents=True)
    lock = NodeLock(folder / f"{index.sha256[:16]}-pack-8.npy.lock")
    assert lock.alone()
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(PackedSamples, split, LENGTH)
        time.sleep(0.2)
        assert not waiting.done()
        lock.close()
        assert len(waiting.result(timeout=20)) > 0


def test_packed_samples__need_all_shards_in_the_cache(results, tmp_path):
    split = Corpus(results, tmp_path / "cache", keep_shards=2).split("train")
    with pytest.raises(ValueError, match=r"keep_shards 2: expected at least 4, .* Use Windowed"):
        PackedSamples(split, LENGTH)


def test_corpus__refuses_half_an_index(results):
    content = read_manifest(results)
    content["files"] = [one for one in content["files"] if not one["path"].endswith(".rows.npy")]
    write_manifest(results, content)
    with pytest.raises(ValueError, match=r"expected pack-8\.rows\.npy of train .* found none"):
        Corpus(results)


BEYOND = 1 << 63
SPOILT = {
    "an end beyond the tokens": ("npy", lambda spans: spans.__setitem__((0, 1), BEYOND)),
    "a start beyond the tokens": ("npy", lambda spans: spans.__setitem__((0, 0), BEYOND)),
    "a piece over two shards": ("npy", lambda spans: spans.__setitem__(0, (45, 50))),
    "a piece longer than a row": ("npy", lambda spans: spans.__setitem__(0, (0, 40))),
    "rows of too many pieces": ("rows.npy", lambda ends: ends.__setitem__(1, ends[-1])),
    "falling rows": ("rows.npy", lambda ends: ends.sort(kind="stable") or ends.fill(3)),
    "rows beyond the pieces": ("rows.npy", lambda ends: np.add(ends, BEYOND, out=ends)),
}


@pytest.mark.parametrize("fault", SPOILT)
def test_packed_samples__refuse_an_index_that_cannot_be(fault, train, results):
    ending, change = SPOILT[fault]
    path = results / f"tokens/train/pack-{LENGTH}.{ending}"
    numbers = np.load(path)
    change(numbers)
    np.save(path, numbers)
    samples = PackedSamples(train, LENGTH)
    with pytest.raises(ValueError, match=r"pack-8\.npy: expected .* not of this split\. Copy"):
        samples.rows(np.arange(len(samples)))


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((3, 2), "<i8"), np.zeros(6, "<u8"), np.zeros((3, 3), "<u8"),
        np.asfortranarray(np.zeros((3, 2), "<u8")), np.zeros((3, 2), ">u8"),
        np.array([[{}, 1]], object),
    ],
)  # fmt: skip
def test_packed_samples__refuse_other_arrays(array, train, results):
    path = results / f"tokens/train/pack-{LENGTH}.npy"
    np.save(path, array)
    index = train.shards.packs[LENGTH]
    train.shards.packs[LENGTH] = PackIndex(
        index.pieces._replace(size=path.stat().st_size), index.rows
    )
    with pytest.raises(ValueError, match=r"pack-8\.npy: expected "):
        PackedSamples(train, LENGTH)


@given(st.lists(st.lists(st.integers(0, 2), min_size=6, max_size=6), min_size=1, max_size=5))
def test_cu_seqlens_of__are_the_places_where_positions_restart(rows):
    segments = segments_of(np.array(rows), END)
    starts = [place for place, position in enumerate(positions_of(segments).ravel().tolist())
              if not position]  # fmt: skip
    got = cu_seqlens_of(segments)
    assert got.tolist() == [*starts, segments.size]
    assert got.dtype == np.int32
