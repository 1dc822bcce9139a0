"""Presets are found by their names, from any folder."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from workflow import ROOT

from corpusmill.cli.main import main


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """One without a checkout, with a corpus and its config file."""
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text('{"text": "A miller keeps what is good."}\n')
    Path("mine.yaml").write_text("sources: [{name: a, files: [a.jsonl]}]\n")
    return tmp_path


def called(*arguments: str):
    return CliRunner().invoke(main, arguments)


def test_presets__are_listed_with_what_they_are():
    lines = called("presets").stdout.splitlines()
    files = sorted((ROOT / "presets").glob("*.yaml"))
    assert [line.split()[0] for line in lines] == [file.stem for file in files]
    for file, line in zip(files, lines, strict=True):
        said = line.removeprefix(file.stem).strip().removesuffix(".")
        assert len(said) > 20
        assert said in " ".join(file.read_text("utf-8").replace("# ", "").split())


def test_preset__is_laid_under_the_config_files(folder):
    got = called("check", "--preset", "slimpajama", "--preset", "fineweb", "mine.yaml")
    assert got.exit_code == 0, got.stderr
    assert "the list in " in got.stderr  # of filters, as both presets have one
    assert got.stdout.splitlines()[-1] == (
        "Ready: corpusmill run --preset slimpajama --preset fineweb mine.yaml"
    )


def test_preset__goes_with_the_config_file_of_the_folder(folder):
    Path("mine.yaml").rename("corpusmill.yaml")
    assert called("check", "--preset", "gopher").exit_code == 0
    assert called("check").stdout.splitlines()[-1] == "Ready: corpusmill run"


@pytest.mark.parametrize("command", ["run", "check", "estimate", "calibrate", "prove"])
def test_preset__of_a_wrong_name_tells_the_nearest(folder, command):
    got = called(command, "--preset", "finweb", "mine.yaml")
    assert got.exit_code == 2
    assert "there is no preset finweb. Did you mean fineweb? Known names: " in got.stderr


def test_preset__is_laid_between_what_ships_and_the_config_files(folder):
    Path("mine.yaml").write_text("sources: [{name: a, files: [a.jsonl]}]\ndedup: {rows: 15}\n")
    got = called("check", "--preset", "slimpajama", "mine.yaml")
    assert got.stderr.startswith("dedup.bands (9) x dedup.rows (15) = 135 exceeds")
