"""Scatter files: each target reads its own rows and nothing else."""

from types import SimpleNamespace

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.read.ids import ids_of_part
from corpusmill.mill.read.parts import TextWriter
from corpusmill.mill.shuffle import scattering
from corpusmill.mill.shuffle.scattering import (
    ScatterFiles,
    ShardRows,
    read_scattered,
    write_scattered,
)
from corpusmill.mill.shuffle.targets import Emissions
from corpusmill.mill.storage.arrays import load_array
from corpusmill.mill.storage.files import writing
from corpusmill.mill.storage.sliced_streams import blocks_of
from corpusmill.run.job_progress import phase

PART = 3
ROWS = 9
FILES = [{"source": "ä", "path": "a"}, {"source": "b", "path": "b"}]


def written_part(path) -> None:
    """Write a part of ROWS documents, with a batch of texts for every document."""
    with pytest.MonkeyPatch.context() as patch, writing(path) as file:
        patch.setattr("corpusmill.mill.read.parts.BATCH_BYTES", 1)
        writer = TextWriter(file, FILES)
        for row in range(ROWS):
            writer.add(f"text {row} 水".encode(), b'"n":%d' % row, row % 2, row)
        writer.close()


def scattered(folder, emitted: Emissions, targets: int, window_bytes: int) -> ScatterFiles:
    made = ScatterFiles(folder / "data", folder / "index.npy", folder / "counts.json")
    written_part(folder / "text.arrow")
    with pytest.MonkeyPatch.context() as patch, phase("scattering", unit="documents") as progress:
        patch.setattr(scattering, "WINDOW_BYTES", window_bytes)
        patch.setattr(scattering, "TARGET_BYTES", 1)
        write_scattered(
            made.data, made.index, folder / "text.arrow", PART, emitted, targets, progress
        )
    return made


def emitted_of(copies: list[tuple[int, int]]) -> Emissions:
    """Return copies, given as (target, row), with their place as key."""
    target, row = np.array(sorted(copies), np.int64).reshape(-1, 2).T
    return Emissions(row, (row % 3).astype(np.uint16), np.arange(row.size, dtype=np.uint64), target)


@examples(60)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, ROWS - 1)), max_size=30),
    st.sampled_from([1, 40, 1 << 20]),
)
def test_read_scattered__gives_back_each_targets_rows(tmp_path_factory, copies, window_bytes):
    emitted = emitted_of(copies)
    made = scattered(tmp_path_factory.mktemp("scatter"), emitted, 5, window_bytes)
    ids = ids_of_part(PART, ROWS).tolist()
    for target in range(5):
        tables = read_scattered(made.data, made.index, target)
        got = sorted(tuple(row.values()) for table in tables for row in table.to_pylist())
        expected = [
            (key, ids[row], copy, "äb"[row % 2], f"text {row} 水", b'"n":%d' % row)
            for row, copy, key, to in zip(*(one.tolist() for one in emitted), strict=True)
            if to == target
        ]
        assert got == expected


@examples(60)
@given(
    st.lists(st.lists(st.integers(0, ROWS - 1), max_size=20), max_size=3), st.randoms(),
    st.sampled_from([1, 250, 1 << 20]),
)  # fmt: skip
def test_shard_rows__are_in_the_order_of_keys(tmp_path_factory, rows_of_parts, random, size):
    parts, expected = [], []
    for rows in rows_of_parts:
        folder = tmp_path_factory.mktemp("part")
        emitted = emitted_of([(1, row) for row in rows])
        keys = np.array([random.randrange(4) for _ in rows], np.uint64)
        made = scattered(folder, emitted._replace(key=keys), 2, 40)
        parts.append({"data": str(made.data), "index": str(made.index)})
        ids = ids_of_part(PART, ROWS).tolist()
        expected += [
            (key, ids[row], row % 3, "äb"[row % 2], f"text {row} 水".encode())
            for key, row in zip(keys.tolist(), emitted.row.tolist(), strict=True)
        ]
    expected.sort(key=lambda row: row[:2])  # equal rows stay in the order of parts
    with phase("gathering") as progress:
        mine = ShardRows.read(parts, 1, progress)
    assert progress.done == len(parts)
    assert int(mine.sizes().sum()) == sum(len(row[4]) for row in expected)
    documents = [tuple(row.values()) for row in mine.documents().to_pylist()]
    assert documents == [row[1:4] for row in expected]
    lists = list(mine.texts(size))
    assert [text for texts in lists for text in texts] == [row[4] for row in expected]
    assert all(sum(map(len, texts[:-1])) <= size for texts in lists)


@pytest.mark.parametrize(("window_bytes", "windows"), [(1, ROWS), (1 << 20, 1)])
def test_write_scattered__index_covers_the_file(tmp_path, window_bytes, windows):
    emitted = emitted_of([(0, row) for row in range(ROWS)] + [(2, 4)])
    made = scattered(tmp_path, emitted, 3, window_bytes)
    starts = load_array(made.index)
    assert (starts.dtype, starts.shape) == (np.uint64, (windows, 4))
    flat = starts.ravel().tolist()
    assert flat == sorted(flat)
    assert (flat[0], flat[-1]) == (0, made.data.stat().st_size)
    assert (starts[:, 1] == starts[:, 2]).all()


def test_write_scattered__of_an_empty_part_is_empty(tmp_path, monkeypatch):
    monkeypatch.setattr("test_scattering.ROWS", 0)
    made = scattered(tmp_path, emitted_of([]), 3, 1)
    assert load_array(made.index).shape == (0, 4)
    assert list(read_scattered(made.data, made.index, 1)) == []


def test_write_scattered__refuses_a_row_that_the_part_does_not_have(tmp_path):
    with pytest.raises(ValueError, match=f"document in row {ROWS}, found {ROWS} documents"):
        scattered(tmp_path, emitted_of([(0, ROWS)]), 3, 1)


@pytest.mark.parametrize("decided", [ROWS - 1, ROWS + 1])
def test_scatter__refuses_decisions_about_another_number_of_documents(
    tmp_path, step, monkeypatch, decided
):
    written_part(tmp_path / "text.arrow")
    about = SimpleNamespace(copies=np.ones(decided, np.uint16), split=np.zeros(decided, np.uint8))
    script = step("scatter")
    monkeypatch.setattr(script, "load_decided", lambda *_: about)
    made = ScatterFiles(tmp_path / "data", tmp_path / "index.npy", tmp_path / "counts.json")
    with pytest.raises(ValueError, match=f"{ROWS} documents, but there are decisions about"):
        script.scatter(
            tmp_path / "text.arrow", None, script.Counted([], []), PART, {"train": 1}, {}, None,
            made,
        )  # fmt: skip


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
