"""A file of another recipe that was brought back with its own sums is no part of a run."""

import shutil
from pathlib import Path

import pytest
from workflow import document, mill, snakemake, write_jsonl

from corpusmill.mill.storage.sums import sums_path
from qa.campaigns import corpus

PAIR = Path("results/pairs/00000.npy")
SIGNATURES = Path("results/signatures/00000.npy")


def config(folder: Path, min_chars: int) -> dict:
    for part in range(2):
        records = [{"text": document(k % 70, 20 + k % 50)} for k in range(part, 160, 2)]
        write_jsonl(folder / f"raw/{part}.jsonl", records)
    return {
        "sources": [{"name": "s", "files": ["raw/*.jsonl"]}],
        "filters": [{"name": "empty"}, {"name": "too_short", "min_chars": min_chars}],
        "input": {"part_bytes": 65_536},
        "output": {"shard_bytes": 10_000_000},
        "tokenizer": {"source": "train", "train_vocabulary": 300},
    }


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory) -> dict[str, Path]:
    """A run, `before`, and in a copy of its folder one of other settings, `now`."""
    before, now = (tmp_path_factory.mktemp("runs") / name for name in ("before", "now"))
    before.mkdir()
    mill(before, config(before, min_chars=150))
    shutil.copytree(before, now)
    settings = config(before, min_chars=450)
    mill(now, settings)
    return {"before": before, "now": now}


@pytest.fixture
def run(two_runs, tmp_path) -> Path:
    """A copy of the later run."""
    return shutil.copytree(two_runs["now"], tmp_path / "run")


def bring_back(names: list[Path], before: Path, folder: Path) -> None:
    """Files of the run before with their sums; as of now, so that their steps are believed."""
    for name in names:
        for path in (name, sums_path(name)):
            (folder / path).unlink(missing_ok=True)
            shutil.copyfile(before / path, folder / path)


def tables(folder: Path) -> list[Path]:
    return [path.relative_to(folder) for path in (folder / "results/filter").glob("*.arrow")]


def asked(folder: Path, *arguments: str):
    return snakemake(folder, "--configfile", "mine.yaml", "--cores", "2", *arguments)


def differing(folder: Path, other: Path) -> list[str]:
    """Results, sums among them, that are not the same; not those that tell times."""
    return corpus.unlike(corpus.results(folder), corpus.results(other))


def test_table_of_other_settings__is_made_again_when_what_follows_is(two_runs, run):
    bring_back(tables(run), two_runs["before"], run)
    assert differing(run, two_runs["now"])
    done = asked(run, "-R", "assign", "--until", "assign")
    assert done.returncode == 0, done.stderr
    assert "rebuilt because settings, code or inputs have changed" in done.stderr
    assert differing(run, two_runs["now"]) == []


def test_whole_folder_of_other_settings__is_made_again(two_runs, run):
    # A run refuses a record and a summary of two runs.
    names = [path.relative_to(run) for path in (run / "results").rglob("*")
             if sums_path(path).exists() and path.name != "summary.json"
             and "plan" not in path.parts]  # fmt: skip
    bring_back(names, two_runs["before"], run)
    done = asked(run)
    assert done.returncode == 0, done.stderr
    assert differing(run, two_runs["now"]) == []


def test_touch__does_not_make_a_table_that_of_these_settings(two_runs, run):
    bring_back(tables(run), two_runs["before"], run)
    assert asked(run, "--touch", "-R", "assign").returncode == 0
    done = asked(run, "-R", "assign", "--until", "assign")
    assert done.returncode == 0, done.stderr
    assert differing(run, two_runs["now"]) == []


def test_record__that_was_changed_stops_the_run(run):
    path = run / "results/plan/record.json"
    path.write_text(path.read_text().replace('"generation": 1', '"generation": 2', 1))
    done = asked(run, "-n")
    assert done.returncode == 1
    assert "record.json: malformed record of earlier runs (it was changed" in done.stderr
    assert "Traceback" not in done.stderr


def test_record__of_an_earlier_run_stops_the_run(two_runs, run):
    record = "results/plan/record.json"
    shutil.copyfile(two_runs["before"] / record, run / record)
    done = asked(run, "-n")
    assert done.returncode == 1
    assert "record.json and results/summary.json belong to different runs" in done.stderr


# What is gone.


def test_lost_file__that_no_job_reads_stays_away_and_nothing_is_said(two_runs, run):
    (run / SIGNATURES).unlink()
    done = asked(run)
    assert "Nothing to be done" in done.stdout + done.stderr
    assert "is gone" not in done.stderr
    assert differing(run, two_runs["now"]) == [str(SIGNATURES.relative_to("results"))]


def test_lost_file__is_made_anew_for_the_job_that_reads_it(two_runs, run):
    (run / SIGNATURES).unlink()
    done = asked(run, "-R", "pair", "--until", "pair")
    assert done.returncode == 0, done.stderr
    assert f"{SIGNATURES} is missing: made again" in done.stderr
    assert differing(run, two_runs["now"]) == []


def test_lost_file__is_made_anew_where_counts_beside_it_are_made_anew_too(two_runs, run):
    (run / SIGNATURES).unlink()
    (run / PAIR).unlink()
    (run / "results/bands/00001.json").unlink()
    done = asked(run, "-R", "group", "--until", "group")
    assert done.returncode == 0, done.stderr
    assert f"{SIGNATURES} is missing: made again" in done.stderr
    assert differing(run, two_runs["now"]) == []
