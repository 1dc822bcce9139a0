"""The designer from the command line: files in, a table and a setting out."""

import gzip
import json
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
import zstandard
from workflow import ROOT

from corpusmill.run.config import Config
from corpusmill.tools.tune.bands.recommending import check, main, parser, shipped

CONFIG_YAML = yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))


def texts(count: int) -> list[str]:
    """Texts of random words; every fifth repeats the one before but for its last words."""
    rng = np.random.default_rng(7)
    found: list[str] = []
    for n in range(count):
        words = [f"{word:x}" for word in rng.integers(0, 1 << 20, 80)]
        found.append(f"{found[-1][:-20]} {words[0]}" if n % 5 == 4 else " ".join(words))
    return found


def lines(count: int) -> bytes:
    return b"".join(json.dumps({"text": text}).encode() + b"\n" for text in texts(count))


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(lines(200) + b'{"text": "short"}\n{\n')
    return str(path)


def printed(capsys, *arguments: str) -> str:
    main(list(arguments))
    return capsys.readouterr().out


def fault(capsys, *arguments: str) -> str:
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    assert str(stopped.value).startswith("error: ")
    assert "\n" not in str(stopped.value)
    assert capsys.readouterr().out == ""
    return str(stopped.value)


def test_main__recommends_what_config_yaml_takes(capsys, corpus):
    last = printed(capsys, corpus).splitlines()[-1]
    setting = yaml.safe_load(last.removeprefix("recommended: "))
    dedup = CONFIG_YAML["dedup"] | setting["dedup"]
    Config.checked(CONFIG_YAML | {"dedup": dedup})
    assert setting["dedup"] == {"threshold": 0.8, "bands": 18, "rows": 6}


def test_main__says_what_the_numbers_rest_on(capsys, corpus):
    out = printed(capsys, corpus)
    assert "corpus: 201 documents in 1 files, 1 malformed records left out" in out
    assert "left out: 1 shorter than 200 characters, 0 without a shingle" in out
    assert "pairs:  19,900 in the sample, 40 estimated at 0.8 or more" in out
    assert "warning" not in out


def test_main__compares_the_given_setting(capsys, corpus):
    out = printed(capsys, corpus, "--bands", "14", "--rows", "8", "--recall", "0.92")
    assert re.search(r"^given, recommended, datatrove +14 x 8 +0\.92", out, re.MULTILINE)


def test_main__says_which_sketch_would_do(capsys, corpus):
    out = printed(capsys, corpus, "--permutations", "2")
    assert "not in the table: datatrove needs 112 permutations" in out
    assert "recommended: none" in out


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet"])
def test_main__reads_every_format_alike(capsys, tmp_path, ending):
    path = tmp_path / f"corpus{ending}"
    packed = {".jsonl.gz": gzip.compress, ".jsonl.zst": zstandard.compress}
    if ending == ".parquet":
        pq.write_table(pa.table({"body": texts(50)}), path)
    else:
        path.write_bytes(packed.get(ending, bytes)(lines(50).replace(b'"text"', b'"body"')))
    out = printed(capsys, str(path), "--text-field", "body")
    assert "pairs:  1,225 in the sample, 10 estimated at 0.8 or more" in out


def test_main__draws_the_picture(capsys, corpus, tmp_path):
    printed(capsys, corpus, "--picture", str(tmp_path / "new/curves.svg"))
    image = (tmp_path / "new/curves.svg").read_text()
    assert ET.fromstring(image).tag.endswith("svg")
    assert "recommended: 18 bands x 6 rows" in image


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--threshold", "1"], "--threshold: expected between 0 and 1, got 1.0"),
        (["--recall", "nan"], "--recall: expected between 0 and 1, got nan"),
        (["--permutations", "0"], "--permutations: expected 1 to 4096, got 0"),
        (["--documents", "1"], "--documents: expected 2 to 200000, got 1"),
        (["--min-chars", "-1"], "--min-chars: expected 0 to 1000000, got -1"),
        (["--bands", "9"], "expected both or none, got one"),
        (["--bands", "0", "--rows", "4"], "expected 1 or more, got 0 and 4"),
        (["--bands", "10", "--rows", "13"], "= 130 exceeds --permutations (128)"),
        (["--text-field", "body"], 'in "body", found 0 among 0 documents and 202 malformed'),
        (["--min-chars", "5000"], "with at least 5000 characters"),
    ],
)
def test_main__refuses_what_cannot_be_meant(capsys, corpus, options, expected):
    assert expected in fault(capsys, corpus, *options)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.jsonl", b"", "found 0 among 0 documents"),
        ("a.jsonl", lines(1), "found 1 among 1 documents"),
        ("a.jsonl.gz", b"", "found an empty file"),
        ("a.jsonl.gz", gzip.compress(lines(9), mtime=0)[:-20], "cut off at byte"),
        ("a.jsonl.zst", b"no such thing", "damaged zstd data"),
        ("a.odd", b"", "expected a file name ending in ."),
        ("a.jsonl", None, "expected a file, found none"),
    ],
)
def test_main__refuses_files_without_pairs(capsys, tmp_path, name, content, expected):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    assert expected in fault(capsys, str(path))


def test_module__runs_as_a_command(corpus):
    command = [sys.executable, "-m", "corpusmill.designer"]
    good = subprocess.run([*command, corpus], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "recommended: dedup: {threshold: 0.8, bands: 18, rows: 6}" in good.stdout
    bad = subprocess.run([*command, "no.jsonl"], cwd=ROOT, capture_output=True, text=True)
    assert (bad.returncode, bad.stdout) == (1, "")
    assert bad.stderr == "error: no.jsonl: expected a file, found none. Correct the path.\n"


def test_docs__have_commands_that_parse(tmp_path, monkeypatch):
    page = (ROOT / "docs/how-to/bands.md").read_text("utf-8")
    commands = re.findall(r"^corpusmill designer (.*)", page, re.MULTILINE)
    assert commands
    monkeypatch.chdir(tmp_path)
    for command in commands:
        given = parser(shipped()).parse_args(shlex.split(command))
        given.files = [path.replace("*", "0") for path in given.files]
        for path in given.files:
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).touch()
        check(given)
