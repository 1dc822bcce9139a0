"""Keys of the preferred field compare as numbers, times and texts do, exactly and whole."""

import json
from fractions import Fraction

import msgspec
import naive
import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pytest
from effort import examples
from handmade import text_part
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.dedup.order import dense_ranks
from corpusmill.mill.dedup.preferences import (
    Preferences,
    counted_kinds,
    kinds_of,
    preference_key,
)
from corpusmill.mill.read.parts import TextPart

ORDERS = ("lowest", "highest")

digits = st.text(st.sampled_from("0123456789"), min_size=1, max_size=25)
whole = st.one_of(
    st.sampled_from(["0", "1", "9", "10"]), digits.map(lambda d: d.lstrip("0") or "0")
)
fractions = st.one_of(st.just(""), digits.map(lambda d: f".{d}"))
exponents = st.one_of(
    st.just(""),
    st.tuples(st.sampled_from(["e", "E", "e+", "e-", "e-00"]), st.integers(0, 400)).map(
        lambda pair: f"{pair[0]}{pair[1]}"
    ),
)
numbers = st.tuples(st.sampled_from(["", "-"]), whole, fractions, exponents).map("".join)
years = st.one_of(
    st.integers(0, 9999).map(lambda year: f"{year:04}"),
    st.sampled_from(["0000", "-0000", "-0001", "+2024", "02024", "9999", "10000", "1900", "2000",
                     "-0004", "-00400", "123456789012345678901", "-99999"]),
)  # fmt: skip
clocks = st.sampled_from(["00:00", "23:59", "12:30:00", "23:59:59", "24:00", "23:60", "00:00:60"])
ticks = st.one_of(st.just(""), digits.map(lambda d: f".{d}"), digits.map(lambda d: f",{d}"))
zones = st.sampled_from(["", "Z", "+01", "-01:00", "+0530", "-23:59", "+24:00", "+01:60", "z"])
days = st.sampled_from(["01-01", "02-28", "02-29", "12-31", "06-15", "02-30", "13-01", "1-1"])
times = st.tuples(
    years, days, st.sampled_from(["T", " ", ""]), clocks, st.one_of(st.just(""), ticks), zones
).map(lambda t: f"{t[0]}-{t[1]}{t[2]}{t[3]}{t[4]}{t[5]}" if t[2] else f"{t[0]}-{t[1]}")
edges = st.sampled_from([
    "", "0", "A", "2024", "2024-01", "2024-01-01x", "9999-12-31T23:59:59", "9999-12-31T23:59:59z",
    "9999-12-31T23:59:59.9", "9999-12-31T23:59:5", "9999-12-32", "0000-01-01T00:00:0",
    "0000-01-01T00:00:00", "0000-01-01T00:00:0/", "0000-01-01T00:00:0/é", "0000-01-01T00:00:0.",
    "10000", "-0001", "2024-01-01\n", "٢٠٢٤-01-01", "\0", "a\0", "a\0\0", "a\x01", "a",
    "é", "￿", "𐀀",
])  # fmt: skip
others = st.text(max_size=12).filter(lambda text: text not in ("NaN", "Infinity", "-Infinity"))
texts = st.one_of(times, edges, others)


def key_of(value: str, order: str = "lowest") -> bytes | None:
    """value: as JSON."""
    return preference_key(b'"other":[1],"day":%s' % value.encode(), "day", order)


def quoted(text: str) -> str:
    return msgspec.json.encode(text).decode()


def compare_as_expected(values: list[str], places: list[naive.Preferred]) -> None:
    for order in ORDERS:
        keys = [key_of(value, order) for value in values]
        for one, first in zip(keys, places, strict=True):
            for other, second in zip(keys, places, strict=True):
                assert (one == other) == (first.place == second.place)
                less = (
                    first.place < second.place if order == "lowest" else first.place > second.place
                )
                assert (one < other) == less


@examples(600)
@given(st.lists(numbers, max_size=7))
def test_preference_key__orders_numbers_as_fractions(values):
    compare_as_expected(values, [naive.preferred(Fraction(value)) for value in values])


@examples(1000)
@given(st.lists(texts, max_size=7))
def test_preference_key__orders_texts_and_times(values):
    places = [naive.preferred(value) for value in values]
    assert {place.kind for place in places} <= {"text"}
    compare_as_expected([quoted(value) for value in values], places)


ASCENDING = [
    '"-Infinity"', "-1e99999999999999999999", "-1" + "0" * 5000, "-1e400", "-1e309", "-100.00",
    "-9.50", "-1", "-1e-400", "-1e-99999999999999999999", "0", "1e-99999999999999999999", "1e-400",
    "5e-324", "0.1", "0.10000000000000000001", "1", "9.50", "100.00", "9007199254740992",
    "9007199254740993", "1700000000000000001", "1700000000000000002", "1e309", "1" + "0" * 5000,
    "1" + "0" * 4999 + "1", "1e9" + "9" * 20, "1e1" + "0" * 5000, "1e1" + "0" * 4999 + "1",
    '"Infinity"',
]  # fmt: skip


@pytest.mark.parametrize("order", ORDERS)
def test_preference_key__of_numbers_without_limits(order):
    keys = [key_of(value, order) for value in ASCENDING]
    assert sorted(set(keys), reverse=order == "highest") == keys


@pytest.mark.parametrize("equal", [
    ["0", "-0", "-0.0", "0e5", "0.000e-99999999999999999999"], ["-5", "-5.0", " -5 ", "-50e-1"],
    ["1000", "1e3", "1E+3", "1000.000", "0.1e4", "1e0000000000003", "1e" + "0" * 5000 + "3"],
    ["1e" + "9" * 5000, "10e" + "9" * 4999 + "8", "0.1e1" + "0" * 5000], [r'"\u0061"', '"a"'],
    ['"2024-01-01"', '"2024-01-01 00:00"', '"2024-01-01T00:00:00.000Z"', '"2024-01-01T01:00+01:00"',
     '"2023-12-31T22:30:00,0-0130"', '"+02024-01-01"'],
    ['"10000-01-01"', '"9999-12-31T23:00-01"'], ['"-0001-12-31T23:00"', '"0000-01-01T00:00+01"'],
    ['"1%s-01-01"' % ("0" * 5000), '"%s-12-31T23:30-00:30"' % ("9" * 5000)],
])  # fmt: skip
def test_preference_key__of_equal_values_is_one(equal):
    for order in ORDERS:
        assert len({key_of(value, order) for value in equal}) == 1


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("rest", [
    b"", b'"days":1', b'"day":null', b'"day":true', b'"day":false', b'"day":[2024]', b'"day":{}',
    b'"x":{"day":1}', b'"day":"NaN"',
])  # fmt: skip
def test_preference_key__of_no_value_is_none(rest, order):
    assert preference_key(rest, "day", order) is None


def test_dense_ranks__put_those_without_a_key_last():
    keys = pa.array([b"b", None, b"a", b"", b"b", None], pa.large_binary())
    ranks = dense_ranks(keys).tolist()
    assert sorted(set(ranks)) == [1, 2, 3, 4]
    assert np.argsort(ranks, kind="stable").tolist() == [3, 2, 0, 4, 1, 5]
    assert dense_ranks(keys.slice(0, 0)).tolist() == []


@pytest.mark.parametrize("order", ORDERS)
def test_kinds_of__are_those_of_the_values(order):
    values = ["1", '"a"', "null", '"NaN"', '"Infinity"', '"2024-01-01"', '""']
    keys = pa.array([key_of(value, order) for value in values], pa.large_binary())
    assert kinds_of(keys).tolist() == [1, 2, 0, 0, 1, 2, 2]
    assert kinds_of(keys.slice(2, 3)).tolist() == [0, 0, 1]
    assert counted_kinds(kinds_of(keys)) == {"number": 2, "text": 3, "none": 2}
    assert counted_kinds(kinds_of(keys[:0])) == {"number": 0, "text": 0, "none": 0}


def preferences_of(path, values: list, order: str = "lowest") -> Preferences:
    rests = [b'"day":' + json.dumps(value).encode() for value in values]
    part = TextPart(text_part(path, ["a"] * len(values), rests), ["text", "rest", "file", "line"])
    preferences = Preferences(part.files, "day", order)
    for batch in part.batches():
        preferences.add(batch)
    return preferences


@pytest.mark.parametrize("rows", [1, 2, 100])
def test_preferences__are_the_keys_of_all_batches(tmp_path, monkeypatch, rows):
    monkeypatch.setattr("corpusmill.mill.read.parts.MAX_BATCH_ROWS", rows)
    preferences = preferences_of(tmp_path / "a", [None, 3, 1.5, "Infinity", True])
    assert preferences.column().to_pylist() == [
        None, key_of("3"), key_of("1.5"), key_of('"Infinity"'), None
    ]  # fmt: skip
    assert preferences.places == {"number": "s.jsonl:2"}


def test_preferences__refuse_numbers_and_texts_and_say_where(tmp_path):
    preferences = preferences_of(tmp_path / "a", [None, 3, "x", 4, "2024-01-01"])
    with pytest.raises(ValueError, match=r"a number in 2 documents, first in s\.jsonl:2, and a text"
                       r" in 2, first in s\.jsonl:3"):  # fmt: skip
        preferences.column()


FILTERS = [{"name": "empty"}, {"name": "too_short"}]


def measured(step, folder, name: str, values: list, field: str | None = "day"):
    """results/measures of a part whose records have these values."""
    rests = [b'"day":' + json.dumps(value).encode() for value in values]
    text = text_part(folder / f"{name}.arrow", ["a text"] * len(values), rests)
    measure, prefer = step("measure"), {"field": field, "order": "lowest"}
    none = measure.EditedFiles([], [], [], [])
    measure.measure(text, FILTERS, prefer, [], 0, folder / name, none)
    return folder / name


def test_measure__writes_the_keys_just_if_a_field_is_preferred(step, tmp_path):
    table = feather.read_table(measured(step, tmp_path, "with", [1, None, 0.5]))
    assert table.column("preference").to_pylist() == [key_of("1"), None, key_of("0.5")]
    table = feather.read_table(measured(step, tmp_path, "without", [1, "a"], field=None))
    assert table.column_names == ["chars", "text_bytes", "source"]


def test_measure__refuses_numbers_and_texts_in_one_part(step, tmp_path):
    with pytest.raises(
        ValueError, match=r"a number in 1 documents, first in s\.jsonl:3, and a text"
    ):
        measured(step, tmp_path, "part", [None, "2024-01-01", 2024])
    assert not (tmp_path / "part").exists()


def test_notes__count_the_kinds_of_each_source(tmp_path):
    preferences = preferences_of(tmp_path / "a", [None, 3, 1.5, "Infinity"])
    rows = pa.array([0, 0, 1, 1], pa.int32())
    assert preferences.notes(pa.DictionaryArray.from_arrays(rows, pa.array(["s", "t"]))) == {
        "places": {"number": "s.jsonl:2"},
        "kinds": {
            "s": {"number": 1, "text": 0, "none": 1},
            "t": {"number": 2, "text": 0, "none": 0},
        },
    }


def test_assign__passes_on_what_was_measured_of_the_preferred_field(step, tmp_path):
    preferred_kinds = step("assign").preferred_kinds
    assert preferred_kinds(measured(step, tmp_path, "nothing", [1], field=None)) == {}
    assert preferred_kinds(measured(step, tmp_path, "some", [None, 3])) == {
        "prefer": {"s": {"number": 1, "text": 0, "none": 1}},
        "prefer_places": {"number": "s.jsonl:2"},
    }
    assert preferred_kinds(measured(step, tmp_path, "empty", [])) == {
        "prefer": {"s": {"number": 0, "text": 0, "none": 0}}, "prefer_places": {},
    }  # fmt: skip
