"""The command `corpusmill calibrate`: what it writes, what it says, how it ends."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from calibrated import called, make_corpus
from click.testing import CliRunner
from workflow import ROOT, data_folder, small_corpus

from corpusmill.cli.main import main
from corpusmill.tools.tune.sample import standard_error


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return make_corpus(tmp_path_factory.mktemp("calibration"))


@pytest.fixture
def inside(folder, monkeypatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.whole
def test_calibrate__gives_the_same_bytes_again(inside):
    for name in ("again", "once_more"):
        assert called("mine.yaml", "--documents", "90", "-o", name).exit_code == 0
    for file in ("calibration.html", "calibration.json"):
        assert (inside / "again" / file).read_bytes() == (inside / "once_more" / file).read_bytes()
    assert called("mine.yaml", "--documents", "90", "--seed", "7", "-o", "seven").exit_code == 0
    figures = [json.loads((inside / name / "calibration.json").read_text())
               for name in ("again", "seven")]  # fmt: skip
    assert [one["seed"] for one in figures] == [42, 7]
    assert figures[0]["filters"] != figures[1]["filters"]


def test_calibrate__of_a_sample_weighs_sources_by_what_they_have(inside):
    assert called("mine.yaml", "--documents", "100", "-o", "weighed").exit_code == 0
    figures = json.loads((inside / "weighed/calibration.json").read_text())
    one, two, both = (figures["all_filters"][name]["documents"]
                      for name in ("one", "two", "all sources"))  # fmt: skip
    assert both == pytest.approx((300 * one + 200 * two) / 500)
    assert [its["sampled"] for its in figures["sources"].values()] == [50, 50]


def test_calibrate__does_not_replace_files_without_force(inside):
    (inside / "there").mkdir()
    (inside / "there/calibration.json").write_text("mine")
    got = called("mine.yaml", "-o", "there")
    assert got.exit_code == 1
    assert got.stderr == (
        "Error: there/calibration.json already exists. Give --force to replace it, or a different "
        "folder as --output.\n"
    )
    assert (inside / "there/calibration.json").read_text() == "mine"
    assert called("mine.yaml", "-o", "there", "--force").exit_code == 0


def config_with(folder: Path, **keys) -> str:
    config = yaml.safe_load((folder / "mine.yaml").read_text()) | keys
    (folder / "other.yaml").write_text(yaml.safe_dump(config))
    return "other.yaml"


def faulty(folder: Path, **keys) -> str:
    got = called(config_with(folder, **keys), "-o", "faulty")
    assert got.exit_code == 1
    assert not (folder / "faulty/calibration.json").exists()
    return got.stderr


def test_calibrate__needs_filters(inside):
    said = faulty(inside, filters=[])
    assert (
        said == "Error: filters: there are none, so there is nothing to calibrate. Add a filter.\n"
    )


def test_calibrate__names_a_source_without_documents(inside):
    (inside / "none.jsonl").write_text("")
    said = faulty(inside, sources=[{"name": "none", "files": ["none.jsonl"]}],
                  filters=[{"name": "empty"}])  # fmt: skip
    assert (
        'source "none": expected documents in the text read from its files (1), found none' in said
    )


def test_calibrate__says_that_fewer_documents_than_sources_are_too_few(inside):
    for name in ("left", "right"):
        (inside / f"{name}.jsonl").write_text('{"text": "a"}\n')
    sources = [{"name": name, "files": [f"{name}.jsonl"]} for name in ("left", "right")]
    config = config_with(inside, sources=sources, filters=[{"name": "empty"}])
    got = called(config, "-o", "few", "--documents", "1")
    assert got.exit_code == 1
    assert "--documents 1 leaves no document for it, as 2 sources share" in got.stderr


def test_calibrate__names_a_file_that_cannot_be_read(inside):
    (inside / "bad.jsonl.zst").write_bytes(b"no frame")
    said = faulty(inside, sources=[{"name": "bad", "files": ["bad.jsonl.zst"]}],
                  filters=[{"name": "empty"}])  # fmt: skip
    assert "bad.jsonl.zst: damaged zstd data" in said
    assert "Traceback" not in said


def test_calibrate__says_where_nothing_can_be_written(inside):
    got = called("mine.yaml", "-o", "one.jsonl/below")
    assert got.exit_code == 1
    assert (
        "one.jsonl/below: expected a folder that exists or can be created, found Not a directory"
        in got.stderr
    )


def test_calibrate__says_that_spans_are_not_cut(inside):
    got = called(config_with(inside, spans={"unit": "line"}), "-o", "spans")
    assert "spans.unit is line: a run cuts repeated spans" in " ".join(got.stdout.split())


def test_calibrate__reads_parquet_and_says_what_it_read(inside):
    rows = [{"text": f"{n} " + "grain " * 50} for n in range(3000)]
    pq.write_table(pa.Table.from_pylist(rows), inside / "rows.parquet", compression="none")
    config = config_with(inside, sources=[{"name": "rows", "files": ["rows.parquet"]}],
                         filters=[{"name": "too_short"}])  # fmt: skip
    got = called(config, "-o", "rows", "--read", "1", "--documents", "100")
    assert got.exit_code == 0, got.output
    told = json.loads((inside / "rows/calibration.json").read_text())["sources"]["rows"]
    assert told["read_share"] < 0.7
    assert told["documents"] == pytest.approx(3000, rel=0.1)
    assert "Only the beginnings of" in got.stdout


def test_calibrate__ends_quietly_when_it_is_stopped(inside):
    slow = "import time\n\ndef keep(text, record):\n    time.sleep(0.05)\n    return True\n"
    (inside / "slow.py").write_text(slow)
    config = config_with(inside, filters=[{"name": "slow", "file": "slow.py"}])
    process = subprocess.Popen(
        [sys.executable, "-m", "corpusmill", "calibrate", config, "-o", "stopped"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr
    while "measuring" not in process.stderr.readline():
        assert process.poll() is None
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == ""
    assert err.splitlines()[-1] == "Stopped."
    assert "Traceback" not in err


def test_page_of_docs__has_commands_that_work(tmp_path, monkeypatch):
    small_corpus(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(main, ["init", "raw"]).exit_code == 0
    page = (ROOT / "docs/how-to/calibrate.md").read_text("utf-8")
    commands = [line for line in page.splitlines() if line.startswith("corpusmill ")]
    assert len(commands) == 2
    for command in commands:
        got = CliRunner().invoke(main, command.split()[1:])
        assert got.exit_code == 0, got.output
    assert Path("calibration.html").exists()
    assert Path("looked/calibration.json").exists()


@pytest.mark.whole
@pytest.mark.skipif(data_folder() is None, reason="CORPUSMILL_DATA names no folder of real text")
def test_calibrate__of_real_text_is_near_to_all_of_it(tmp_path, monkeypatch):
    """Within four standard errors; of all documents it has no error."""
    monkeypatch.chdir(tmp_path)
    names = ("c4", "stackexchange", "wikipedia")
    sources = [{"name": name, "files": [f"{data_folder()}/corpus/{name}/*_0*"]} for name in names]
    filters = [{"name": "too_short", "min_chars": 800}, {"name": "gopher_quality"}]
    Path("real.yaml").write_text(yaml.safe_dump({"sources": sources, "filters": filters}))
    figures = []
    for documents in (100_000, 900):
        got = called("real.yaml", "--documents", str(documents), "--force")
        assert got.exit_code == 0, got.output
        assert max(map(len, got.stdout.splitlines())) <= 100
        figures.append(json.loads(Path("calibration.json").read_text()))
    whole, part = figures
    for name in names:
        one, other = (its["filters"]["too_short"][name]["drops"]["documents"] for its in figures)
        assert whole["sources"][name]["sampled"] == whole["sources"][name]["documents"]
        assert 0 < one < 1
        error = standard_error(one, 300, part["sources"][name]["documents"])
        assert other == pytest.approx(one, abs=4 * error)
