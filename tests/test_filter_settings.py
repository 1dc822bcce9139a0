"""Filters as the configuration has them: limits, other names, settings of single sources."""

import json

import numpy as np
import pyarrow as pa
import pytest

from corpusmill.mill.filters.configured import ConfiguredFilter, configured
from corpusmill.mill.filters.measuring import Measures, decided
from corpusmill.mill.filters.registry import filter_class, known_filters
from corpusmill.run.filter_faults import filter_faults

CLOSE = """
import numpy as np
from corpusmill.mill.filters.declaration import Filter, Value, above, below, file, number

class Mine(Filter):
    fate = "mine"
    settings = {
        "least": number(2, "Least.", least=0),
        "most": number(None, "Most.", most=9),
        "words": file(None, "Words."),
    }
    measured_with = ("words",)
    values = {"size": Value("float64", "size")}
    limits = (below("size", "least"), above("size", "most"))

    def measure(self, texts):
        return {"size": texts.sizes().astype(np.float64)}

    def faults(self):
        if self.most == self.least:
            yield f"least and most are both {self.most}. Move one."
"""


@pytest.fixture
def entry(tmp_path):
    (tmp_path / "mine.py").write_text(CLOSE)
    (tmp_path / "words.txt").write_text("one")
    return {"name": "mine", "file": str(tmp_path / "mine.py"), "words": str(tmp_path / "words.txt")}


def table(sizes: list[float], sources: list[str], **columns: list) -> pa.Table:
    labels = pa.array(sources).dictionary_encode()
    return pa.table({"size": sizes, "text_bytes": [1] * len(sizes), "source": labels} | columns)


def outcome(entries: list[dict], measures: pa.Table) -> list[tuple[str, str | None]]:
    decision = decided(configured(entries), measures)
    return list(zip(decision.fates.array().to_pylist(), decision.reasons, strict=True))


def test_limit__drops_what_is_beyond_it_and_says_so(entry):
    found = outcome([entry | {"most": 5}], table([1.5, 2, 5, 5.25], ["web"] * 4))
    assert found == [
        ("mine", "size 1.5 below least 2"), ("kept", None), ("kept", None),
        ("mine", "size 5.25 above most 5"),
    ]  # fmt: skip


def test_limit__is_none_where_it_is_null(entry):
    assert outcome([entry | {"least": None}], table([0, 99], ["web"] * 2)) == [("kept", None)] * 2


def test_limit__nothing_is_beyond_it_without_a_value(entry):
    assert outcome([entry], table([np.nan], ["web"])) == [("kept", None)]


def test_filter__decides_otherwise_on_some_sources(entry):
    own = {"books": False, "code": {"least": 0, "most": 3}}
    sizes, sources = [1, 1, 1, 4, 4], ["web", "books", "code", "code", "web"]
    assert outcome([entry | {"sources": own}], table(sizes, sources)) == [
        ("mine", "size 1 below least 2"), ("kept", None), ("kept", None),
        ("mine", "size 4 above most 3"), ("kept", None),
    ]  # fmt: skip


def test_filter__may_be_there_twice(entry):
    twice = entry | {"name": "again", "use": "mine", "least": 9}
    measures = table([1, 5], ["web"] * 2, again_size=[1.0, 5.0])
    assert [fate for fate, _ in outcome([entry, twice], measures)] == ["mine", "again"]
    assert list(filter_faults(configured([entry, twice]), ["web"])) == []
    assert ConfiguredFilter(twice).measuring == {
        key: twice[key] for key in ("name", "use", "file", "words")
    }


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"least": -1}, "filters[0].least: expected a number from 0 "),
        ({"most": 2}, "filters[0]: least and most are both 2. Move one."),
        ({"most": 1}, "filters[0]: mine: least 2 is above most 1, so no value of size "),
        ({"words": "none.txt"}, "filters[0]: there is no file none.txt. Correct its path."),
        ({"sources": {"wep": False}}, "filters[0].sources.wep: there is no source wep. Did you"),
        ({"sources": {"web": {"mots": 3}}}, "filters[0].sources.web: unknown key mots. Did you"),
        ({"sources": {"web": {"most": 10}}}, "filters[0].sources.web.most: expected "),
        ({"sources": {"web": {"most": 1}}}, "filters[0].sources.web: mine: least 2 is above most"),
        ({"sources": {"web": {"words": "a"}}}, "filters[0].sources.web: words affects measured"),
    ],
)  # fmt: skip
def test_wrong_settings__are_told(entry, more, says):
    faults = list(filter_faults(configured([entry | more]), ["web", "books"]))
    assert any(fault.startswith(says) for fault in faults), json.dumps(faults, indent=1)


@pytest.mark.parametrize("name", known_filters())
def test_limits_that_leave_no_room__are_told_of_every_filter(name):
    limits = getattr(filter_class({"name": name}), "limits", ())
    for least in (one for one in limits if one.side == "below"):
        for most in (one for one in limits if (one.value, one.side) == (least.value, "above")):
            of_texts = name == "metadata"
            entry = {"name": name, "field": "a"} if "metadata" in name else {"name": name}
            entry |= {"model": __file__} if name == "fasttext" else {}
            low, high = ("b", "a") if of_texts else (1, 0)
            faults = list(
                filter_faults(configured([entry | {least.setting: low, most.setting: high}]), [])
            )
            assert f"{least.setting} {low} is above {most.setting} {high}" in faults[0]


def test_words_of_measuring__have_to_be_given(entry):
    del entry["words"]
    assert list(filter_faults(configured([entry]), ["web"])) == [
        "filters[0]: mine needs words. Words."
    ]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            '"size": Value(',
            '"its size": Value(',
            "value 'its size' is not a name of letters, digits",
        ),
        (
            'above("size", "most")',
            'outside("size", "names")',
            "size is not in a setting, but size is",
        ),
        ('above("size", "most")', 'among("text", "most")', "if text is in most, which is"),
        ('above("size", "most")', 'lacking("sise", "most")', "names the value sise, which the"),
        ('above("size", "most")', 'unlike("text", "mots")', "names the setting mots, which the"),
    ],
)
def test_wrong_declaration__is_told(entry, tmp_path, old, new, says):
    code = CLOSE.replace(
        "import Filter,", "import among, lacking, outside, several, unlike, Filter,"
    )
    code = code.replace("values = {", 'values = {"text": Value("text", "it"), ')
    code = code.replace("settings = {", 'settings = {"names": several(None, "Names."),')
    assert list(filter_faults(configured([entry]), [])) == []
    (tmp_path / "wrong.py").write_text(code.replace(old, new))
    faults = list(filter_faults(configured([entry | {"file": str(tmp_path / "wrong.py")}]), []))
    assert any(says in fault for fault in faults), faults


TEXTS = """
from corpusmill.mill.filters.declaration import *

class Kind(Filter):
    fate = "kind"
    settings = {
        "missing": keep_or_drop("keep", "Without."), "kinds": several(None, "Kept."),
        "bad": several(None, "Dropped."), "first": text(None, "First."), "like": text(None, "."),
    }
    values = {"kind": Value("text", "kind")}
    limits = (
        lacking("kind", "missing"), outside("kind", "kinds"), among("kind", "bad"),
        below("kind", "first"), unlike("kind", "like"),
    )

    def measure(self, texts):
        return {"kind": []}
"""


@pytest.mark.parametrize(
    ("settings", "reasons"),
    [
        ({}, [None, None, None]),
        ({"missing": "drop"}, [None, None, "no kind"]),
        ({"missing": None, "kinds": ["b"]}, ["kind ab not in kinds b", None, None]),
        ({"kinds": []}, ["kind ab not in kinds ", "kind b not in kinds ", None]),
        ({"bad": ["b", "c"]}, [None, "kind b in bad b, c", None]),
        ({"first": "b"}, ["kind ab below first b", None, None]),
        ({"like": "^b"}, ["kind ab not like like ^b", None, None]),
    ],
)
def test_limit__on_texts(tmp_path, settings, reasons):
    (tmp_path / "kind.py").write_text(TEXTS)
    entry = {"name": "kind", "file": str(tmp_path / "kind.py")} | settings
    assert list(filter_faults(configured([entry]), [])) == []
    columns = {"kind": ["ab", "b", None], "text_bytes": [1] * 3}
    measures = pa.table(columns | {"source": pa.array(["web"] * 3).dictionary_encode()})
    assert decided(configured([entry]), measures).reasons == reasons


def test_faults__name_a_file_of_a_name_that_no_system_takes():
    for entry in ({"name": "bad_words", "list": "a" * 999}, {"name": "x", "file": "a" * 999}):
        assert any("a" * 300 in fault for fault in filter_faults(configured([entry]), ["web"]))


def test_measures__leave_out_filters_that_do_not_look_at_texts():
    filters = configured([{"name": "empty"}, {"name": "too_short", "min_chars": 3}])
    assert [filter.measures for filter in filters] == [False, True]
    assert list(Measures(filters).columns()) == ["chars"]


def test_configured_filter__is_not_imported_before_its_class_is_asked_for(tmp_path):
    file = tmp_path / "mine.py"
    (filter,) = configured([{"name": "mine", "file": str(file), "sources": {"a": False}}])
    assert (filter.name, filter.code, filter.untouched) == ("mine", file, ["a"])
    with pytest.raises(ValueError, match=r"mine\.py"):
        assert filter.declaration
