"""Members of records as columns of their own types."""

import datetime
import json
import uuid
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.read.readers import read_records
from corpusmill.mill.read.typed_columns import columns_of, kept_type, typed, types_of
from qa.oracle.parquet_values import json_value

DAY = datetime.date(2020, 2, 29)
NOON = datetime.datetime(2020, 2, 29, 12, 0, 1, 250_000)
OF_TYPES = [
    (pa.bool_(), [True, False, None]),
    (pa.int8(), [-128, 127, None]),
    (pa.uint64(), [2**64 - 1, 0, None]),
    (pa.float16(), [1.5, float("nan"), None]),
    (pa.float32(), [0.1, float("-inf"), None]),
    (pa.float64(), [0.1, 1e300, -0.0]),
    (pa.string(), ["ä\n\"", "", None]),
    (pa.dictionary(pa.int8(), pa.string()), ["a", "b", "a"]),
    (pa.binary(), [b"\x00\xff", b"", None]),
    (pa.binary(3), [b"abc", b"\x00\x01\x02", None]),
    (pa.date32(), [DAY, datetime.date(1, 1, 1), None]),
    (pa.date64(), [DAY, None, DAY]),
    (pa.time32("ms"), [NOON.time(), datetime.time(), None]),
    (pa.time64("ns"), [86_399_999_999_999, 1, None]),
    (pa.timestamp("us"), [NOON, None, NOON]),
    (pa.timestamp("ns", "UTC"), [1, -1, None]),
    (pa.timestamp("ms", "Europe/Berlin"), [NOON, None, NOON]),
    (pa.duration("s"), [5, -5, None]),
    (pa.decimal128(20, 2), [Decimal("1.50"), Decimal("-123456789012345678.90"), None]),
    (pa.decimal256(50, 0), [Decimal(10**49), Decimal(0), None]),
    (pa.uuid(), [uuid.UUID(int=7).bytes, None, uuid.UUID(int=8).bytes]),
    (pa.list_(pa.int16()), [[1, 2], [], None]),
    (pa.large_list(pa.list_(pa.timestamp("s"))), [[[5], None], [], None]),
    (pa.list_(pa.float32(), 2), [[1.0, 2.5], [0.1, None], None]),
    (pa.map_(pa.string(), pa.date32()), [[("a", DAY), ("b", None)], [], None]),
    (
        pa.struct([("a", pa.binary()), ("b", pa.struct([("c", pa.time32("s"))]))]),
        [{"a": b"x", "b": {"c": 5}}, {"a": None, "b": None}, None],
    ),
]  # fmt: skip


def as_json(array: pa.Array) -> list:
    """Each value of an array, as the docs say that it is told in JSON."""
    return [json.loads(json_value(value), parse_float=Decimal) for value in array]


@pytest.mark.parametrize(("type", "values"), OF_TYPES, ids=[str(type) for type, _ in OF_TYPES])
def test_typed__a_column_of_parquet_comes_back_as_what_it_was(tmp_path, progress, type, values):
    path = tmp_path / "0.parquet"
    storage = pa.array(
        values, type.storage_type if isinstance(type, pa.BaseExtensionType) else type
    )
    column = pa.ExtensionArray.from_storage(type, storage) if storage.type != type else storage
    pq.write_table(pa.table({"text": ["a", "b", "c"], "x": column}), path)
    rests = [record.rest for record in read_records(str(path), "text", progress)]
    columns = columns_of([types_of(str(path), "text", [])], ("text",))
    assert columns.names == ["x"]
    (got,), others = typed(rests, columns)
    assert others == [b"", b"", b""]
    assert got.type == kept_type(pq.read_schema(path).field("x").type)
    assert as_json(got) == as_json(pq.read_table(path)["x"])
    # What is written is of the same types for who reads it.
    pq.write_table(pa.table([got], columns), tmp_path / "1.parquet")
    assert as_json(pq.read_table(tmp_path / "1.parquet")["x"]) == as_json(got)


@pytest.mark.parametrize(
    ("type", "kept"),
    [
        (pa.string_view(), pa.large_string()),
        (pa.dictionary(pa.int8(), pa.large_binary()), pa.large_binary()),
        (pa.float16(), pa.float32()),
        (pa.large_list(pa.string()), pa.list_(pa.large_string())),
        (pa.uuid(), pa.large_string()),
        (pa.struct([]), None),
        (pa.null(), None),
        (pa.list_(pa.month_day_nano_interval()), None),
    ],
    ids=str,
)
def test_kept_type(type, kept):
    assert kept_type(type) == kept


def test_columns_of__types_that_differ_have_a_common_one_or_none():
    one = {"a": pa.int8(), "b": pa.int64(), "c": pa.timestamp("s"), "d": pa.int8(), "e": pa.bool_(),
           "f": pa.uint8(), "g": None, "text": pa.large_string()}  # fmt: skip
    other = {"z": pa.date32(), "a": pa.int32(), "b": pa.float32(), "c": pa.timestamp("us"),
             "d": pa.large_string(), "f": pa.int8(), "g": pa.int8()}  # fmt: skip
    assert columns_of([one, other], ("text",)) == pa.schema(
        [
            ("a", pa.int32()),
            ("b", pa.float64()),
            ("c", pa.timestamp("us")),
            ("e", pa.bool_()),
            ("f", pa.int64()),
            ("z", pa.date32()),
        ]
    )


def test_types_of__json_lines_are_what_their_first_records_show(tmp_path):
    path = tmp_path / "0.jsonl"
    records = [
        {"text": "a", "id": 1, "score": 1, "url": None, "mixed": 1, "deep": {}},
        {"text": "b", "score": 0.5, "url": "u", "mixed": "1", "late": True},
    ]
    lines = [
        *map(json.dumps, records),
        '{"text": "c", "huge": 1e999, "big": 1' + "0" * 30 + "}",
        "no record",
    ]
    path.write_text("\n".join(lines) + "\n")
    assert types_of(str(path), "text", []) == {
        "id": pa.int64(), "score": pa.float64(), "url": pa.large_string(), "mixed": None,
        "deep": None, "late": pa.bool_(), "huge": pa.float64(), "big": pa.int64(),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("type", "raw"),
    [
        (pa.int64(), b"1.5"),
        (pa.int64(), b"true"),
        (pa.int64(), b"9223372036854775808"),
        (pa.int8(), b"128"),
        (pa.float64(), b"0.1234567890123456789"),
        (pa.float64(), b"9007199254740993"),
        (pa.float64(), b"1e999"),
        (pa.float64(), b'"1.5"'),
        (pa.float32(), b"0.1"),
        (pa.large_string(), b"1"),
        (pa.large_string(), b"[]"),
        (pa.bool_(), b"1"),
        (pa.date32(), b'"2020-02-30"'),
        (pa.date32(), b'"yesterday"'),
        (pa.timestamp("s"), b'"2020-02-29T12:00:00"'),
        (pa.time32("s"), b'"12:00"'),
        (pa.large_binary(), b'"?"'),
        (pa.decimal128(5, 2), b"1.505"),
        (pa.decimal128(5, 2), b'"one"'),
        (pa.list_(pa.int8()), b"{}"),
        (pa.struct([("a", pa.int8())]), b'{"a":1,"b":2}'),
        (pa.struct([("a", pa.int8())]), b"{}"),
        (pa.map_(pa.large_string(), pa.int8()), b'[["a"]]'),
        (pa.large_string(), b'"\\ud800"'),
        (pa.int64(), b"1" * 5000),
        (pa.int64(), b"1E4000000"),
        (pa.float64(), b"1e99999999999999999999"),
        (pa.float64(), b"1e-99999999999999999999"),
        (pa.float64(), b"1" * 5000),
        (pa.list_(pa.int64()), b"[" * 490 + b"]" * 490),
    ],
)
def test_typed__what_a_column_does_not_hold_exactly_stays_json(type, raw):
    (column,), others = typed([b'"n":%s' % raw, b""], pa.schema([("n", type)]))
    assert column.null_count == 2
    assert others == [b'"n":%s' % raw, b""]


def test_typed__a_name_that_is_no_text_stays_json():
    rest = b'"n":1,"\\ud800":2'
    (column,), others = typed([rest], pa.schema([("n", pa.int64())]))
    assert (column.to_pylist(), others) == ([None], [rest])


def test_types_of__names_a_damaged_file(tmp_path):
    (tmp_path / "0.parquet").write_bytes(b"PAR1")
    with pytest.raises(ValueError, match=r"0\.parquet: damaged Parquet file"):
        types_of(str(tmp_path / "0.parquet"), "text", [])


@pytest.mark.parametrize(
    ("type", "raw", "value"),
    [
        (pa.float64(), b"1.50", 1.5),
        (pa.float64(), b"3", 3.0),
        (pa.float64(), b"1e3", 1000.0),
        (pa.float64(), b'"NaN"', None),
        (pa.large_string(), b'"\\u00e4\\/"', "ä/"),
        (pa.list_(pa.float64()), b"[1, 2.50]", [1.0, 2.5]),
    ],
)
def test_typed__what_is_written_otherwise_and_says_the_same_is_in_its_column(type, raw, value):
    (column,), others = typed([b'"n":%s' % raw], pa.schema([("n", type)]))
    assert others == [b""]
    assert column.to_pylist() == [value] or value is None


scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5) | st.sampled_from(["NaN", "2020-02-29", "12:00:00", "YQ=="])
)  # fmt: skip
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=5,
)
column_types = st.sampled_from([kept for type, _ in OF_TYPES if (kept := kept_type(type))])


@given(
    records=st.lists(st.dictionaries(st.sampled_from("xyz"), values), max_size=6),
    columns=st.dictionaries(st.sampled_from("xyz"), column_types),
)
def test_typed__columns_and_the_rest_say_all_that_was_said(records, columns):
    rests = [json.dumps(record).encode()[1:-1] for record in records]
    arrays, others = typed(rests, pa.schema(list(columns.items())))
    told = [as_json(array) for array in arrays]
    for row, rest in enumerate(rests):
        got = json.loads(b"{%s}" % others[row], parse_float=Decimal)
        of_columns = {name: told[k][row] for k, name in enumerate(columns)}
        assert not got.keys() & {name for name, value in of_columns.items() if value is not None}
        wanted = json.loads(b"{%s}" % rest, parse_float=Decimal)
        assert repr_of(of_columns | got) == repr_of(dict.fromkeys(columns) | wanted)


def repr_of(value):
    """A JSON value, with numbers by their value and true no 1."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int | Decimal):
        return Decimal(value).normalize() + 0
    if isinstance(value, list):
        return [repr_of(inner) for inner in value]
    if isinstance(value, dict):
        return {name: repr_of(inner) for name, inner in sorted(value.items())}
    return value
