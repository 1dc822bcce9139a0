"""The order of documents is that of a Python sort key, whatever a record's field holds."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from effort import examples
from handmade import order_rows, verdict_file
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.decide.fates import KEPT
from corpusmill.mill.dedup.order import Preference, best_first, order_of, order_of_part
from corpusmill.mill.dedup.preferences import preference_key
from corpusmill.mill.read.ids import ids_of_part

PRIORITY = {"first": 0, "second": 7, "none": None, "unused": 0, "also_none": None}
WEIGHTS = {"first": 1, "second": 0.5, "none": 2, "unused": 0, "also_none": 1}
documents = st.lists(
    st.tuples(
        st.sampled_from([KEPT, KEPT, KEPT, "too_short", "empty"]),
        st.sampled_from(sorted(PRIORITY)),
        st.one_of(st.none(), st.integers(-3, 3)),
        st.integers(0, 3),
    ),
    max_size=8,
)


def key_column(values: list[int | None], order: str) -> pa.Array:
    rests = [b"" if value is None else b'"day":%d' % value for value in values]
    return pa.array([preference_key(rest, "day", order) for rest in rests], pa.large_binary())


def sort_key(document: tuple, id: int, order: str, generation: int) -> tuple:
    fate, source, value, size = document
    priority = PRIORITY[source]
    return (
        fate != KEPT or WEIGHTS[source] == 0,
        generation,
        99 if priority is None else priority,
        value is None,
        0 if value is None else -value if order == "highest" else value,
        -size,
        id,
    )


@examples(150)
@given(
    parts=st.lists(documents, min_size=1, max_size=3), order=st.sampled_from(["highest", "lowest"]),
    later=st.integers(0, 2), generations=st.booleans(),
)  # fmt: skip
def test_best_first__sorts_as_a_key_of_python_does(parts, order, later, generations):
    generation = [later * number for number in range(len(parts))] if generations else None
    preference = Preference(PRIORITY, WEIGHTS, "day", generation)
    expected = {}
    with TemporaryDirectory() as folder:
        files = []
        for number, part in enumerate(parts):
            keys = key_column([value for _, _, value, _ in part], order)
            fates, sources, _, sizes = zip(*part, strict=True) if part else [()] * 4
            path = Path(folder) / str(number)
            files.append(verdict_file(path, fates, sources, sizes, preference=keys))
            for row, document in enumerate(part):
                id = number << 32 | row
                earlier = generation[number] if generation else 0
                expected[id] = sort_key(document, id, order, earlier)
        ids = np.array(sorted(expected, reverse=True), np.uint64)
        table = order_of(files, ids, preference)
    got = ids[best_first(table, ids)].tolist()
    assert got == sorted(expected, key=expected.get)


def test_order_of__is_that_of_the_parts(tmp_path):
    preference = Preference(PRIORITY, WEIGHTS, None, [3, 1])
    sources = ["none", "first", "first", "none"]
    files = [
        verdict_file(tmp_path / str(n), [KEPT] * 4, sources, [n, 5, 0, 2**40]) for n in range(2)
    ]
    ids = np.concatenate([ids_of_part(n, 4) for n in range(2)])
    parts = [order_rows(order_of_part(file, n, preference)) for n, file in enumerate(files)]
    some = np.array([6, 0, 7, 7, 3])
    whole = parts[0] + parts[1]
    assert order_rows(order_of(files, ids[some], preference)) == [whole[k] for k in some]
    order = order_of(files, ids, preference)
    assert best_first(order, ids).tolist() == [5, 6, 7, 4, 1, 2, 3, 0]
