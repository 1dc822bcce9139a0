"""The calibration as a whole: what it tells of a corpus that is all in the sample."""

import json
import math
import os
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pyarrow.feather as feather
import pytest
import yaml
from calibrated import HOSTILE, called, make_corpus

from corpusmill.mill.storage.streams import READ_LIMITS


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return make_corpus(tmp_path_factory.mktemp("calibration"))


@pytest.fixture(scope="module")
def done(folder) -> tuple[str, dict, str]:
    """(terminal, figures, page) of a sample that is all there is."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        got = called("mine.yaml", "--output", "whole")
    finally:
        os.chdir(before)
    assert got.exit_code == 0, got.output
    page = (folder / "whole/calibration.html").read_text("utf-8")
    return got.stdout, json.loads((folder / "whole/calibration.json").read_text("utf-8")), page


@pytest.fixture(scope="module")
def stepped(folder, step) -> list[dict]:
    """What the steps of a run make of the same corpus: the ledger's rows, nearly."""
    files = [{"source": name, "path": str(folder / f"{name}.jsonl"), "text_field": "text",
              "bytes": None, "mtime_ns": None} for name in ("one", "two")]  # fmt: skip
    at = folder / "steps"
    at.mkdir()
    step("normalize").normalize(
        files, {"mode": "nfc"}, [], READ_LIMITS, 1 << 40, at / "text", at / "bad", at / "counts"
    )
    before = Path.cwd()
    os.chdir(folder)
    try:
        entries = yaml.safe_load((folder / "mine.yaml").read_text())["filters"]
        measuring = [{k: v for k, v in one.items() if k in ("name", "file")} for one in entries]
        prefer = {"field": None, "order": "highest"}
        measure = step("measure")
        none = measure.EditedFiles([], [], [], [])
        measure.measure(at / "text", measuring[1:], prefer, [], 0, at / "measures", none)
        step("filter").filter(at / "measures", entries, at / "verdicts", at / "dropped")
    finally:
        os.chdir(before)
    measures = feather.read_table(at / "measures").to_pylist()
    verdicts = feather.read_table(at / "verdicts").to_pylist()
    return [one | other for one, other in zip(measures, verdicts, strict=True)]


def test_first__is_what_the_steps_of_a_run_decide(done, stepped):
    figures = done[1]["filters"]
    for group, rows in groups(stepped).items():
        for name in ("empty", "too_short", "letters", "even"):
            mine = [row for row in rows if row["fate"] == name]
            got = figures[name][group]["first"]
            assert got["documents"] == pytest.approx(len(mine) / len(rows))
            size = sum(row["text_bytes"] for row in rows)
            expected = sum(row["text_bytes"] for row in mine) / size
            assert got["text_bytes"] == pytest.approx(expected)


def groups(rows: list[dict]) -> dict[str, list[dict]]:
    return {
        "all sources": rows,
        "one": [row for row in rows if row["source"] == "one"],
        "two": [row for row in rows if row["source"] == "two"],
        "language zz": [row for row in rows if row["language"] == "zz"],
        "language none": [row for row in rows if row["language"] is None],
    }


LIMITS = {
    "min_chars": lambda row: row["chars"] < (50 if row["source"] == "one" else 20),
    "max_x": lambda row: (
        np.float32(row["x_share"]) > np.float32(0.5 if row["source"] == "one" else 0.2)
    ),
    "min_x": lambda row: False,
    "max_ratio": lambda row: row["x_ratio"] > 3,
    None: lambda row: row["source"] == "two" and row["even_reason"] is not None,
}


def test_shares__are_those_of_plain_counting(done, stepped):
    rules = [rule for rule in done[1]["rules"] if rule["filter"] != "empty"]
    assert [rule["setting"] for rule in rules] == list(LIMITS)
    for rule in rules:
        for group, rows in groups(stepped).items():
            beyond = [row for row in rows if LIMITS[rule["setting"]](row)]
            got = rule["groups"][group]
            assert got["sampled"] == len(beyond)
            assert got["drops"]["documents"] == pytest.approx(len(beyond) / len(rows))


def test_alone__is_what_no_other_rule_drops(done, stepped):
    for rule in done[1]["rules"][1:]:
        mine = LIMITS[rule["setting"]]
        others = [one for name, one in LIMITS.items() if name != rule["setting"]]
        others.append(lambda row: row["text_bytes"] == 0)
        rows = [row for row in stepped if mine(row) and not any(one(row) for one in others)]
        got = rule["groups"]["all sources"]["alone"]["documents"]
        assert got == pytest.approx(len(rows) / len(stepped))


def test_thresholds__drop_what_they_say(done, stepped):
    column = {"min_chars": "chars", "max_x": "x_share", "min_x": "x_share",
              "max_ratio": "x_ratio"}  # fmt: skip
    for rule in done[1]["rules"]:
        for group, rows in groups(stepped).items():
            for one in rule["groups"][group]["thresholds"]:
                assert rule["side"]
                values = [row[column[rule["setting"]]] for row in rows]
                value = math.inf if one["value"] == "Infinity" else one["value"]
                below = rule["side"] == "below"
                dropped = sum(v < value if below else v > value for v in values)
                assert one["share"]["documents"] == pytest.approx(dropped / len(rows))
                assert dropped / len(rows) <= one["level"] + 1e-9


def test_examples__are_the_nearest_on_both_sides(done):
    for rule in done[1]["rules"]:
        kinds = Counter(one["dropped"] for one in rule["examples"])
        assert kinds[True] <= 3
        assert kinds[False] <= 3
        for one in rule["examples"]:
            if rule["side"] == "above":
                value = math.inf if one["value"] == "Infinity" else one["value"]
                kind = np.float32 if rule["value"] == "x_share" else np.float64
                assert (kind(value) > kind(one["bound"])) == one["dropped"]
                assert one["bound"] == rule["bounds"][one["source"]]
    (short,) = (rule for rule in done[1]["rules"] if rule["setting"] == "min_chars")
    assert Counter(one["dropped"] for one in short["examples"]) == {True: 3, False: 3}


def test_examples__lie_where_they_say(done, folder):
    rule = done[1]["rules"][1]
    for one in rule["examples"]:
        path, line = one["place"].rsplit(":", 1)
        record = json.loads((folder / path).read_text().splitlines()[int(line) - 1])
        assert record["text"][:200] == one["start"]


def test_keep__tells_reasons(done):
    rule = done[1]["rules"][-1]
    assert [one["value"] for one in rule["examples"]] == ["odd"] * 3
    assert rule["groups"]["one"]["sampled"] == 0


def test_terminal__fits_a_hundred_columns_and_is_plain(done):
    assert max(map(len, done[0].splitlines())) <= 100
    assert "\x1b" not in done[0]


class Page(HTMLParser):
    """Elements as they are opened; raises if they are not closed in their order."""

    VOID = ("meta", "input", "br")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict]] = []
        self.open: list[str] = []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def all(self, tag: str) -> list[dict]:
        return [attributes for name, attributes in self.elements if name == tag]


def test_page__is_one_file_without_script(done):
    page = Page(done[2])
    assert page.all("script") == page.all("link") == page.all("img") == []
    assert all(link["href"].startswith("#") for link in page.all("a"))
    assert "url(" not in done[2]
    assert "http" not in done[2]


def test_page__has_a_choice_and_a_picture_of_each_value_for_each_group(done):
    page = Page(done[2])
    buttons = page.all("input")
    assert [its["type"] for its in buttons] == ["radio"] * 5
    assert sum("checked" in its for its in buttons) == 1
    pictures = [its["aria-label"] for its in page.all("svg")]
    assert len(pictures) == len(set(pictures)) == 3 * 5
    assert all(words.startswith("Histogram of ") for words in pictures)
    for place in range(5):
        assert f"#g{place}:checked) .g{place} " in done[2]


def test_page__shows_hostile_text_as_text(done):
    assert HOSTILE[:25] not in done[2]
    assert (
        "&lt;script&gt;alert(1)&lt;/script&gt; <span>[U+202E]</span><span>[U+0007]</span>"
        in done[2]
    )
    assert {its["dir"] for its in Page(done[2]).all("pre")} == {"auto"}
