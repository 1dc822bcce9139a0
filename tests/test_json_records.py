"""JSON lines: every fault by its reason, all else as it came, no member lost."""

import json

import msgspec
import pytest
from effort import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from corpusmill.mill.read.first_records import Silence
from corpusmill.mill.read.json_records import LONE_SURROGATE
from corpusmill.mill.read.readers import read_records
from corpusmill.mill.read.records import Malformed, Record
from corpusmill.mill.shuffle.text_shards import Document, record_line

LINE, RECORD = b'{"text":"first","n":1}', Record(1, "first", b'"n":1')

# What follows is the second of three lines: the first and the third stay whole.
MALFORMED = {
    "blank": (b"", "blank line"),
    "white": (b" \t", "blank line"),
    "broken": (b'{"text": "This record stops', "not JSON"),
    "two": (b'{"text":"a"} {"text":"b"}', "not JSON"),
    "escape": (rb'{"text":"a","x":"\q"}', "not JSON"),
    "tab": (b'{"text":"a\tb"}', "not JSON"),
    "number": (b'{"text":"a","x":01}', "not JSON"),
    "list": (b'["text"]', "expected a JSON object, found an array"),
    "string": (b'"text"', "expected a JSON object, found a string"),
    "missing": (b'{"txt":"a"}', 'no "text" field'),
    "null": (b'{"text":null}', '"text" is null, not a string'),
    "a number": (b'{"text":1789}', '"text" is a number, not a string'),
    "texts": (b'{"text":["a"]}', '"text" is an array, not a string'),
    "latin": (b'{"text":"caf\xe9"}', "not UTF-8 at byte 12 of the line"),
    "latin beside": (b'{"text":"a","x":"\xe9"}', "not UTF-8 at byte 17 of the line"),
    "latin name": (b'{"text":"a","\xe9":1}', "not UTF-8 at byte 13 of the line"),
    "encoded surrogate": (b'{"text":"\xed\xa0\x80"}', "not UTF-8 at byte 9 of the line"),
    "surrogate": (rb'{"text":"a\ud800"}', "lone surrogate"),
    "surrogate beside": (rb'{"text":"a","x":"\udc00"}', "lone surrogate"),
    "surrogate inside": (rb'{"text":"a","x":[{"\udc00":1}]}', "lone surrogate"),
    "surrogate name": (rb'{"text":"a","\ud800":1}', "lone surrogate"),
    "boolean": (b'{"text":true}', '"text" is a boolean, not a string'),
    "object": (b'{"text":{"text":"a"}}', '"text" is an object, not a string'),
    "mark": (b'\xef\xbb\xbf{"text":"a"}', "a byte order mark (EF BB BF) before the record"),
    "empty": (b"{}", 'no "text" field'),
    "digits": (b"1" * 5000, "expected a JSON object, found a number"),
    "twice": (b'{"text":"a","x":1,"x":2}', 'member "x" stands twice'),
    "text twice": (b'{"text":1,"text":"a"}', 'member "text" stands twice'),
    "twice spaced": (b' { "x" : 1 , "x" : 1 , "text" : "a" } \r', 'member "x" stands twice'),
    "twice in Python's style": (
        b'{"x": 1, "text": "a", "b": 0, "x": 1}',
        'member "x" stands twice',
    ),
    "twice escaped": (rb'{"a":1,"text":"a","\u0061":2}', 'member "a" stands twice'),
    "twice nameless": (b'{"":1,"":2,"text":"a"}', 'member "" stands twice'),
    "twice and not UTF-8": (b'{"text":"a","x":"\xe9","x":1}', "not UTF-8 at byte 17"),
    "twice half a pair": (rb'{"text":"a","\ud800":1,"\ud800":2}', r'member "\ud800" stands twice'),
    "twice and no text": (b'{"x":1,"x":2}', 'member "x" stands twice'),
    "deep": (b'{"text":"a","x":' + b"[" * 9999 + b"]" * 9999 + b"}", "nested too deeply"),
    "bare": (b"[" * 99999, "nested too deeply"),
    "zero": (b'{"text":"a"\0}', "not JSON"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_read_records__locate_what_is_malformed(read, name):
    line, reason = MALFORMED[name]
    one, got, three = read(b"\n".join([LINE, line, LINE]))
    assert (one, three) == (RECORD, RECORD._replace(line=3))
    assert isinstance(got, Malformed)
    assert (got.line, got.offset) == (2, len(LINE) + 1)
    assert reason in got.reason
    assert got.start == line[:80].decode("utf-8", "backslashreplace")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_read_records__name_a_number_that_is_not_json(read, number):
    (got,) = read(b'{"text":"a","x":%s}' % number.encode())
    assert isinstance(got, Malformed)
    assert "surrogate" not in got.reason


def test_read_records__of_a_named_field(read):
    (got,) = read(b'{"content":"a","text":"b"}', text_field="content")
    assert got == Record(1, "a", b'"text":"b"')


def test_read_records__undo_the_escapes_of_the_text(read):
    (got,) = read(rb'{"text":"\u00e4\ud83d\ude00\n\"\/\\"}')
    assert got.text == 'ä😀\n"/\\'


@pytest.mark.parametrize(
    "value",
    ["1.0e5", "12345678901234567890", "-0.10", "1E+2", r'"\u00e4\/\n"', '"ä水😀"', "null", "{}",
     '{ "b" :  [1 ,2,  {"c":null} ] }', '"  two  blanks  "', '"\\"text\\": 1"', "[ ]"],
)  # fmt: skip
def test_read_records__carry_other_fields_byte_for_byte(read, value):
    line = f'{{ "before" : {value} , "text" : "a" ,"after":{value}  }}'
    (got,) = read(line.encode())
    assert got == Record(1, "a", f'"before":{value},"after":{value}'.encode())


def test_read_records__keep_a_text_with_a_lone_surrogate_for_who_mends_it(read):
    (got,) = read(rb'{"text":"a\ud800b","n":"\u00e4","k":[1,2]}', keep_surrogates=True)
    assert got == Record(1, "a\ud800b", rb'"n":"\u00e4","k":[1,2]')


@pytest.mark.parametrize(
    "line",
    [rb'{"text":"a","x":"\ud800"}', rb'{"text":"\ud800","x":"\ud800"}', b'{"text":"a","x":NaN}',
     rb'{"text":"\ud800","x":NaN}', rb'{"text":"\ud800","x":1e999}'],
)  # fmt: skip
def test_read_records__kept_surrogates_never_make_a_record_that_is_not_json(read, line):
    (got,) = read(line, keep_surrogates=True)
    if isinstance(got, Record):
        final = b"".join(record_line(b"mended", got.rest, 1, 0, "s"))
        assert msgspec.json.decode(final, type=Document).text == "mended"


@pytest.mark.parametrize("name", ["null", "missing", "list", "latin", "broken", "bare"])
def test_read_records__kept_surrogates_do_not_excuse_other_faults(read, name):
    line, reason = MALFORMED[name]
    (got,) = read(line, keep_surrogates=True)
    assert isinstance(got, Malformed)
    assert reason in got.reason


A, BACKSLASH = '"a":', "\\"
names = st.sampled_from(["text", "a", "b", "", 'a"b', "水", "a\nb"])
values = st.recursive(
    st.sampled_from(["1", "-0.50", "1e999", '""', '"text"', "null", r'", \"a\": 1"', '"水"']),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2).map(lambda some: f"[{' , '.join(some)}]"),
        st.lists(inner, max_size=2).map(lambda some: f"{{{','.join(f'{A}{v}' for v in some)}}}"),
    ),
    max_leaves=4,
)


def encoded(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def all_escaped(name: str) -> str:
    return f'"{"".join(f"{BACKSLASH}u{ord(character):04x}" for character in name)}"'


@st.composite
def objects(draw) -> str:
    """A JSON object of doubtful members in one of the styles that there are, or in none."""
    members = [("text", '"the text"'), *draw(st.lists(st.tuples(names, values), max_size=4))]
    comma, colon = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,", " :"), (", ", ":")]))
    quoted = draw(st.sampled_from([json.dumps, encoded, all_escaped]))
    written = [quoted(name) + colon + value for name, value in draw(st.permutations(members))]
    before, after = draw(st.sampled_from([("", ""), ("", "\r"), (" ", " "), ("", "    \t")]))
    inside = draw(st.sampled_from(["", " "]))
    return f"{before}{{{inside}{comma.join(written)}{inside}}}{after}"


@examples(800, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(line=objects())
def test_read_records__take_a_record_just_if_no_member_stands_twice(read, line):
    for keep_surrogates in (False, True):
        (got,) = read(line.encode(), keep_surrogates=keep_surrogates)
        members = json.JSONDecoder(object_pairs_hook=list).decode(line)
        found = [name for name, _ in members]
        twice = [name for place, name in enumerate(found) if name in found[:place]]
        if twice:
            quoted = json.dumps(twice[0], ensure_ascii=False)
            assert got.reason == f"member {quoted} stands twice"
        else:
            rest = json.JSONDecoder(object_pairs_hook=list).decode(f"{{{got.rest.decode()}}}")
            assert rest == [member for member in members if member[0] != "text"]


@pytest.mark.parametrize("keep_surrogates", [False, True])
def test_read_records__kept_surrogates_do_not_excuse_a_doubled_member(read, keep_surrogates):
    (got,) = read(rb'{"text":"\ud800","x":1,"x":2}', keep_surrogates=keep_surrogates)
    assert got.reason == 'member "x" stands twice'


@pytest.mark.parametrize("keep_surrogates", [False, True])
@pytest.mark.parametrize("text", ["a", r"\ud800"])
def test_read_records__of_500_levels_are_records_and_of_more_are_not(read, text, keep_surrogates):
    for depth in (499, 500, 700, 960, 1010):
        nested = '[{"]":' * (depth // 2) + "[" * (depth % 2) + '"[{"'
        nested += "]" * (depth % 2) + "}]" * (depth // 2)
        line = f'{{"text":"{text}","x":{nested}}}'.encode()
        (got,) = read(line, keep_surrogates=keep_surrogates)
        if depth > 499:
            assert got.reason == "nested too deeply"
        elif text == "a" or keep_surrogates:
            assert got.rest == f'"x":{nested}'.encode()
        else:
            assert got.reason == LONE_SURROGATE


def test_read_records__keep_a_lone_surrogate_beside_a_number_of_many_digits(read):
    digits = b"1" * 5000
    (got,) = read(rb'{"text":"\ud800","x":%s}' % digits, keep_surrogates=True)
    assert got == Record(1, "\ud800", b'"x":' + digits)


def test_read_records__drop_a_byte_order_mark_at_the_beginning_alone(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"text":"a"}\nno\n\xef\xbb\xbf{"text":"b"}\n')
    first, second, third = read_records(str(path), "text", Silence())
    assert first == Record(1, "a", b"")
    assert (second.line, second.offset) == (2, 16)
    assert (third.offset, third.reason.split(" (")[0]) == (19, "a byte order mark")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_read_records__refuse_utf_16_by_name(tmp_path, encoding):
    path = tmp_path / "a.jsonl"
    path.write_bytes('\ufeff{"text":"a"}\n'.encode(encoding))
    with pytest.raises(ValueError, match="expected UTF-8, found UTF-16"):
        list(read_records(str(path), "text", Silence()))
