"""Scatter files: each target reads its own rows and nothing else."""

import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.shuffle.scattering import SCHEMA, read_scattered, write_scattered
from corpusmill.mill.storage.sliced_streams import blocks_of


def table(count: int) -> pa.Table:
    columns = {
        "key": range(count),
        "id": range(count),
        "copy": [0] * count,
        "source": ["ä"] * count,
        "text": [f"text {n} 水" for n in range(count)],
        "rest": [b'"n":%d' % n for n in range(count)],
    }
    return pa.table(columns, schema=SCHEMA)


def scattered(folder, sizes: list[int]) -> list[list[dict]]:
    """Writes `sizes` rows to each target; reads them back target by target."""
    targets = np.repeat(np.arange(len(sizes)), sizes)
    data, index = folder / "data", folder / "index.npy"
    rows = table(sum(sizes))
    bytes_of = np.full(sum(sizes), 10)
    write_scattered(data, index, lambda s: rows[s.start : s.stop], bytes_of, targets, len(sizes))
    return [
        [row for rows in read_scattered(data, index, target) for row in rows.to_pylist()]
        for target in range(len(sizes))
    ]


@examples(40)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=8))
def test_read_scattered__gives_back_each_targets_rows(tmp_path_factory, sizes):
    got = scattered(tmp_path_factory.mktemp("scatter"), sizes)
    assert [len(rows) for rows in got] == sizes
    assert [row for rows in got for row in rows] == table(sum(sizes)).to_pylist()


def test_write_scattered__index_covers_the_file(tmp_path):
    scattered(tmp_path, [2, 0, 5])
    offsets = np.load(tmp_path / "index.npy")
    assert (offsets.dtype, offsets.size) == (np.uint64, 4)
    assert offsets[0] == 0 < offsets[1] == offsets[2] < offsets[3]
    assert offsets[3] == (tmp_path / "data").stat().st_size


@given(st.lists(st.integers(0, 40), max_size=20), st.integers(0, 20), st.integers(1, 50))
def test_blocks_of__cover_the_rows_in_bounded_slices(sizes, start, most):
    start = min(start, len(sizes))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("corpusmill.mill.storage.sliced_streams.BLOCK_BYTES", most)
        blocks = list(blocks_of(np.array(sizes, int), start, len(sizes)))
    assert [row for block in blocks for row in range(block.start, block.stop)] == list(
        range(start, len(sizes))
    )
    for block in blocks:
        assert sum(sizes[block]) <= most or block.stop - block.start == 1
