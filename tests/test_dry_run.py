"""What a dry run shows: stages, jobs and time, and nothing of Snakemake."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner
from workflow import document

from corpusmill.cli.dry_run import table, took
from corpusmill.cli.main import main
from corpusmill.run.job_state import FINISHED, JobState, save_state
from corpusmill.run.steps import STAGES


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def measured(rule: str, *seconds: float) -> None:
    Path("logs", rule).mkdir(parents=True)
    for number, one in enumerate(seconds):
        log = Path("logs", rule, f"{number:05d}.log")
        log.touch()
        save_state(log, JobState(FINISHED, seconds=one))


def test_table__has_stages_in_order_with_their_jobs():
    lines = list(table(Counter(encode=20, normalize=5, measure=5, filter=5), 10**9, 2))
    rows = [re.split(" {2,}", line) for line in lines[0].splitlines()]
    assert [row[0] for row in rows] == ["stage", "read", "filter", "tokenize", "total"]
    assert [row[1] for row in rows[1:]] == ["5", "10", "20", "35"]
    assert "a rough guess" in lines[2]


def test_table__takes_the_time_of_jobs_that_ran_here():
    measured("normalize", 2, 4)
    measured("encode", 10)
    assert sorted(took("normalize")) == [2, 4]
    lines = list(table(Counter(normalize=10, encode=3), 10**15, 2))
    assert lines[2] == "13 jobs, about 30 s on 2 cores: measured on earlier jobs here."


def test_table__without_jobs_says_so():
    assert list(table(Counter(), 0, 2)) == ["Nothing to do: results/ is up to date."]


@pytest.mark.whole
def test_dry_run__is_a_table_and_raw_where_asked(folder):
    Path("a.jsonl").write_text(json.dumps({"text": document(1)}) + "\n")
    Path("mine.yaml").write_text("sources: [{name: a, files: [a.jsonl]}]\n")
    got = CliRunner().invoke(main, ["run", "-n", "mine.yaml", "--cores", "1"])
    assert got.exit_code == 0, got.output
    lines = got.stdout.splitlines()
    assert {line.split("  ")[0] for line in lines[1:-4]} <= set(STAGES)
    assert (len(lines) < 16, "on 1 core:" in got.stdout, "rule" in got.stdout) == (
        True,
        True,
        False,
    )
    assert not Path("logs").exists()


@pytest.mark.whole
def test_dry_run__of_what_is_wrong_says_why(folder):
    Path("a.jsonl").write_text("{}\n")
    Path("mine.yaml").write_text("sources: [{name: a, files: [a.jsonl]}]\n")
    got = CliRunner().invoke(main, ["run", "-n", "mine.yaml"])
    assert (got.exit_code, got.stdout) == (1, "")
    assert 'reads the field "text", but none of the first records (1) has this field' in got.stderr
