"""The comparison of packages draws the same texts every time, and counts what is right."""

import json
import subprocess
import sys

import pytest
import zstandard
from workflow import ROOT

from benchmarks.languages import Text, drawn, languages_of, share_right

ENGLISH = "The miller and the wheel of the mill that is for you. " * 20
GERMAN = "Der Müller öffnete das Wehr vor Sonnenaufgang. " * 20


@pytest.fixture
def data(tmp_path):
    """Two languages, a page that was not translated, one without a language, a short one."""
    records = [{"text": f"{n}\n{ENGLISH}", "meta": {"language": "en"}} for n in range(5)]
    records += [{"text": f"{n}\n{GERMAN}", "meta": {"language": "de-AT"}} for n in range(5)]
    records += [{"text": ENGLISH, "meta": {"language": "de"}}, {"text": GERMAN * 2}]
    records += [{"text": "kurz", "meta": {"language": "de"}}]
    folder = tmp_path / "corpus/web"
    folder.mkdir(parents=True)
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (folder / "0.jsonl.zst").write_bytes(zstandard.compress(lines.encode()))
    return tmp_path


def test_drawn__are_the_same_texts_every_time(data):
    found = drawn(data, 3)
    assert found == drawn(data, 3)
    assert {language: len(texts) for language, texts in found.items()} == {"de": 3, "en": 3}
    assert all("Müller" in text for text in found["de"])


def test_share_right__takes_codes_of_all_kinds():
    texts = [Text("zh", "") for _ in range(4)]
    assert [languages_of(code) for code in ("zh-Hant", "zh_TW", "cmn", "yue")] == [
        "zh", "zh", "zh", "yue",
    ]  # fmt: skip
    assert share_right(texts, [["zho", 1], [None, None], ["ja", 1], ["zh-TW", 0.5]]) == 0.5


def test_command__compares_what_is_installed(data, tmp_path):
    command = [sys.executable, ROOT / "benchmarks/languages.py", "--data", data]
    command += ["--only", "corpusmill", "--answers", tmp_path / "answers"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "| corpusmill | 100.0% | 100.0% |" in done.stdout
    assert "\nodd texts\n" in done.stdout
