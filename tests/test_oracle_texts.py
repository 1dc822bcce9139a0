"""What the oracle makes of records and texts: small cases whose answers are written by hand."""

import pytest
from oracle import prefer, sketches, spans, texts
from oracle.reading import json_record, members_json
from oracle.strict_json import Member, encode_string


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


@pytest.mark.parametrize(
    "line",
    [
        b"", b" \t", b"[1]", b"null", b'"text"', b'{"text":1}', b'{"tex":"a"}', b'{"text":"a"',
        b'{"text":"a"}}', b'{"text":"a",}', b'{"text":"a" "b":1}', b'{"text":"a","b":01}',
        b'{"text":"a","b":1.}', b'{"text":"a","b":.5}', b'{"text":"a","b":NaN}', b'{"text":"\t"}',
        b'{"text":"\xff"}', b'{"text":"\\x"}', b'{"text":"a","text":"a"}', b'{"text":"\\ud800"}',
        b'{"text":"a","b":1,"\\u0062":2}', b'{"text":"a","b":[{"\\udc00":1}]}',
        b'\xef\xbb\xbf{"text":"a"}', b'\x0b{"text":"a"}', b'{"text":"a","b":[1,]}', b"{'text':'a'}",
    ],
)  # fmt: skip
def test_oracle_reading__malformed(line):
    assert json_record(line, "text", mends_text=False).text is None


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
    assert sketches.least_and_enough(128, 0.8) == (84, 126)  # as docs/decisions.md says
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


def test_oracle_prefer__order_of_numbers():
    ascending = ['"-Infinity"', "-1e99", "-0.123", "-0.12", "0", "1e-5", "9", "9.1", "1e999",
                 '"Infinity"']  # fmt: skip
    places = [prefer.place_of(Member("n", "", raw)) for raw in ascending]
    assert places == sorted(places)
    assert {kind for kind, _ in places} == {"number"}
    assert prefer.place_of(Member("n", "", "-0.0")) == prefer.place_of(Member("n", "", "0e7"))
    assert prefer.place_of(Member("n", "", "10")) == prefer.place_of(Member("n", "", "1.0e1"))


def test_oracle_prefer__order_of_texts_and_times():
    ascending = ["", "-0001-01-01", "0000-01-01", "2020-01-01", "2020-01-01T00:00:00.5",
                 "2020-01-02", "9999-12-31", "10000-01-01", "99999-01-01", "a"]  # fmt: skip
    places = [prefer.place_of(Member("n", "", f'"{text}"')) for text in ascending]
    assert places == sorted(places)
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
