"""What a calibration shows of limits on texts, and of texts that filters cut."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from calibrated import HOSTILE, called

from corpusmill.mill.filters.declaration import outside
from corpusmill.tools.tune.calibrate.figures import TextShare, texts_of
from corpusmill.tools.tune.calibrate.measured import Measured, Rule

SENTENCES = "This is a sentence of some words. " * 4
RECORDS = [
    *({"text": f"menu\n{SENTENCES}\n{n}", "code": "en", "score": n / 10} for n in range(6)),
    *({"text": f"menu\n{SENTENCES}\nde {n}", "code": "de", "score": "none"} for n in range(3)),
    {"text": f"menu\n{SENTENCES}\nodd", "code": HOSTILE},
]
FILTERS = [
    {"name": "metadata", "field": "code", "one_of": ["en"], "missing": "keep"},
    {"name": "c4", "needs_end_mark": False, "min_sentences": 2},
    {"name": "metadata_number", "field": "score", "min": 0.3},
    {"name": "lengths", "min_words": 1000},
]


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> tuple[str, dict, str]:
    """(terminal, figures, page)."""
    folder = tmp_path_factory.mktemp("texts")
    lines = [json.dumps(one) for one in [*RECORDS, {"text": SENTENCES * 2}]]
    (folder / "web.jsonl").write_text("\n".join(lines))
    config = {"sources": [{"name": "web", "files": ["web.jsonl"]}], "filters": FILTERS}
    (folder / "mine.yaml").write_text(yaml.safe_dump(config))
    before = Path.cwd()
    os.chdir(folder)
    try:
        got = called("mine.yaml", "--output", "looked", "--examples", "2")
    finally:
        os.chdir(before)
    assert got.exit_code == 0, got.output
    page = (folder / "looked/calibration.html").read_text("utf-8")
    return got.stdout, json.loads((folder / "looked/calibration.json").read_text("utf-8")), page


def rule(done, setting: str) -> dict:
    (found,) = (one for one in done[1]["rules"] if one["setting"] == setting)
    return found


def test_texts__are_told_with_what_is_dropped_of_them(done):
    found = rule(done, "one_of")["groups"]["all sources"]
    assert found["sampled"] == 4
    assert found["thresholds"] == []
    assert found["valued"] == pytest.approx(10 / 11)
    assert [(one["text"], round(11 * one["documents"]), round(11 * one["drops"]))
            for one in found["texts"]] == [("en", 6, 0), ("de", 3, 3), (HOSTILE, 1, 1)]  # fmt: skip
    assert rule(done, "none_of")["groups"]["all sources"]["texts"] == []


def test_texts__that_end_in_a_nul_are_texts_of_their_own():
    limit = outside("code", "one_of")
    values = np.array(["", "\0", "a\0", "a", None], object)
    drops = np.array([False, True, True, False, False])
    found = Rule("metadata", limit, "", values, ["", "a"], {}, drops, [])
    of = Measured(np.zeros(5), np.ones(5), np.ones(5), [], [found], {}, {})
    assert texts_of(of, found, np.arange(5)) == [
        TextShare(text, 0.2, share)
        for text, share in (("", 0), ("\0", 0.2), ("a", 0), ("a\0", 0.2))
    ]


def test_texts__stand_in_terminal_and_page(done):
    terminal, _, page = done
    assert "one_of not in en" in terminal
    assert re.search(r"^  de +27\.3 % +27\.3 %$", terminal, re.MULTILINE)
    assert "\x07" not in terminal
    assert "<bdi>de</bdi>" in page
    assert HOSTILE[:25] not in page
    assert "nearest to one_of" not in page


def test_examples__of_a_limit_on_texts_are_the_first_on_both_sides(done):
    got = rule(done, "one_of")["examples"]
    assert [(one["place"][-1], one["dropped"], one["value"]) for one in got] == [
        ("7", True, "metadata_value de not in one_of en"),
        ("8", True, "metadata_value de not in one_of en"),
        ("1", False, "en"),
        ("2", False, "en"),
    ]


def test_examples__of_what_is_missing_are_what_is_dropped(done):
    asked, least, _ = (one for one in done[1]["rules"] if one["filter"] == "metadata_number")
    assert [one["value"] for one in asked["examples"]] == ["no metadata_number"] * 2
    assert asked["groups"]["all sources"]["sampled"] == 5
    assert least["groups"]["all sources"]["sampled"] == 3
    assert least["groups"]["all sources"]["thresholds"]


def test_examples__are_what_the_filter_saw(done):
    """c4 cuts the menu and the last line: those in front of it see them, those behind do not."""
    for setting, whole in (("one_of", True), ("min_sentences", True), ("min_words", False)):
        for one in rule(done, setting)["examples"]:
            assert one["start"].startswith("menu") == whole
            assert one["start"].startswith("This is") != whole
