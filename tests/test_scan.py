"""`corpusmill scan`: what a run would stumble over, told before it."""

import gzip
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
import zstandard
from test_cli import ENVIRONMENT, called, command, write_lines

from corpusmill.messages.progress import Silence
from corpusmill.mill.read import scanning
from corpusmill.mill.read.scanning import OTHERS, kind_of
from corpusmill.mill.storage.files import save_json, save_text
from corpusmill.mill.storage.streams import READ_LIMITS

BAD = ["{", '{"txt": "a"}', '{"text": 1}', '{"text": "' + "a" * 2000 + '"}']


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def configured(folder: Path, fraction: float = 0, **source) -> None:
    sources = [
        {"name": "web", "files": ["web"], "max_malformed_fraction": fraction} | source,
        {"name": "held", "files": ["held"], "held_out": True},
    ]
    config = {"sources": sources, "input": {"max_record_bytes": 1500, "part_bytes": 65536}}
    (folder / "corpusmill.yaml").write_text(json.dumps(config))


def with_faults(folder: Path) -> None:
    write_lines(folder / "web/0.jsonl", 30)
    lines = write_lines(folder / "web/1.jsonl", 30).read_text().splitlines()
    (folder / "web/1.jsonl").write_text("\n".join([*lines, *BAD]) + "\n")
    write_lines(folder / "held/0.jsonl", 5)


def scanned(*arguments: str) -> tuple[int, dict]:
    done = called("scan", "--json", "--cores", "1", *arguments)
    return done.exit_code, json.loads(done.stdout)


def test_scan__lists_every_malformed_record_by_file_line_and_reason(folder):
    with_faults(folder)
    configured(folder)
    code, found = scanned()
    assert (code, found["accepted"]) == (1, False)
    reasons = [
        "not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        'no "text" field', '"text" is a number, not a string',
        "2012 bytes, and input.max_record_bytes allows 1500",
    ]  # fmt: skip
    told = [(one["file"], one["line"], one["reason"]) for one in found["malformed"]]
    assert told == [("web/1.jsonl", 31 + n, reason) for n, reason in enumerate(reasons)]
    web, held = found["sources"]
    assert (web["files"], web["records"], web["malformed"]) == (2, 64, 4)
    assert web["reasons"] == {kind_of(reason): 1 for reason in reasons}
    assert (held["records"], held["malformed"]) == (5, 0)
    assert found["faults"] == [
        "source web: 4 of 64 records are malformed, but max_malformed_fraction allows only 0 of "
        "them."
    ]


def test_scan__says_in_words_what_json_says(folder):
    with_faults(folder)
    configured(folder)
    said = called("scan", "--cores", "1", "--limit", "2").stdout
    assert "web/1.jsonl:31: not JSON" in said
    assert "web/1.jsonl:33" not in said
    assert "and 2 more malformed records" in said
    assert said.endswith("A run would be refused.\n")


@pytest.mark.parametrize(("fraction", "code"), [(0.0625, 0), (0.062, 1)])
def test_scan__refuses_by_the_rule_of_admit(folder, step, fraction, code):
    """Four of 64 records: just what the first share allows."""
    with_faults(folder)
    configured(folder, fraction)
    assert scanned()[0] == code
    counts, quarantine = folder / "counts.json", folder / "quarantine.jsonl"
    save_json(counts, {"by_source": {"web": {"records": 64, "malformed": 4}}})
    save_text(quarantine, "{}\n")
    given = [counts], [quarantine], {"web": fraction}, folder / "admitted.json"
    if not code:
        step("admit").admit(*given)
        return
    with pytest.raises(ValueError, match=r"^source web: 4 of 64") as refused:
        step("admit").admit(*given)
    assert str(refused.value).startswith(scanned()[1]["faults"][0])


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("name", "spoilt", "fault"),
    [
        ("a.jsonl.gz", lambda data: gzip.compress(data)[:-9], "gzip stream is cut off"),
        ("a.jsonl.zst", lambda data: zstandard.compress(data)[:-9], "zstd stream is cut off"),
        ("a.parquet", lambda data: b"PAR1" + data, "damaged Parquet file"),
        ("a.jsonl", lambda data: b"\xff\xfe" + data, "UTF-16"),
        ("a.jsonl.gz", lambda _: gzip.compress((b'{"text":"' + b"a" * 1000 + b'"}\n') * 1000),
         "expand more than text usually does"),
    ],
)  # fmt: skip
def test_scan__names_files_that_cannot_be_read_to_their_end(folder, name, spoilt, fault):
    write_lines(folder / "held/0.jsonl", 5)
    data = write_lines(folder / "other/0.jsonl", 300).read_bytes()
    (folder / "web").mkdir()
    (folder / "web" / name).write_bytes(spoilt(data))
    configured(folder)
    code, found = scanned()
    assert code == 1
    assert any(f"web/{name}" in one and fault in one for one in found["faults"]), found["faults"]


@pytest.mark.whole
def test_scan__reads_files_side_by_side_and_tells_the_same(folder):
    for number in range(5):
        lines = write_lines(folder / f"web/{number}.jsonl", 20).read_text().splitlines()
        (folder / f"web/{number}.jsonl").write_text("\n".join([*lines, *BAD]) + "\n")
    write_lines(folder / "held/0.jsonl", 5)
    configured(folder)
    one = called("scan", "--cores", "1", "--limit", "7")
    two = called("scan", "--cores", "3", "--limit", "7")
    assert one.stdout == two.stdout
    assert one.stdout.count("web/0.jsonl:") == 4
    assert one.stdout.count("web/1.jsonl:") == 3


def test_scan__of_a_good_corpus_takes_it(folder):
    write_lines(folder / "web/0.jsonl", 30)
    write_lines(folder / "held/0.jsonl", 5)
    configured(folder)
    done = called("scan")
    assert done.exit_code == 0
    assert done.stdout.endswith("A run would accept these files.\n")
    assert sorted(path.name for path in folder.iterdir()) == ["corpusmill.yaml", "held", "web"]


def test_scan__stops_within_a_second(folder):
    (folder / "web").mkdir()
    line = b'{"text":"' + b"many words of a text " * 40 + b'"}\n'
    (folder / "web/0.jsonl.gz").write_bytes(gzip.compress(line * 400_000, 1))
    for number in range(1, 30):  # a minute's work, so that it is interrupted in the middle
        (folder / f"web/{number}.jsonl.gz").hardlink_to(folder / "web/0.jsonl.gz")
    write_lines(folder / "held/0.jsonl", 5)
    configured(folder)
    process = subprocess.Popen(
        command("scan", "--cores", "1"), cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stderr
    assert "reading" in process.stderr.readline()
    os.killpg(process.pid, signal.SIGINT)
    asked = time.monotonic()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Stopped. Nothing was changed." in said
    assert "Traceback" not in said
    assert time.monotonic() - asked < 30  # of a busy machine; a second of an idle one


def test_scanned__tells_few_kinds_of_reasons_apart(folder, monkeypatch):
    monkeypatch.setattr(scanning, "MOST_KINDS", 1)
    with_faults(folder)
    configured(folder)
    assert kind_of('member "a\\"b" stands twice') == "member … stands twice"
    file = {"source": "web", "path": "web/1.jsonl", "text_field": "text", "bytes": None,
            "mtime_ns": None}  # fmt: skip
    reading = scanning.Reading(False, [], READ_LIMITS, 2)
    found = scanning.scanned(file, 1 << 30, reading, Silence())
    assert list(found.reasons.values()) == [1, 2]
    assert list(found.reasons)[1] == OTHERS
    assert len(found.first) == 2
