"""Fates that are no filters: one entry of a table, read by everyone who tells of them."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from test_config import SHIPPED

from corpusmill.mill.account.accounts import funnel, imbalances
from corpusmill.mill.decide import fate_columns
from corpusmill.mill.decide.fate_columns import FateColumn
from corpusmill.mill.decide.fates import (
    DUPLICATE,
    FATES,
    KEPT,
    NOT_SAMPLED,
    SPLITS,
    AtAssign,
    Fate,
    dropping_fates,
    uncompared_fates,
)
from corpusmill.mill.dedup.edges import STAGES
from corpusmill.mill.filters.configured import ConfiguredFilter, configured, name_faults
from corpusmill.mill.filters.reference import page
from corpusmill.run.config import Config
from corpusmill.tools.verify.between import _compared
from corpusmill.tools.why.facts import Facts
from corpusmill.tools.why.story import heading, how_alike, line_of_list, steps


@pytest.fixture
def another(monkeypatch) -> Fate:
    fate = Fate("one_too_many", "assign", "Its site has more documents than are wanted.")
    monkeypatch.setitem(FATES, fate.name, fate)
    return fate


@pytest.fixture
def facts(tmp_path) -> Facts:
    row = {"id": 7, "source": "web", "file": "a.jsonl", "line": 8, "fate": "one_too_many",
           "text_bytes": 30}  # fmt: skip
    config = SimpleNamespace(
        normalize=SimpleNamespace(mode="nfc"),
        filters=configured([{"name": "empty"}]),
        dedup=SimpleNamespace(within=None),
    )
    results = SimpleNamespace(
        config=config,
        path=lambda pattern, part: tmp_path / "none",
        sources={"web": SimpleNamespace(duplicates="near")},
    )
    ledger = SimpleNamespace(dropped_for=lambda id: ([], 0))
    return Facts(results, ledger, row)


def test_dropping_fates__have_filters_between_records_and_compared_documents():
    assert uncompared_fates(["a", "b"]) == ["malformed", "a", "b"]
    assert dropping_fates(["a", "b"])[:4] == ["malformed", "a", "b", "duplicate"]
    assert sorted(dropping_fates(["a", "b"])) == sorted({*FATES, "a", "b"} - {KEPT})


def test_decide__gives_the_fates_of_a_step_in_the_order_of_their_declarations(monkeypatch):
    late = Fate("late", "assign", "", decides=lambda documents: documents.measured("chars") > 5)
    other = Fate("other", "decontaminate", "", decides=lambda documents: documents.ids > 0)
    some = (FATES[DUPLICATE], FATES[NOT_SAMPLED], late, other)
    monkeypatch.setattr(fate_columns, "FATES", {fate.name: fate for fate in some})
    chars = {"chars": np.array([9, 9, 9, 1, 9])}
    ids, winner = np.arange(5, dtype=np.uint64), np.array([0, 0, 2, 3, 4], np.uint64)
    known = AtAssign(
        ids, winner, np.zeros(5), np.array([1, 1, 0, 1, 1]), np.ones(5, bool), chars.__getitem__
    )
    column = FateColumn(5)
    column.decide("assign", known, np.array([True, True, True, True, False]))
    found = column.array().to_pylist()
    assert found == ["late", "duplicate", "not_sampled", "kept", "kept"]


def test_why__tells_a_further_fate_as_no_filter(another, facts):
    assert heading(facts) == "Document 7 was dropped: one_too_many."
    assert steps(facts)[-3:] == [
        ("filter", "No filter (empty) dropped this document."),
        ("resolve", "No other document was dropped in favor of this document."),
        ("assign", f"Dropped as one_too_many: {another.meaning}"),
    ]
    assert line_of_list(facts) == ["7", "a.jsonl:8", "one_too_many", ""]


def test_why__names_the_settings_in_every_stage(facts):
    facts.row |= {"winner": 3, "similarity": 0.9}
    facts.results.config.dedup = Config.of(SHIPPED).dedup
    facts.results.config.minhash = Config.of(SHIPPED).minhash
    said = {}
    for stage in STAGES.values():
        facts.row["stage"] = stage
        said[stage] = how_alike(facts)
    assert not any("{" in sentence for sentence in said.values())
    assert "dedup.threshold is 0.8" in said["sketch"]
    assert "dedup.method is verified" in said["band"]


def test_account__counts_a_further_fate(another):
    figures = Counter(documents=3, kept=1, one_too_many=2, text_bytes=9, kept_bytes=4,
                      one_too_many_bytes=5)  # fmt: skip
    every = dropping_fates(["empty"])
    assert imbalances({"web": figures}, "part", every) == []
    told = funnel(figures, every, SPLITS)
    assert told["documents"]["dropped"]["one_too_many"] == 2
    assert told["bytes"]["dropped"]["one_too_many"] == 5
    assert _compared({"web": figures})["web"] == {"documents": 3, "duplicates": 0}


def test_docs_and_names_of_filters__know_a_further_fate(another):
    assert f"| `one_too_many` | `assign` | {another.meaning} |" in page()
    assert "the name one_too_many is reserved" in next(
        name_faults(ConfiguredFilter({"name": "one_too_many", "use": "empty"}))
    )
