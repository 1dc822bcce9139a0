"""The filter `metadata`: members of records compared, and what is said of wrong comparisons."""

import json

import naive_filters
import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from workflow import write_jsonl

from corpusmill.filters.documents import Documents
from corpusmill.filters.registry import deciding, filter_of, measurer, measuring
from corpusmill.run.filter_faults import filter_faults
from corpusmill.text.columns import TextColumn, string_array

NUMBERS = ["0", "-0.0", "1", "1.0", "1e0", "0.65", "0.650000000000000000000001", "9007199254740993"]
scalars = st.sampled_from([*NUMBERS, '"a"', '"\\u0061"', '"é"', '"1"', "true", "false", "null"])
members = scalars | st.sampled_from(["{}", '{"b":1}', "[]", "[1]"])
OPERATIONS = ["==", "!=", "<", "<=", ">", ">="]
GIVEN = [0, 1, 0.65, 9007199254740992, 9007199254740993, "a", "é", "1"]


def kept(records: list[str], **settings) -> list[bool]:
    """records: JSON texts of objects."""
    rests = string_array([record[1:-1].encode() for record in records]).cast(pa.large_binary())
    texts = string_array([b"text"] * len(records))
    documents = Documents(TextColumn.of(texts), pa.record_batch({"rest": rests}), [])
    entry = {"name": "metadata", **settings}
    assert list(filter_faults([entry], ["web"])) == []
    measured = measurer(measuring(entry)).measure_documents(documents)["metadata_value"]
    return (~filter_of(entry).drops({"metadata_value": np.array(measured, object)})).tolist()


def expected(record: str, field: str, op: str, value, missing: str) -> bool:
    as_fractions = naive_filters.with_fractions(json.dumps(value))
    with_fractions = naive_filters.with_fractions(record)
    return naive_filters.metadata_keeps(with_fractions, field, op, as_fractions, missing)


@examples(600)
@given(
    st.lists(members, min_size=1, max_size=4),
    st.sampled_from(OPERATIONS),
    st.sampled_from(GIVEN),
    st.sampled_from(["keep", "drop"]),
)
def test_metadata__compares_as_its_twin(values, op, value, missing):
    records = [f'{{"other": 1, "a": {{"b": {one}}}, "b": {one}}}' for one in values]
    for field in ("b", "a.b", "c", "a.c", "other.b"):
        got = kept(records, field=field, op=op, value=value, missing=missing)
        assert got == [expected(record, field, op, value, missing) for record in records]


@examples(200)
@given(
    st.lists(members, max_size=4),
    st.sampled_from(["in", "not in"]),
    st.lists(st.sampled_from(GIVEN), min_size=1, max_size=3, unique=True),
    st.sampled_from(["keep", "drop"]),
)
def test_metadata__finds_in_a_list_as_its_twin(values, op, listed, missing):
    records = [f'{{"b":{one}}}' for one in values]
    got = kept(records, field="b", op=op, value=listed, missing=missing)
    assert got == [expected(record, "b", op, listed, missing) for record in records]


def test_metadata__numbers_are_exact():
    """A float of 64 bits tells none of these from its neighbour."""
    records = [f'{{"n":{n}}}' for n in ("0.65", "0.6499999999999999999999", "1e400", "1e-400")]
    assert kept(records, field="n", op=">=", value=0.65) == [True, False, True, False]
    assert kept(['{"n":9007199254740993}'], field="n", op="==", value=9007199254740992) == [False]


def test_metadata__truths_texts_and_existence():
    records = ['{"x":true}', '{"x":"true"}', '{"x":null}', "{}", '{"x":{"y":[2]}}', '{"x":[]}']
    assert kept(records, field="x", op="==", value=True) == [True, *[False] * 5]
    assert kept(records, field="x", op="exists") == [True, True, False, False, True, True]
    assert kept(records, field="x.y", op="exists") == [False] * 4 + [True, False]
    assert kept(records, field="x", op="matches", value="^tr") == [False, True, *[False] * 4]


def test_metadata__escaped_names_and_odd_spaces_of_json():
    records = ['{ "\\u0073core" :  0.5 , "z": [ {"score": 9} ] }', '{"a b": {"é": 0.5 }}']
    assert kept(records, field="score", op="<", value=1) == [True, False]
    assert kept(records, field="a b.é", op="<", value=1) == [False, True]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"op": "=", "value": 1}, "'=' is not one of"),
        ({"op": "=="}, "op == needs as value a text or a number, found []"),
        ({"op": "==", "value": [1]}, "op == needs as value a text or a number, found [1]"),
        ({"op": "in", "value": "en"}, "op in needs as value a list that is not empty, found 'en'"),
        ({"op": "<", "value": True}, "op < needs a text or a number, found True. Use == or !=."),
        ({"op": "<", "value": float("nan")}, "nan is not of type"),
        ({"op": "exists", "value": 1}, "op exists needs no value, found 1. Remove it."),
        ({"op": "matches", "value": 3}, "op matches needs a regular expression, found 3."),
        ({"op": "matches", "value": "(a"}, "'(a' is no regular expression: missing )"),
        ({"op": "exists", "field": "a..b"}, "field 'a..b' has an empty name. Correct it."),
        ({"op": "exists", "missing": "stop"}, "'stop' is not one of"),
        ({"value": 3}, "metadata needs op. How it is compared."),
    ],
)
def test_metadata__wrong_comparisons_are_told(settings, says):
    (fault,) = filter_faults([{"name": "metadata", "field": "a"} | settings], ["web"])
    assert says in fault


def test_metadata__through_the_steps(step, tmp_path):
    raw = tmp_path / "raw.jsonl"
    write_jsonl(raw, [{"text": "one", "score": 0.4}, {"text": "two", "score": 0.7}, {"text": "3"}])
    state = {"bytes": raw.stat().st_size, "mtime_ns": raw.stat().st_mtime_ns, "text_field": "text"}
    paths = [tmp_path / name for name in ("text.arrow", "quarantine.jsonl", "counts.json")]
    files = [{"source": "web", "path": str(raw)} | state]
    step("normalize").normalize(files, "nfc", [], *paths)
    entry = {"name": "metadata", "field": "score", "op": ">=", "value": 0.5}
    measures, verdicts = tmp_path / "measures.arrow", tmp_path / "verdicts.arrow"
    measure = step("measure")
    none = measure.EditedFiles([], [], [], [])
    measure.measure(paths[0], [measuring(entry)], {"field": None}, 0, measures, none)
    step("filter").filter(measures, [deciding(entry)], verdicts, tmp_path / "counts.json")
    measured = feather.read_table(measures)
    assert measured["metadata_value"].to_pylist() == ["0.4", "0.7", None]
    fates = feather.read_table(verdicts)["fate"].to_pylist()
    assert fates == ["metadata", "kept", "metadata"]


def test_records__are_there_for_filters_that_declare_it_alone():
    texts = string_array([b"text"])
    documents = Documents(TextColumn.of(texts), pa.record_batch([texts], ["text"]), [])
    with pytest.raises(ValueError, match="reads_records = True"):
        documents.members("a")
    with pytest.raises(ValueError, match="reads_records = True"):
        next(documents.records())
