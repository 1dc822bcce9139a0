"""Fates that are no filters: one entry of a table, read by everyone who tells of them."""

from collections import Counter
from types import SimpleNamespace

import pytest

from corpusmill.mill.account.accounts import funnel, imbalances
from corpusmill.mill.decide import fates
from corpusmill.mill.decide.fates import Fate, dropping_fates, uncompared_fates
from corpusmill.mill.filters.configured import ConfiguredFilter, configured, name_faults
from corpusmill.mill.filters.reference import page
from corpusmill.tools.verify.between import _compared
from corpusmill.tools.why.facts import Facts
from corpusmill.tools.why.story import heading, line_of_list, steps


@pytest.fixture
def another(monkeypatch) -> Fate:
    fate = Fate("one_too_many", "assign", "Its site has more documents than are wanted.")
    monkeypatch.setitem(fates.FATES, fate.name, fate)
    return fate


@pytest.fixture
def facts(tmp_path) -> Facts:
    row = {"id": 7, "source": "web", "file": "a.jsonl", "line": 8, "fate": "one_too_many",
           "text_bytes": 30}  # fmt: skip
    config = SimpleNamespace(
        normalize=SimpleNamespace(mode="nfc"), filters=configured([{"name": "empty"}])
    )
    results = SimpleNamespace(config=config, path=lambda pattern, part: tmp_path / "none")
    ledger = SimpleNamespace(dropped_for=lambda id: ([], 0))
    return Facts(results, ledger, row)


def test_dropping_fates__have_filters_between_records_and_compared_documents():
    assert dropping_fates(["a", "b"]) == [
        "malformed", "a", "b", "duplicate", "not_sampled", "contaminated",
    ]  # fmt: skip
    assert uncompared_fates(["a", "b"]) == ["malformed", "a", "b"]


def test_why__tells_a_further_fate_as_no_filter(another, facts):
    assert heading(facts) == "Document 7 was dropped: one_too_many."
    assert steps(facts)[-3:] == [
        ("filter", "None of the filters (empty) objected."),
        ("resolve", "No other document was dropped for it."),
        ("assign", f"Dropped as one_too_many: {another.meaning}"),
    ]
    assert line_of_list(facts) == ["7", "a.jsonl:8", "one_too_many", ""]


def test_account__counts_a_further_fate(another):
    figures = Counter(documents=3, kept=1, one_too_many=2, text_bytes=9, kept_bytes=4,
                      one_too_many_bytes=5)  # fmt: skip
    every = dropping_fates(["empty"])
    assert imbalances({"web": figures}, "part", every) == []
    told = funnel(figures, every)
    assert told["documents"]["dropped"]["one_too_many"] == 2
    assert told["bytes"]["dropped"]["one_too_many"] == 5
    assert _compared({"web": figures})["web"] == {"documents": 3, "duplicates": 0}


def test_docs_and_names_of_filters__know_a_further_fate(another):
    assert f"| `one_too_many` | `assign` | {another.meaning} |" in page()
    assert "the name one_too_many is reserved" in next(
        name_faults(ConfiguredFilter({"name": "one_too_many", "use": "empty"}))
    )
