"""Whole documents are packed into rows: best fit, longest first."""

import naive_stream
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stream_corpus import END, documents, write_corpus

from corpusmill.reader import Corpus, loss_mask, segments_of
from corpusmill.reader.packing import Packed, packed

SIZES = st.lists(st.integers(1, 40), min_size=1, max_size=40)


def rows_of(sizes: list[int], length: int, tmp_path_factory) -> list[list[int]]:
    results = write_corpus(tmp_path_factory.mktemp("packed"), {"train": [sizes]})
    rows = Packed(Corpus(results).split("train"), length, 1)
    count = rows.count(0)
    return rows.rows(np.zeros(count, np.int64), np.arange(count)).tolist()


@given(SIZES, st.integers(1, 20))
def test_packed__equals_naive(tmp_path_factory, sizes, length):
    expected = naive_stream.packed(documents(sizes, 0, 50_000), length, END)
    assert rows_of(sizes, length, tmp_path_factory) == expected


@given(SIZES, st.integers(1, 20))
def test_packed__has_every_token_but_a_first_as_a_target_once(tmp_path_factory, sizes, length):
    rows = np.array(rows_of(sizes, length, tmp_path_factory))
    targets = rows[:, 1:][loss_mask(segments_of(rows, END))]
    expected = [id for text in documents(sizes, 0, 50_000) for id in text[1:]]
    assert sorted(targets.tolist()) == sorted(expected)


@given(SIZES, st.integers(1, 20))
def test_packed__keeps_documents_whole_that_fit(sizes, length):
    plan = packed(np.cumsum([0, *sizes]), length)
    pieces = set(zip(plan.start.tolist(), plan.size.tolist(), strict=True))
    starts = np.cumsum([0, *sizes]).tolist()
    whole = [
        (start, size) for start, size in zip(starts, sizes, strict=False) if size <= length + 1
    ]
    assert set(whole) <= pieces
    assert plan.first.tolist() == sorted(set(plan.first.tolist()))


def test_packed__leaves_little_room():
    sizes = np.random.default_rng(1).lognormal(5, 1.2, 20_000).astype(int) + 1
    plan = packed(np.append(0, np.cumsum(sizes)), 2048)
    rows = plan.first.size - 1
    assert plan.size.sum() > 0.999 * rows * 2049


def test_packed__refuses_a_split_without_documents(tmp_path):
    train = Corpus(write_corpus(tmp_path, {"train": [[]]})).split("train")
    with pytest.raises(ValueError, match="a split with documents; train has 0"):
        Packed(train, 8, 1)
