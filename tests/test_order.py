"""The order of documents is that of a Python sort key, whatever a record's field holds."""

from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import numpy as np
import pytest
from handmade import verdict_file
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusmill.document_ids import ids_of_part
from corpusmill.fates import EMPTY, KEPT, TOO_SHORT
from corpusmill.order import LAST, Preference, best_first, order_of, order_of_part, preferred

PRIORITY = {"first": 0, "second": 7, "none": None, "unused": 0, "also_none": None}
WEIGHTS = {"first": 1, "second": 0.5, "none": 2, "unused": 0, "also_none": 1}
NOTHING = (LAST, LAST)

numbers = st.one_of(
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0),
    st.sampled_from([-1.5, -1, -1e-300, 0, 5e-324, 0.1, 1, 2024, 2024.5, 1e300]),
)
starts = st.text(st.sampled_from("0129-:T aé水😀\U0010ffff"), min_size=1, max_size=30)
dates = st.one_of(st.dates().map(str), st.datetimes().map(lambda moment: moment.isoformat()))
documents = st.lists(
    st.tuples(
        st.sampled_from([KEPT, KEPT, KEPT, TOO_SHORT, EMPTY]),
        st.sampled_from(sorted(PRIORITY)),
        st.one_of(st.none(), st.integers(-3, 3)),
        st.integers(0, 3),
    ),
    max_size=8,
)


def place_of(value, order: str = "lowest") -> tuple[int, int]:
    return preferred(b'"other":[1],"day":%s' % msgspec.json.encode(value), "day", order)


def as_expected(values: list, order: str, key) -> bool:
    """Whether the places of values compare as their keys do."""
    places = [place_of(value, order) for value in values]
    keys = [key(value) for value in values]
    if order == "highest":
        places = [(-high, -low) for high, low in places]
    return all(
        (places[i] < places[j]) == (keys[i] < keys[j])
        for i in range(len(values))
        for j in range(len(values))
    )


@pytest.mark.parametrize("order", ["highest", "lowest"])
@settings(max_examples=300)
@given(values=st.lists(numbers, max_size=8))
def test_preferred__orders_numbers(order, values):
    assert as_expected(values, order, float)
    assert all(place_of(value, order) < NOTHING for value in values)


@pytest.mark.parametrize("order", ["highest", "lowest"])
@settings(max_examples=300)
@given(values=st.lists(st.one_of(starts, dates), max_size=8))
def test_preferred__orders_texts_by_their_first_bytes(order, values):
    assert as_expected(values, order, lambda value: value.encode()[:16].ljust(16, b"\0"))
    assert all(place_of(value, order) < NOTHING for value in values)


@pytest.mark.parametrize("order", ["highest", "lowest"])
@pytest.mark.parametrize("rest", [
    b"", b'"days":1', b'"day":null', b'"day":true', b'"day":false', b'"day":[2024]', b'"day":{}',
    b'"x":{"day":1}',
])  # fmt: skip
def test_preferred__puts_records_without_a_value_last(rest, order):
    assert preferred(rest, "day", order) == NOTHING


@pytest.mark.parametrize(("one", "other"), [
    (b"-5", b"-5.0"), (b" -5 ", b"-5"), (b"1e3", b"1000"), (b"1E+3", b"1000"),
    (b"1e-999", b"0"), (b"9007199254740993", b"9007199254740992"),
    (b'"\\u0061"', b'"a"'), (b'"0123456789abcdef"', b'"0123456789abcdefg"'),
])  # fmt: skip
def test_preferred__reads_a_value_however_it_is_written(one, other):
    places = [preferred(b'"day":' + value, "day", "lowest") for value in (one, other)]
    assert places[0] == places[1]


@pytest.mark.parametrize("large", [b"1e999", b"1" * 400, b"123456789e1234567890"])
def test_preferred__takes_numbers_that_are_no_floats(large):
    for order in ("highest", "lowest"):
        for sign, value in ((b"", large), (b"-", b"-" + large)):
            got = preferred(b'"day":' + value, "day", order)
            usual = preferred(b'"day":' + sign + b"1e300", "day", order)
            assert got < NOTHING
            assert (got > usual) == ((order == "lowest") == (sign == b""))


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


@settings(max_examples=150)
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
            places = [place_of(value, order) for _, _, value, _ in part]
            high, low = np.array(places, np.uint64).reshape(-1, 2).T
            fates, sources, _, sizes = zip(*part, strict=True) if part else [()] * 4
            path = Path(folder) / str(number)
            files.append(verdict_file(path, fates, sources, sizes, high=high, low=low))
            for row, document in enumerate(part):
                id = number << 32 | row
                earlier = generation[number] if generation else 0
                expected[id] = sort_key(document, id, order, earlier)
        ids = np.array(sorted(expected, reverse=True), np.uint64)
        table = order_of(files, ids, preference)
    got = ids[best_first(table, ids)].tolist()
    assert got == sorted(expected, key=expected.get)


def test_order_of_part__of_no_documents(tmp_path):
    path = verdict_file(tmp_path / "0", [], [], [])
    assert order_of_part(path, 0, Preference({}, {}, None, [0])).size == 0
    assert order_of([path], np.zeros(0, np.uint64), Preference({}, {}, None, None)).size == 0


def test_order_of__is_that_of_the_parts(tmp_path):
    preference = Preference(PRIORITY, WEIGHTS, None, [3, 1])
    sources = ["none", "first", "first", "none"]
    files = [
        verdict_file(tmp_path / str(n), [KEPT] * 4, sources, [n, 5, 0, 2**40]) for n in range(2)
    ]
    ids = np.concatenate([ids_of_part(n, 4) for n in range(2)])
    whole = np.concatenate([order_of_part(file, n, preference) for n, file in enumerate(files)])
    some = np.array([6, 0, 7, 7, 3])
    assert (order_of(files, ids[some], preference) == whole[some]).all()
    assert best_first(whole, ids).tolist() == [5, 6, 7, 4, 1, 2, 3, 0]
