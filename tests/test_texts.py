"""Text parts: what was written, row by row, however it was cut into batches."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from handmade import text_writer
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.read import parts as texts
from corpusmill.mill.read.parts import TextPart
from corpusmill.mill.read.text_column import TextColumn, TextRows, string_array
from corpusmill.mill.storage.sums import DamagedError
from corpusmill.mill.storage.tables import save_schema

FILES = [{"source": "b", "path": "b/1"}, {"source": "a", "path": "ä"}, {"source": "b", "path": "c"}]
rows = st.lists(
    st.tuples(st.text(max_size=8), st.binary(max_size=8), st.integers(0, 2), st.integers(1, 2**40)),
    max_size=12,
)


def written(path, documents, files=FILES):
    with text_writer(path, files) as writer:
        for text, rest, file, line in documents:
            writer.add(text.encode(), rest, file, line)
    return path


def read_back(path) -> list[tuple]:
    part = TextPart(path, ["text", "rest", "file", "line"])
    return [tuple(row.values()) for batch in part.batches() for row in batch.to_pylist()]


def documents_of(column: TextColumn) -> list[str]:
    bounds = column.offsets.tolist()
    return [
        column.data[start:stop].tobytes().decode() for start, stop in itertools.pairwise(bounds)
    ]


@examples(50)
@given(documents=rows, batch_bytes=st.integers(1, 30))
def test_text_part__reads_back_what_was_written(tmp_path_factory, documents, batch_bytes):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts, "BATCH_BYTES", batch_bytes)
        path = written(tmp_path_factory.mktemp("part") / "0.arrow", documents)
    assert read_back(path) == documents


@pytest.mark.parametrize("limit", ["BATCH_BYTES", "MAX_BATCH_ROWS"])
def test_text_writer__starts_a_batch_at_each_limit(tmp_path, monkeypatch, limit):
    monkeypatch.setattr(texts, limit, 4)
    path = written(tmp_path / "0.arrow", [("a", b"", 0, n) for n in range(10)])
    assert [batch.num_rows for batch in TextPart(path, ["text"]).batches()] == [4, 4, 2]


def test_text_part__knows_files_and_sources(tmp_path):
    path = written(tmp_path / "0.arrow", [("x", b"", file, 9) for file in (2, 1, 0, 1)])
    part = TextPart(path, ["file"])
    assert part.files == FILES
    assert part.sources().dictionary.to_pylist() == ["b", "a"]
    assert part.sources().to_pylist() == ["b", "a", "b", "a"]


def test_text_part__reads_only_the_columns_asked_for(tmp_path):
    path = written(tmp_path / "0.arrow", [("x", b"y", 0, 7)])
    (batch,) = TextPart(path, ["line", "text"]).batches()
    assert sorted(batch.schema.names) == ["line", "text"]


def test_text_part__refuses_another_arrow_file(tmp_path):
    save_schema(tmp_path / "0.arrow", texts.SCHEMA)
    with pytest.raises(DamagedError, match=r"0\.arrow: expected a text part of version 1"):
        TextPart(tmp_path / "0.arrow", ["text"])


@given(st.lists(st.text(max_size=6), max_size=8), st.integers(0, 8), st.integers(0, 8))
def test_text_column__views_the_documents_of_a_slice(documents, start, length):
    array = pa.array(documents, pa.large_string()).slice(min(start, len(documents)), length)
    column = TextColumn.of(array)
    assert documents_of(column) == array.to_pylist()
    assert column.sizes().tolist() == [len(text.encode()) for text in array.to_pylist()]
    assert (column.offsets.dtype, column.data.dtype) == (np.int64, np.uint8)


@pytest.mark.parametrize("documents", [[], [""], ["", ""]])
def test_text_column__of_no_bytes(documents):
    for array in (pa.array(documents, pa.large_string()), string_array([b""] * len(documents))):
        column = TextColumn.of(array)
        assert column.offsets.tolist() == [0] * (len(documents) + 1)


@given(st.lists(st.text(max_size=6)))
def test_string_array__equals_arrow(documents):
    got = string_array([text.encode() for text in documents])
    got.validate(full=True)
    assert got.equals(pa.array(documents, pa.large_string()))


@given(
    st.lists(st.tuples(st.lists(st.binary(max_size=6), max_size=4), st.integers(0, 2)), max_size=4),
    st.data(),
)
def test_text_rows__are_those_that_arrow_takes(pieces, data):
    chunks = [pa.array(piece, pa.large_binary()).slice(first) for piece, first in pieces]
    column = pa.chunked_array(chunks, pa.large_binary())
    every = list(range(len(column)))
    wanted = data.draw(st.lists(st.sampled_from(every), max_size=6) if every else st.just([]))
    rows = TextRows(column)
    got = [bytes(text) for text in rows[np.array(wanted, np.int64)]]
    assert got == column.take(pa.array(wanted, pa.int64())).to_pylist()
    assert rows.sizes.tolist() == [len(text) for text in column.to_pylist()]
