"""Parquet: a row is a document, its other columns are JSON that loses nothing."""

import contextlib
import io
import logging
import time
from decimal import Decimal
from fractions import Fraction

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from corpusmill.mill.read.parquet_pages import _header
from corpusmill.mill.read.records import Malformed, Record


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
    assert got == Malformed(2, None, '"text" is null, not a string', "null")


def footed(body: bytes) -> bytes:
    return b"PAR1" + body + len(body).to_bytes(4, "little") + b"PAR1"


def varint(number: int) -> bytes:
    low, high = number & 127, number >> 7
    return bytes([low | 128]) + varint(high) if high else bytes([low])


def columns_of_thrift(count: int) -> bytes:
    """The footer of a file without rows: its version, a list of so many columns, no row group."""
    root = b"\x48\x01s\x15" + varint(2 * count) + b"\0"
    column = b"\x15\x0c\x25\x02\x18\x01a\0"
    listed = b"\x19\xfc" + varint(count + 1) + root + count * column
    return b"\x15\x02" + listed + b"\x16\0\x19\x0c\0"


def test_read_records__of_parquet_refuse_very_many_columns(read):
    before = time.process_time()
    with pytest.raises(ValueError, match=r"at most 10,000 columns and fields, found 900,001\."):
        read(footed(columns_of_thrift(900_000)), ".parquet")
    assert time.process_time() - before < 1
    hidden = columns_of_thrift(1)[:-1] + b"\x09\x04" + columns_of_thrift(20_000)[2:]
    with pytest.raises(ValueError, match=r"at most 10,000 columns and fields, found 20,000\."):
        read(footed(hidden.replace(b"\x09\x04\x19\xfc", b"\x09\x04\xfc")), ".parquet")


def test_page_header__with_a_number_that_does_not_end_is_refused():
    longest = b"\x15" + b"\xff" * 9 + b"\x01\0"
    assert _header(io.BytesIO(longest), 0)[1] == len(longest)
    with pytest.raises(pa.ArrowInvalid, match="expected a 64-bit number"):
        _header(io.BytesIO(b"\x15" + b"\xff" * 10 + b"\x01\0"), 0)


@pytest.mark.parametrize("length", [0, 3, 55, 96, 100, 101, 1 << 31, (1 << 32) - 1])
def test_read_records__of_parquet_with_a_footer_of_another_length(read, length):
    data = b"PAR1" + b"\xff" * 100 + length.to_bytes(4, "little") + b"PAR1"
    with pytest.raises(ValueError, match="damaged Parquet file"):
        read(data, ".parquet")


@pytest.mark.parametrize("size", [1 << 24, 1 << 28, (1 << 31) - 1])
def test_read_records__of_parquet_with_lists_that_have_no_elements(read, size):
    groups = columns_of_thrift(1)[:-2] + b"\xfc" + varint(size)
    for footer, says in ((b"\x15\x02\x19\xfc" + varint(size), "columns and fields"),
                         (groups, "damaged Parquet file")):  # fmt: skip
        with pytest.raises(ValueError, match=says):
            read(footed(footer + b"\0" * 40), ".parquet")


def test_read_records__of_parquet_with_very_many_empty_row_groups(read):
    groups = b"\x19\xfc" + varint(900_000) + b"\x19\x0c\x16\0\x16\0\0" * 900_000
    before = time.process_time()
    data = columns_of_thrift(1).replace(b"\x01a\0", b"\x04text\0")[:-3] + groups + b"\0"
    assert read(footed(data), ".parquet") == []
    assert time.process_time() - before < 10


def test_read_records__of_parquet_refuse_a_missing_column(read):
    with pytest.raises(
        ValueError, match=r'\.parquet: expected a column "text", found only body, n\.'
    ):
        read(parquet(body=["a"], n=[1]), ".parquet")


def test_read_records__of_parquet_refuse_a_cut_file(read):
    data = parquet(text=["a", "b"])
    for cut in range(len(data)):
        with pytest.raises(ValueError, match=r"input\.parquet: damaged Parquet file"):
            read(data[:cut], ".parquet")


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_read_records__of_parquet_with_sums_of_pages_never_take_a_flipped_bit(read, compression):
    sink = io.BytesIO()
    table = pa.table({"text": [f"text {n}" for n in range(300)]})
    pq.write_table(table, sink, write_page_checksum=True, compression=compression)
    data, expected = sink.getvalue(), read(sink.getvalue(), ".parquet")
    for place in range(0, len(data), len(data) // 60):
        broken = data[:place] + bytes([data[place] ^ 16]) + data[place + 1 :]
        with contextlib.suppress(ValueError):
            assert read(broken, ".parquet") == expected, place


def test_read_records__of_parquet_locate_a_text_that_is_not_utf8(read):
    buffers = [None, pa.py_buffer(np.array([0, 1, 3], np.int32)), pa.py_buffer(b"a\xff\xfe")]
    data = parquet(text=pa.Array.from_buffers(pa.string(), 2, buffers))
    one, got = read(data, ".parquet")
    assert one == Record(1, "a", b"")
    assert isinstance(got, Malformed)
    assert got.line == 2


def ticks(type: pa.DataType, *values: int | None) -> pa.Array:
    """Dates, times and durations by the integers behind them."""
    whole = pa.int32() if type.bit_width == 32 else pa.int64()
    return pa.array(values, whole).cast(type)


def listed(array: pa.Array, kind=pa.ListArray) -> pa.Array:
    """All values in the first row, none in the second."""
    whole = pa.int64() if kind in (pa.LargeListArray, pa.LargeListViewArray) else pa.int32()
    if kind in (pa.ListViewArray, pa.LargeListViewArray):
        return kind.from_arrays(pa.array([0, 0], whole), pa.array([len(array), 0], whole), array)
    return kind.from_arrays(pa.array([0, len(array), len(array)], whole), array)


NANOS = ticks(pa.timestamp("ns"), 1, -(2**63) + 1)
NANO_TEXTS = '["1970-01-01 00:00:00.000000001","1677-09-21 00:12:43.145224193"]'
STRANGE = pa.array([float("nan"), -float("inf"), -0.0])
DECIMALS = pa.array([Decimal("9.50"), Decimal("-100.00")], pa.decimal128(5, 2))
NESTED = pa.StructArray.from_arrays(
    [listed(STRANGE), listed(NANOS), listed(DECIMALS)], ["f", "t", "d"]
)
NESTED_JSON = [
    f'{{"f":["NaN","-Infinity",-0.0],"t":{NANO_TEXTS},"d":[9.50,-100.00]}}',
    '{"f":[],"t":[],"d":[]}',
]

# A column, and its values as JSON.
COLUMNS = {
    "null": (pa.nulls(1), ["null"]),
    "bool": (pa.array([True, False, None]), ["true", "false", "null"]),
    **{f"int{n}": (pa.array([-(2 ** (n - 1)), 2 ** (n - 1) - 1], f"int{n}"),
                   [str(-(2 ** (n - 1))), str(2 ** (n - 1) - 1)]) for n in (8, 16, 32, 64)},
    **{f"uint{n}": (pa.array([0, 2**n - 1, None], f"uint{n}"), ["0", str(2**n - 1), "null"])
       for n in (8, 16, 32, 64)},
    "float16": (pa.array([0.1, float("nan")], pa.float16()), ["0.0999755859375", '"NaN"']),
    "float32": (pa.array([0.1, float("inf"), None], pa.float32()),
                ["0.10000000149011612", '"Infinity"', "null"]),
    "float64": (pa.array([0.1, -0.0, 5e-324, 1e22, None, *STRANGE.to_pylist()[:2]]),
                ["0.1", "-0.0", "5e-324", "1e22", "null", '"NaN"', '"-Infinity"']),
    "decimal32": (DECIMALS.cast(pa.decimal32(5, 2)), ["9.50", "-100.00"]),
    "decimal64": (DECIMALS.cast(pa.decimal64(5, 2)), ["9.50", "-100.00"]),
    "decimal128": (pa.array([Decimal("0E-10"), None, Decimal("1234567890.5000000000")]),
                   ["0.0000000000", "null", "1234567890.5000000000"]),
    "decimal256": (pa.array([Decimal("9" * 76)], pa.decimal256(76, 0)), ["9" * 76]),
    "string": (pa.array(["ä", None]), ['"ä"', "null"]),
    "large_string": (pa.array(["ä"], pa.large_string()), ['"ä"']),
    "string_view": (pa.array(["NaN"], pa.string_view()), ['"NaN"']),
    "binary": (pa.array([b"\xff\0", None]), ['"/wA="', "null"]),
    "large_binary": (pa.array([b"\xff"], pa.large_binary()), ['"/w=="']),
    "binary_view": (pa.array([b"\xff"], pa.binary_view()), ['"/w=="']),
    "fixed_binary": (pa.array([b"abc"], pa.binary(3)), ['"YWJj"']),
    "date32": (ticks(pa.date32(), 0, -800_000, 5_000_000, None),
               ['"1970-01-01"', '"-0221-09-04"', '"15659-07-15"', "null"]),
    "date64": (ticks(pa.date64(), 86_400_000), ['"1970-01-02"']),
    "time32[s]": (ticks(pa.time32("s"), 86_399), ['"23:59:59.000"']),
    "time32[ms]": (ticks(pa.time32("ms"), 1), ['"00:00:00.001"']),
    "time64[us]": (ticks(pa.time64("us"), 1), ['"00:00:00.000001"']),
    "time64[ns]": (ticks(pa.time64("ns"), 1), ['"00:00:00.000000001"']),
    "timestamp[s]": (ticks(pa.timestamp("s"), -1), ['"1969-12-31 23:59:59.000"']),
    "timestamp[ms]": (ticks(pa.timestamp("ms"), 253402300800000, 971890963199999),
                      ['"10000-01-01 00:00:00.000"', '"32767-12-31 23:59:59.999"']),
    "timestamp[us]": (ticks(pa.timestamp("us"), 1, None, -62167219200000001),
                      ['"1970-01-01 00:00:00.000001"', "null", '"-0001-12-31 23:59:59.999999"']),
    "timestamp[ns]": (NANOS, NANO_TEXTS[1:-1].split(",")),
    "timestamp[us, UTC]": (ticks(pa.timestamp("us", "UTC"), 1), ['"1970-01-01 00:00:00.000001Z"']),
    "timestamp[ms, Berlin]": (ticks(pa.timestamp("ms", "Europe/Berlin"), 1),
                              ['"1970-01-01 00:00:00.001Z"']),
    "timestamp[ns, +02:30]": (ticks(pa.timestamp("ns", "+02:30"), 1),
                              ['"1970-01-01 00:00:00.000000001Z"']),
    "timestamp[s, nowhere]": (ticks(pa.timestamp("s", "No/Where"), 1),
                              ['"1970-01-01 00:00:01.000Z"']),
    **{f"duration[{unit}]": (ticks(pa.duration(unit), 1, -(2**62), None),
                             ["1", str(-(2**62)), "null"]) for unit in ("s", "ms", "us", "ns")},
    "list": (listed(STRANGE), ['["NaN","-Infinity",-0.0]', "[]"]),
    "large_list": (listed(NANOS, pa.LargeListArray), [NANO_TEXTS, "[]"]),
    "list_view": (listed(NANOS, pa.ListViewArray), [NANO_TEXTS, "[]"]),
    "large_list_view": (listed(DECIMALS, pa.LargeListViewArray), ["[9.50,-100.00]", "[]"]),
    "fixed_size_list": (pa.FixedSizeListArray.from_arrays(NANOS, 2), [NANO_TEXTS]),
    "struct": (NESTED, NESTED_JSON),
    "structs of structs": (pa.StructArray.from_arrays([NESTED], ["in"]),
                           [f'{{"in":{value}}}' for value in NESTED_JSON]),
    "map": (pa.array([[("a", 1.5), ("a", float("nan"))], None], pa.map_(pa.string(), pa.float64())),
            ['[["a",1.5],["a","NaN"]]', "null"]),
    "map of times": (pa.MapArray.from_arrays(pa.array([0, 1, 2], pa.int32()), NANOS, DECIMALS),
                     ['[["1970-01-01 00:00:00.000000001",9.50]]',
                      '[["1677-09-21 00:12:43.145224193",-100.00]]']),
    "dictionary": (pa.array(["a", None, "a"]).dictionary_encode(), ['"a"', "null", '"a"']),
    "dictionary of bytes": (pa.array([b"\xff"]).dictionary_encode(), ['"/w=="']),
    "dictionary of times": (NANOS.dictionary_encode(), NANO_TEXTS[1:-1].split(",")),
    "dictionary of floats": (STRANGE.dictionary_encode(), ['"NaN"', '"-Infinity"', "-0.0"]),
    "dictionary of decimals": (DECIMALS.dictionary_encode(), ["9.50", "-100.00"]),
    "list of dictionaries": (listed(pa.array(["a", "a"]).dictionary_encode()), ['["a","a"]', "[]"]),
    "uuid": (pa.array([bytes(16)], pa.uuid()), ['"00000000-0000-0000-0000-000000000000"']),
    "json": (pa.ExtensionArray.from_storage(pa.json_(), pa.array(['{"a":1}'])), [r'"{\"a\":1}"']),
    "bool8": (pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0], pa.int8())),
              ["true", "false"]),
    "opaque": (pa.ExtensionArray.from_storage(pa.opaque(NANOS.type, "a", "b"), NANOS),
               NANO_TEXTS[1:-1].split(",")),
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_read_records__of_parquet_lose_nothing(read, name):
    array, expected = COLUMNS[name]
    data = parquet(text=["a"] * len(array), n=range(len(array)), x=array)
    got = [record.rest.decode() for record in read(data, ".parquet")]
    assert got == [f'"n":{n},"x":{value}' for n, value in enumerate(expected)]


@examples(200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(st.none(), st.floats()), min_size=1, max_size=200))
def test_read_records__of_parquet_floats_come_back(read, values):
    data = parquet(text=["a"] * len(values), x=pa.array(values, pa.float64()))
    got = [msgspec.json.decode(record.rest[4:]) for record in read(data, ".parquet")]
    back = [float(value) if isinstance(value, str) else value for value in got]
    assert [str(value) for value in back] == [str(value) for value in values]


@examples(200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 38), st.lists(st.integers(-(10**38) + 1, 10**38 - 1), min_size=1, max_size=9))
def test_read_records__of_parquet_decimals_keep_every_digit(read, scale, values):
    decimals = pa.array(
        [Decimal(f"{value}E-{scale}") for value in values], pa.decimal128(38, scale)
    )
    data = parquet(text=["a"] * len(values), x=decimals)
    got = [record.rest[4:].decode() for record in read(data, ".parquet")]
    assert [Fraction(value) for value in got] == [Fraction(v, 10**scale) for v in values]
    assert all(len(value.partition(".")[2]) == scale and "E" not in value for value in got)


@pytest.mark.parametrize("array", [
    ticks(pa.timestamp("us"), 2**62), ticks(pa.timestamp("ms", "UTC"), 0, -(2**62)),
    ticks(pa.date32(), None, 2**31 - 1), listed(ticks(pa.timestamp("ms"), 971890963200000)),
    ticks(pa.timestamp("ms"), -1096193779200001),
])  # fmt: skip
def test_read_records__of_parquet_refuse_a_time_without_a_text(read, array):
    with pytest.raises(ValueError, match=r'\.parquet: column "x" has a time outside the years'):
        read(parquet(text=["a"] * len(array), x=array), ".parquet")


@pytest.mark.parametrize("columns", [
    [("text", pa.array(["a"])), ("x", pa.array([1])), ("x", pa.array([2]))],
    [("text", pa.array(["a"])), ("y", pa.StructArray.from_arrays([pa.array([1])] * 2, ["x", "x"]))],
    [("text", pa.array(["a"])),
     ("y", listed(pa.StructArray.from_arrays([pa.array([1])] * 2, ["x", "x"])).slice(0, 1))],
])  # fmt: skip
def test_read_records__of_parquet_refuse_columns_of_one_name(read, columns):
    names, arrays = zip(*columns, strict=True)
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(list(arrays), names=list(names)), sink)
    with pytest.raises(ValueError, match=r'input\.parquet: two columns or fields are called "x"'):
        read(sink.getvalue(), ".parquet")


@pytest.mark.parametrize(("array", "type", "start"), [
    (pa.array([b"a"], pa.binary(1)), "fixed_size_binary[1]", '"YQ=="'),
    (pa.array([1]), "int64", "1"), (NANOS, "timestamp[ns]", '"1970-01-01 00:00:00.000000001"'),
    (DECIMALS, "decimal128(5, 2)", "9.50"), (listed(pa.array(["a"])), "list", '["a"]'),
    (pa.nulls(1), "null", "null"), (STRANGE, "double", '"NaN"'),
])  # fmt: skip
def test_read_records__of_parquet_other_types_are_no_text(read, array, type, start):
    got = read(parquet(text=array, n=range(len(array))), ".parquet")
    assert len(got) == len(array)
    assert got[0].reason.startswith(f'"text" is {type}')
    assert got[0].reason.endswith(", not a string")
    assert (got[0].line, got[0].offset, got[0].start) == (1, None, start)


def test_read_records__of_parquet_tell_once_what_is_written_as_text(read, caplog):
    caplog.set_level(logging.INFO)
    rows = 300
    read(parquet(
        text=["a"] * rows, n=range(rows), fine=[0.5] * rows, f=[float("nan")] * rows,
        at=pa.array(range(rows), pa.int64()).cast(pa.timestamp("ns")), b=[b"a"] * rows,
        both=pa.array([{"t": 1, "b": b""}] * rows,
                      pa.struct([("t", pa.time32("s")), ("b", pa.binary())])),
        for_=pa.array(range(rows), pa.int64()).cast(pa.duration("s")), d=[Decimal("1.5")] * rows,
    ), ".parquet")  # fmt: skip
    told = [message.split(": ", 1)[1] for message in caplog.messages]
    assert told == [
        'column "at" is timestamp[ns], written as text',
        'column "b" is binary, written as base64',
        'column "both" is struct<t: time32[ms], b: binary>, written as base64 and text',
        'column "f" has NaN or infinities, written as text',
    ]


@pytest.mark.parametrize("type", [pa.binary(), pa.large_binary(), pa.binary_view()], ids=str)
def test_read_records__of_parquet_bytes_are_text_if_they_are_utf_8(read, type):
    stored = pa.array(["größer".encode(), None, b"cut \xe6\xb0"], type)
    first, null, cut = read(parquet(text=stored, n=range(3)), ".parquet")
    assert first == Record(1, "größer", b'"n":0')
    assert null.reason == '"text" is null, not a string'
    assert cut.reason.startswith("not UTF-8 (")
