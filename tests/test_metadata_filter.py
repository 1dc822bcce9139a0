"""The filters `metadata` and `metadata_number`: members of records, and what is said of wrong
settings."""

import json

import naive_filters
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.filters import limits
from corpusmill.mill.filters.configured import ConfiguredFilter, configured
from corpusmill.mill.filters.documents import Documents
from corpusmill.mill.filters.measuring import decided
from corpusmill.mill.read.text_column import TextColumn, string_array
from corpusmill.run.filter_faults import filter_faults

members = st.sampled_from(
    ["0", "1", "0.65", "true", "false", "null", '"a"', '"\\u0061"', '"é"', '"1"', '"2019-06"', "{}",
     '{"b":1}', "[]", "[1]", '""']
)  # fmt: skip
some = st.lists(
    st.sampled_from(["0", "1", "a", "é", "true", "{}"]), min_size=1, max_size=3, unique=True
)
bound = st.sampled_from(["", "1", "2019", "a", "é"])
given_settings = st.fixed_dictionaries(
    {"missing": st.sampled_from(["keep", "drop"])},
    optional={
        "one_of": some, "none_of": some, "first": bound, "last": bound,
        "matches": st.sampled_from(["", "^1", "a", "[0-9]$"]),
    },
)  # fmt: skip


def outcome(records: list[str], **entry) -> list[str | None]:
    """Why each record is dropped; None if it is kept. records: JSON texts of objects."""
    rests = string_array([record[1:-1].encode() for record in records]).cast(pa.large_binary())
    texts = string_array([b"text"] * len(records))
    documents = Documents(TextColumn.of(texts), pa.record_batch({"rest": rests}), [])
    assert list(filter_faults(configured([entry]), ["web"])) == []
    measured = ConfiguredFilter(entry).measurer().measure_documents(documents)
    columns = {name: pa.array(one) for name, one in measured.items()}
    sources = pa.array(["web"] * len(records)).dictionary_encode()
    table = pa.table(columns | {"text_bytes": [4] * len(records), "source": sources})
    return decided(configured([entry]), table).reasons


def kept(records: list[str], **settings) -> list[bool]:
    return [reason is None for reason in outcome(records, **settings)]


def setting_of(reason: str | None) -> str | None:
    if reason is None:
        return None
    return next((name for name in ("one_of", "none_of", "first", "last", "matches")
                 if f" {name} " in reason), "missing")  # fmt: skip


@examples(600)
@given(st.lists(members, min_size=1, max_size=4), given_settings)
def test_metadata__drops_as_its_twin(values, settings):
    if settings.get("first", "") > settings.get("last", "\U0010ffff"):
        return
    records = [f'{{"other": 1, "a": {{"b": {one}}}, "b": {one}}}' for one in values]
    for field in ("b", "a.b", "c", "a.c", "other.b"):
        got = outcome(records, name="metadata", field=field, **settings)
        expected = [
            naive_filters.metadata_drops(json.loads(one), field, settings) for one in records
        ]
        assert [setting_of(reason) for reason in got] == expected


def test_metadata__says_why():
    records = [f'{{"x": {one}}}' for one in ('"fr"', '"en"', "null", '"' + "y" * 300 + '"')]
    got = outcome(records, name="metadata", field="x", one_of=["en", "de", "a", "b", "c", "d"])
    assert got == [
        "metadata_value fr not in one_of en, de, a, b, c and 1 more", None, "no metadata_value",
        f"metadata_value {'y' * 99}… not in one_of en, de, a, b, c and 1 more",
    ]  # fmt: skip
    assert outcome(records[:1], name="metadata", field="x", none_of=["fr"]) == [
        "metadata_value fr in none_of fr"
    ]
    assert outcome(records[:1], name="metadata", field="x", matches="^e") == [
        "metadata_value fr not like matches ^e"
    ]


def test_metadata__ends_a_search_that_would_take_years(monkeypatch):
    monkeypatch.setattr(limits, "LONGEST_SEARCH", 0.2)
    record = json.dumps({"x": "a" * 60 + "b"})
    with pytest.raises(ValueError, match=r"took over 0\.2 seconds on the text 'aaaa"):
        outcome([record], name="metadata", field="x", matches="(a|aa)+$")


def test_metadata__numbers():
    numbers = ["0.65", "0.6", "-1", "1e400", "9007199254740993", '"0.7"', "null", "{}", "true"]
    records = [f'{{"n":{one}}}' for one in numbers]
    got = outcome(records, name="metadata_number", field="n", min=0.65, max=1e17)
    assert got == [
        None, "metadata_number 0.6 below min 0.65", "metadata_number -1 below min 0.65",
        "metadata_number inf above max 1e+17", None, *["no metadata_number"] * 4,
    ]  # fmt: skip
    assert kept(records, name="metadata_number", field="n", min=0, missing="keep") == [
        True, True, False, *[True] * 6,
    ]  # fmt: skip


def test_metadata_number__is_told_apart_from_its_limit():
    for number, least in (("0.49999999999999994", 0.5), ("1999999.0", 2_000_000)):
        got = outcome([f'{{"n":{number}}}'], name="metadata_number", field="n", min=least)
        assert got == [f"metadata_number {float(number)} below min {least}"]


def test_metadata__escaped_names_and_odd_spaces_of_json():
    records = ['{ "\\u0073core" :  0.5 , "z": [ {"score": 9} ] }', '{"a b": {"é": 0.5 }}']
    assert kept(records, name="metadata_number", field="score", max=1) == [True, False]
    assert kept(records, name="metadata", field="a b.é", one_of=["0.5"]) == [False, True]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"one_of": []}, "filters[0].one_of: expected a list of at least 1 entry, got []. Values "),
        ({"one_of": "en"}, "got en. Write the value in brackets: [en]."),
        ({"one_of": [2026]}, "expected a text, got 2026. YAML does not read this value as text"),
        ({"matches": "(a"}, "'(a' is not a regular expression: missing )"),
        ({"first": "b", "last": "a"}, "metadata: first b is above last a"),
        ({"field": "a..b"}, "field 'a..b' has an empty name. Correct the field."),
        ({"missing": "stop"}, "expected one of keep, drop, got stop."),
        ({"op": "=="}, "unknown key op. Known here: field, first, last, matches, missing, none_of"),
        ({"name": "metadata_number", "min": "1"}, "YAML reads this value as text: write 1."),
        ({"name": "metadata_number", "min": 2, "max": 1}, "metadata_number: min 2 is above max 1"),
        ({"name": "metadata_number", "field": ""}, "field '' has an empty name"),
    ],
)
def test_metadata__wrong_settings_are_told(settings, says):
    (fault,) = filter_faults(configured([{"name": "metadata", "field": "a"} | settings]), ["web"])
    assert says in fault


def test_records__are_there_for_filters_that_declare_it_alone():
    texts = string_array([b"text"])
    batch = pa.record_batch([texts], ["text"])
    documents = Documents(TextColumn.of(texts), batch, []).for_filter(frozenset({"lines"}))
    assert documents.lines().first.tolist() == [0, 1]
    with pytest.raises(ValueError, match="Add 'records' to the needs of this filter"):
        documents.members("a")
    with pytest.raises(ValueError, match="Add 'records' to the needs of this filter"):
        next(documents.records())
    with pytest.raises(ValueError, match="Add 'words' to the needs of this filter"):
        documents.words("unicode")
