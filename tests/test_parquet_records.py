"""Parquet: a row is a document, its other columns are JSON that loses nothing."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpusmill.records import Malformed, Record


def parquet(**columns) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def test_read_records__of_parquet(read):
    table = {"n": [1, 2], "text": ["a", "水"], "tags": [["x"], []], "at": [None, 1.5]}
    assert read(parquet(**table), ".parquet") == [
        Record(1, "a", b'"n":1,"tags":["x"],"at":null'),
        Record(2, "水", b'"n":2,"tags":[],"at":1.5'),
    ]


@pytest.mark.parametrize("type", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), "str")])
def test_read_records__of_parquet_take_any_string_column(read, type):
    data = parquet(text=pa.array(["a", "b", "a"]).cast(type))
    assert [record.text for record in read(data, ".parquet")] == ["a", "b", "a"]


def test_read_records__of_parquet_null_is_malformed(read):
    one, got = read(parquet(text=["a", None]), ".parquet")
    assert one == Record(1, "a", b"")
    assert got == Malformed(2, None, '"text" is NoneType, not a string', "None")


def test_read_records__of_parquet_number_lines_across_batches(read):
    got = read(parquet(text=[str(n) for n in range(2500)]), ".parquet")
    assert [(record.line, record.text) for record in got] == [(n + 1, str(n)) for n in range(2500)]


def test_read_records__of_parquet_without_rows_are_none(read):
    assert read(parquet(text=pa.array([], pa.string())), ".parquet") == []


def test_read_records__of_parquet_refuse_a_missing_column(read):
    with pytest.raises(ValueError, match=r'input\.parquet: no "text" column; it has body, n\.'):
        read(parquet(body=["a"], n=[1]), ".parquet")


def test_read_records__of_parquet_refuse_a_cut_file(read):
    data = parquet(text=["a", "b"])
    for cut in range(len(data)):
        with pytest.raises(ValueError, match=r"input\.parquet: damaged Parquet file"):
            read(data[:cut], ".parquet")


def test_read_records__of_parquet_name_a_damaged_file(read):
    data = bytearray(parquet(text=[f"number {n}" for n in range(3000)]))
    data[200:260] = b"\xff" * 60
    with pytest.raises(ValueError, match=r"input\.parquet"):
        read(bytes(data), ".parquet")


def test_read_records__of_parquet_locate_a_text_that_is_not_utf8(read):
    buffers = [None, pa.py_buffer(np.array([0, 1, 3], np.int32)), pa.py_buffer(b"a\xff\xfe")]
    data = parquet(text=pa.Array.from_buffers(pa.string(), 2, buffers))
    one, got = read(data, ".parquet")
    assert one == Record(1, "a", b"")
    assert isinstance(got, Malformed)
    assert got.line == 2
