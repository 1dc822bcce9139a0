"""What the oracle makes of records and texts: small cases whose answers are written by hand."""

from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from qa.oracle import prefer, sketches, spans, texts
from qa.oracle.parquet_values import json_value
from qa.oracle.reading import DamagedInputError, json_record, members_json, read_records
from qa.oracle.strict_json import Member, encode_string


@pytest.mark.parametrize(
    ("line", "text", "rest"),
    [
        (b'{"text":"a"}', "a", b""),
        (b' {"n" : 1.50 , "text" : "a\\u00e9" }\r', "aé", b'"n":1.50'),
        (b'{"text":"\\ud83d\\ude00","o":{ "x" : [ 1 , 2 ] }}', "😀", b'"o":{ "x" : [ 1 , 2 ] }'),
        (b'{"\\u0074ext":"a","\\u0061/\\/\\n":-0}', "a", b'"a//\\n":-0'),
        (b'{"text":"a","o":{"x":1,"x":2},"big":1e999}', "a", b'"o":{"x":1,"x":2},"big":1e999'),
        (b'{"text":"","z":[[],{},""]}', "", b'"z":[[],{},""]'),
    ],
)
def test_oracle_reading__record_and_its_rest(line, text, rest):
    record = json_record(line, "text", mends_text=False)
    assert (record.text, members_json(record.rest).encode()) == (text, rest)


NOT_JSON = "not JSON: "
LONE = "a lone surrogate in the record: not valid Unicode"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "blank line"),
        (b" \t\r", "blank line"),
        (b'\xef\xbb\xbf{"text":"a"}',
         "a byte order mark (EF BB BF) before the record; JSON has none"),
        (b"[1]", "expected a JSON object, found an array"),
        (b"null", "expected a JSON object, found null"),
        (b'"text"', "expected a JSON object, found a string"),
        (b"-1e9", "expected a JSON object, found a number"),
        (b"false", "expected a JSON object, found a boolean"),
        (b'{"text":1}', '"text" is a number, not a string'),
        (b'{"text":[{}]}', '"text" is an array, not a string'),
        (b'{"text":null,"a":"\\ud800"}', '"text" is null, not a string'),
        (b'{"tex":"a"}', 'no "text" field'),
        (b'{"text":"a","text":1}', 'member "text" stands twice'),
        (b'{"text":1,"b":1,"\\u0062":2}', 'member "b" stands twice'),
        (b'{"text":"\\ud800"}', LONE),
        (b'{"text":"a","b":[{"\\udc00":1}]}', LONE),
        (b'{"text":' + b"[" * 500 + b"]" * 500 + b"}", "nested too deeply"),
        (b"[" * 501 + b"]" * 501, "nested too deeply"),
        (b"[" * 100_000, NOT_JSON),
        (b'{"text":"a","\\n\\"":1,"\\u000a\\u0022":2}', 'member "\\n\\"" stands twice'),
    ],
)  # fmt: skip
def test_oracle_reading__reasons(line, reason):
    record = json_record(line, "text", mends_text=False)
    assert record.text is None
    assert record.reason == reason or (reason == NOT_JSON and record.reason.startswith(reason))


@pytest.mark.parametrize(
    "line",
    [
        b'{"text":"a"', b'{"text":"a"}}', b'{"text":"a",}', b'{"text":"a" "b":1}',
        b'{"text":"a","b":01}', b'{"text":"a","b":1.}', b'{"text":"a","b":.5}', b'{"text":"\t"}',
        b'{"text":"a","b":NaN}', b'{"text":"\\x"}', b'\x0b{"text":"a"}', b'{"text":"a","b":[1,]}',
        b"{'text':'a'}", b'{"text":"a","b":-Infinity}', b'{"text":"a"}{"text":"a"}',
    ],
)  # fmt: skip
def test_oracle_reading__not_json(line):
    assert json_record(line, "text", mends_text=False).reason.startswith(NOT_JSON)


def test_oracle_reading__not_utf8():
    assert json_record(b'{"text":"\xed\xa0\x80"}', "text", False).reason.startswith("not UTF-8")


def test_oracle_reading__levels_that_are_not_too_many():
    line = b'{"text":"a","b":' + b"[" * 499 + b"]" * 499 + b"}"
    assert json_record(line, "text", mends_text=False).text == "a"


TIMES = [datetime(2020, 7, 2, 3, 4, 5, 123456, tzinfo=UTC)]
ID = UUID("12345678-1234-5678-1234-567812345678")


@pytest.mark.parametrize(
    ("array", "written"),
    [
        (pa.array([2**64 - 1], pa.uint64()), "18446744073709551615"),
        (pa.array([0.1], pa.float32()), "0.10000000149011612"),
        (pa.array([float("-inf")]), '"-Infinity"'),
        (pa.array([Decimal("9.50")]), "9.50"),
        (pa.array([Decimal("1E+3")], pa.decimal128(5, -2)), "1000"),
        (pa.array([b"\xff"], pa.binary_view()), '"/w=="'),
        (pa.array(TIMES, pa.timestamp("us", "Europe/Berlin")), '"2020-07-02 03:04:05.123456Z"'),
        (pa.array([5], pa.time64("ns")), '"00:00:00.000000005"'),
        (pa.array([5], pa.duration("ms")), "5"),
        (pa.array([[("a", None)]], pa.map_(pa.string(), pa.date32())), '[["a",null]]'),
        (pa.array([{"b": 1, "a": None}]), '{"b":1,"a":null}'),
        (pa.array(["x"]).dictionary_encode(), '"x"'),
        (pa.array([ID.bytes], pa.uuid()), f'"{ID}"'),
        (pa.ExtensionArray.from_storage(pa.bool8(), pa.array([2], pa.int8())), "true"),
    ],
)
def test_oracle_reading__values_of_parquet(array, written):
    assert json_value(array[0]) == written


def test_oracle_reading__rows_of_parquet(tmp_path):
    texts_ = pa.array([b'a"', None, b"\xff", b"b" * 100], pa.binary()).cast(pa.string(), safe=False)
    other = pa.array([b"x", b"y", b"z", b"\xff"], pa.binary()).cast(pa.string(), safe=False)
    pq.write_table(pa.table({"text": texts_, "n": other}), tmp_path / "a.parquet")
    sound, *malformed = read_records(tmp_path / "a.parquet", "text", mends_text=False)
    assert (sound.text, members_json(sound.rest)) == ('a"', '"n":"x"')
    assert [(r.line, r.reason[:11], r.start) for r in malformed] == [
        (2, '"text" is n', "null"), (3, "not UTF-8 (", ""), (4, "not UTF-8 (", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "columns",
    [
        {"text": ["a"], "at": pa.array([2**50], pa.timestamp("s"))},
        {"text": ["a"], "two": pa.StructArray.from_arrays([pa.array([1])] * 2, ["b", "b"])},
    ],
)
def test_oracle_reading__columns_that_fail_a_run(columns, tmp_path):
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    with pytest.raises(DamagedInputError):
        list(read_records(tmp_path / "a.parquet", "text", mends_text=False))


def test_oracle_reading__half_pair_in_the_text_is_mended_by_ftfy():
    record = json_record(b'{"text":"a\\ud800b"}', "text", mends_text=True)
    assert texts.normalize(record.text, "ftfy") == "a\ufffdb"
    assert json_record(b'{"text":"a","n":"\\ud800"}', "text", mends_text=True).text is None


def test_oracle_json__escapes_what_it_must():
    assert encode_string('a"\\/\n\x1f\x7f\u2028é') == '"a\\"\\\\/\\n\\u001f\x7f\u2028é"'


def test_oracle_texts__cleaned():
    assert texts.clean("\u2003It's A\x1f\tTEST—ok. ΣΑΣ\n") == "its a test—ok σας"


def test_oracle_texts__shingles_and_similarity():
    assert texts.shingles("abcd", 3) == {"abc", "bcd"}
    assert texts.shingles("ab", 3) == {"ab"}
    assert texts.shingles("", 3) == set()
    assert texts.jaccard({"a", "b", "c"}, {"b", "c", "d"}) == 0.5
    assert texts.jaccard(set(), set()) == 0


@pytest.mark.parametrize(
    "cleaned", ["", "short", "thirteen char", "the same again " * 5, "é😀" * 20]
)
def test_oracle_sketches__hashes_of_all_shingles(cleaned):
    expected = {sketches.shingle_hash(shingle) for shingle in texts.shingles(cleaned, 13)}
    assert sketches.shingle_hashes(cleaned, 13) == expected


def test_oracle_sketches__binomial_bounds():
    assert sketches.least_and_enough(128, 0.8) == (84, 126)  # as docs/internals/decisions.md says
    # With 2 values at 1/2: P(X <= 0) = 1/4 > 1e-4; P(X >= 2) = 1/4 > 1e-9, so 3 are never there.
    assert sketches.least_and_enough(2, 0.5) == (0, 3)


@pytest.mark.parametrize(
    ("unit", "text", "units"),
    [
        ("line", "a\n\nb\n", ["a", "", "b", ""]),
        ("paragraph", "\n\na\nb\n \n\nc\n\n", ["\n\na\nb", "c\n\n"]),
        ("sentence", "One. Two!) Three?\nfour。five 3.5 six.\n",
         ["One.", "Two!)", "Three?", "four。", "five 3.5 six.\n"]),
        ("sentence", "", [""]),
    ],
)  # fmt: skip
def test_oracle_spans__units(unit, text, units):
    assert [text[start:end] for start, end, _ in spans.units_of(text, unit)] == units


@pytest.mark.parametrize(
    ("text", "firsts", "left"),
    [
        ("a\nb\nc", [1], "a\nc"),
        ("a\nb\nc", [0], "b\nc"),
        ("a\nb\nc", [2], "a\nb"),
        ("a\nb\nc", [1, 2], "a"),
        ("a\n \nc", [0, 2], ""),
        ("\u2003\nb", [1], "\u2003"),  # only ASCII's white space counts as none
    ],
)
def test_oracle_spans__cut_text(text, firsts, left):
    assert spans.cut_text(text, "line", 1, firsts) == left


def test_oracle_spans__later_occurrences_are_cut():
    settings = {"unit": "line", "width": 3, "min_chars": 3}
    corpus = [(1, "Öne  line\nx", True), (2, "x\nöne line", True), (3, "öne line", False)]
    cuts = spans.cut_corpus(corpus, settings)
    assert [(cut.unit, cut.start, cut.end, cut.first) for cut in cuts[2]] == [(1, 2, 11, 1)]
    assert list(cuts) == [2]


def in_order_of_keys(places: list) -> bool:
    """Bytes sort as places do, in both orders."""
    lowest = [prefer.key_of(place, highest=False) for place in places]
    highest = [prefer.key_of(place, highest=True) for place in places]
    return lowest == sorted(set(lowest)) and highest == sorted(set(highest), reverse=True)


def test_oracle_prefer__order_of_numbers():
    ascending = ['"-Infinity"', "-1e1000000000000", "-1e99", "-0.123", "-0.12", "-1e-20", "0",
                 "1e-1000", "1e-5", "0.5", "1", "9", "9.1", "9007199254740993",
                 "9007199254740993.1", "1e999", '"Infinity"']  # fmt: skip
    places = [prefer.place_of(Member("n", "", raw)) for raw in ascending]
    assert places == sorted(places)
    assert in_order_of_keys(places)
    assert {kind for kind, _ in places} == {"number"}
    assert prefer.place_of(Member("n", "", "-0.0")) == prefer.place_of(Member("n", "", "0e7"))
    assert prefer.place_of(Member("n", "", "10")) == prefer.place_of(Member("n", "", "1.0e1"))


def test_oracle_prefer__order_of_texts_and_times():
    ascending = ["", "/", "0", "0000-01-01T00:00:0", "-99999-01-01", "-0001-01-01", "-0001-12-31",
                 "0000-01-01", "2020-01-01", "2020-01-01T00:00:00.5", "2020-01-02", "9999-12-31",
                 "9999-12-31T23:59:59.9", "9999-12-31T23:59:59z", "9999-12-31T23:59:59\U0010ffff",
                 "10000-01-01", "99999-01-01", "9999-12-31T23:59:5:", ":", "a", "a\0", "a\1",
                 "\uffff", "\U00010000"]  # fmt: skip
    places = [prefer.place_of(Member("n", "", encode_string(text))) for text in ascending]
    assert places == sorted(places)
    assert in_order_of_keys(places)
    assert prefer.time_place("2020-01-01T01:30+01:30") == prefer.time_place("2020-01-01")
    assert prefer.time_place("2020-01-01T00:00:00,500") == prefer.time_place(
        "+2020-01-01 00:00:00.5Z"
    )


@pytest.mark.parametrize(
    "text", ["2021-02-29", "2020-13-01", "2020-01-01T24:00", "2020-01-01T00:00:60", "2020-01-01\n"]
)
def test_oracle_prefer__no_time(text):
    assert prefer.time_place(text) is None


@pytest.mark.parametrize("raw", ["null", "true", "[1]", '{"a":1}', '"NaN"'])
def test_oracle_prefer__no_value_comes_last(raw):
    assert prefer.place_of(Member("n", "", raw)) is None
    assert prefer.ranks([None, (1, 1, "1"), (1, 1, "2")], highest=True) == [2, 1, 0]


@pytest.mark.parametrize(
    ("raw", "key"),
    [
        ("0e5", b"\1\2"),
        ('"Infinity"', b"\1\4"),
        ("0.5", b"\1\3" b"\3\1\x010" b"5\0"),
        ("120", b"\1\3" b"\3\1\x013" b"12\0"),
        ("0.0012", b"\1\3" b"\1\xfe\xfe\xcd" b"12\0"),
        ("-120", b"\1\1" b"\xfc\xfe\xfe\xcc" b"\xce\xcd\xff"),
        ('"a\\u0000b"', b"\2a\0\1b\0\0"),
        ('"2020-01-01"', b"\x022020-01-01T00:00:00\0\0"),
        ('"12345-01-01"',
         b"\x029999-12-31T23:59:59\xff" b"\3\1\x0512345" b"-01-01T00:00:00\0\0"),
        ('"-0001-01-01"',
         b"\x020000-01-01T00:00:0/\xff" b"\1\xfe\xfe\xce" b"-01-01T00:00:00\0\0"),
    ],
)  # fmt: skip
def test_oracle_prefer__keys(raw, key):
    assert prefer.key_of(prefer.place_of(Member("n", "", raw)), highest=False) == key
    turned = key[:1] + bytes(255 - byte for byte in key[1:])
    assert prefer.key_of(prefer.place_of(Member("n", "", raw)), highest=True) == turned
