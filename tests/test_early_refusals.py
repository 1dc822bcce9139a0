"""What would fail a run late, and is known from configuration, tokenizer and first records, is
refused by `check` and by a run before any job."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from tokenizer_kinds import EXACT
from workflow import ROOT, snakemake, write_jsonl

from corpusmill.mill.tokens.tokenizer_check import check_tokenizer
from corpusmill.tools.export.exporting import faults_ahead


def wide(folder: Path) -> str:
    """A tokenizer with 65,537 ids."""
    path = Path(EXACT["byte level"](folder))
    definition = json.loads((path / "tokenizer.json").read_text())
    words = definition["model"]["vocab"]
    words |= {f"unused{n}": n for n in range(len(words), (1 << 16) + 1)}
    (path / "tokenizer.json").write_text(json.dumps(definition))
    return str(path)


def numbers_and_texts(folder: Path) -> dict:
    write_jsonl(
        folder / "raw/b.jsonl", [{"text": "x", "day": f"2024-01-0{n}"} for n in range(1, 9)]
    )
    return {
        "sources": [{"name": "a", "files": ["raw/*.jsonl"]}],
        "dedup": {"prefer": {"field": "day"}},
    }


CASES = {
    "hdf5 without its package": (
        lambda folder: {"output": {"exports": ["hdf5"]}},
        "output.exports: hdf5 needs the package h5py, which is not installed: pip install h5py",
    ),
    "nanogpt of a large vocabulary": (
        lambda folder: {
            "output": {"exports": ["nanogpt"]}, "tokenizer": {"source": wide(folder / "given")}
        },
        "output.exports: nanogpt has 16-bit ids: expected a vocabulary of "
        "at most 65,536 tokens, found 65,537",
    ),
    "nanogpt of a large vocabulary that is trained": (
        lambda folder: {
            "output": {"exports": ["nanogpt"]}, "tokenizer": {"train_vocabulary": 70_000}
        },
        "output.exports: nanogpt has 16-bit ids: expected a vocabulary of "
        "at most 65,536 tokens, found 70,000",
    ),
    "numbers and texts in the preferred field": (
        numbers_and_texts,
        "dedup.prefer.field is a number in 20 documents, first in raw/a.jsonl:1, and a text in 8, "
        "first in raw/b.jsonl:1. Numbers and texts cannot be compared.",
    ),
    "weights of nothing": (
        lambda folder: {"sources": [{"name": "a", "files": ["raw/a.jsonl"], "weight": 0},
                                    {"name": "e", "files": ["raw/a.jsonl"], "held_out": True}]},
        "sources: all sources have the weight 0, so no document would be kept.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_run_and_check__refuse_early_what_would_fail_late(case, tmp_path):
    make, expected = CASES[case]
    write_jsonl(tmp_path / "raw/a.jsonl", [{"text": f"text {n}", "day": n} for n in range(30)])
    config = {"sources": [{"name": "a", "files": ["raw/a.jsonl"]}]} | make(tmp_path)
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(config))
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden/sitecustomize.py").write_text("import sys; sys.modules['h5py'] = None")
    path = os.pathsep.join([str(tmp_path / "hidden"), str(ROOT)])
    check = [sys.executable, "-m", "corpusmill", "check", "mine.yaml"]
    checked = subprocess.run(
        check, cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True
    )
    asked = ("--configfile", "mine.yaml", "--cores", "2")
    ran = snakemake(tmp_path, *asked, PYTHONPATH=path)
    for done in (checked, ran):
        assert done.returncode == 1, done.stdout
        assert sum(line.startswith(expected) for line in done.stderr.splitlines()) == 1, done.stderr
        assert "Traceback" not in done.stderr
    assert not (tmp_path / "results").exists()


def test_faults_ahead__has_none_where_nothing_is_known_or_wrong():
    output = SimpleNamespace(packed_samples=False)
    assert faults_ahead([], None, output) == faults_ahead(["nanogpt", "hdf5"], None, output) == []
    assert faults_ahead(["nanogpt", "megatron"], 1 << 16, output) == []
    assert faults_ahead(["megatron"], 1 << 17, output) == []
    assert len(faults_ahead(["nanogpt", "mds"], 1 << 17, output)) == 1


def test_faults_ahead__of_packed_samples():
    output = SimpleNamespace(packed_samples=True, sample_tokens=2048, pack=[2047])
    assert faults_ahead(["mds", "litdata", "megatron"], None, output) == []
    (fault,) = faults_ahead(["mds", "hdf5"], None, output)
    assert "hdf5 with samples of 2048 tokens needs 2048 in output.pack" in fault
    (fault,) = faults_ahead(["numpy-shards"], None, output)
    assert "numpy-shards cannot have packed rows. Formats that can: hdf5, litdata, mds" in fault


def test_check_tokenizer__counts_ids_as_they_are_kept(tmp_path):
    source = Path(EXACT["byte level"](tmp_path / "given"))
    definition = json.loads((source / "tokenizer.json").read_text())
    definition["model"]["vocab"]["far"] = 70_000
    (source / "tokenizer.json").write_text(json.dumps(definition))
    assert check_tokenizer(source).vocabulary == 70_001
    assert check_tokenizer(Path(wide(tmp_path / "wide"))).vocabulary == (1 << 16) + 1


@pytest.mark.whole
def test_check_tokenizer__tries_an_engine_that_is_asked_for(tmp_path, monkeypatch):
    source = Path(EXACT["byte level"](tmp_path / "given"))
    assert check_tokenizer(source, engine="gigatoken").end_of_text == "<|endoftext|>"
    monkeypatch.setattr(
        "corpusmill.mill.tokens.tokenizer_folder.first_difference",
        lambda *given: "text 1: other ids",
    )
    with pytest.raises(ValueError, match=r"^tokenizer\.engine: gigatoken does not give"):
        check_tokenizer(source, engine="gigatoken")
