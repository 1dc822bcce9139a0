"""Of texts of which nothing is left, what cut the last of it."""

import naive
import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.decide.emptied import emptied_by
from corpusmill.mill.filters.edited_parts import RECORD
from corpusmill.mill.read.ids import ids_of_part
from corpusmill.mill.storage.tables import parquet_writer, save_parquet

ROWS = 6
pieces = st.lists(
    st.tuples(st.integers(0, ROWS - 1), st.sampled_from("xyz"), st.sampled_from("abc")), max_size=20
)


def told(folder, pieces, spans, emptied) -> list:
    ids = ids_of_part(3, ROWS)
    records = [folder / "results/cut/00003.parquet", folder / "results/edited/00003.parquet"]
    save_parquet(records[0], pa.table({"id": ids[np.array(spans, int)]}))
    with parquet_writer(records[1], RECORD) as written:
        for row, filter, rule in pieces:
            columns = [[ids[row]], [0], [1], [filter], [rule]]
            arrays = [pa.array(one, of.type) for one, of in zip(columns, RECORD, strict=True)]
            written.write_table(pa.table(arrays, schema=RECORD))
    return emptied_by(records, np.array(emptied)).to_pylist()


@given(
    pieces,
    st.lists(st.integers(0, ROWS - 1)),
    st.lists(st.booleans(), min_size=ROWS, max_size=ROWS),
)
def test_emptied_by__equals_naive(tmp_path_factory, pieces, spans, emptied):
    expected = [
        naive.emptied_by(pieces, spans, row) if emptied[row] else None for row in range(ROWS)
    ]
    assert told(tmp_path_factory.getbasetemp(), pieces, spans, emptied) == expected


def test_emptied_by__of_a_run_that_cuts_nothing_says_nothing():
    assert emptied_by([], np.ones(3, bool)).to_pylist() == [None] * 3
