"""`corpusmill prove`: a sample is made again from the inputs, and any difference is told."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from test_verify import change_parquet, edit_json, mend

from corpusmill.cli.main import main
from corpusmill.mill.read.ids import keyed_hash
from corpusmill.tools.prove import proving
from corpusmill.tools.prove.run import Finished, other_versions
from corpusmill.tools.prove.sample import evenly

BETWEEN = ("text", "measures", "filter", "digests", "scatter", "assign", "signatures",
           "bands", "holdout", "resolved", "verify", "tally", "report")  # fmt: skip


@pytest.fixture
def here(every_fate, monkeypatch) -> Path:
    monkeypatch.chdir(every_fate)
    return every_fate


@pytest.fixture
def copied(every_fate, tmp_path, monkeypatch) -> Path:
    """The run with what is kept of it alone, to be spoilt."""
    folder = tmp_path / "run"
    shutil.copytree(every_fate, folder, ignore=lambda at, names: [
        name for name in names if Path(at).name == "results" and name in BETWEEN
    ])  # fmt: skip
    for path in [*folder.glob("results/cut/*"), *folder.glob("results/edited/*")]:
        if path.suffix != ".parquet":
            path.unlink()
    monkeypatch.chdir(folder)
    return folder


def proven(*options: str) -> dict:
    done = CliRunner().invoke(main, ["prove", "--json", *options])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    told = json.loads(done.stdout)
    assert done.exit_code == told["exit_code"]
    return told


def said(*options: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["prove", *options])
    return done.exit_code, done.stdout + done.stderr


def state(folder: Path) -> list:
    return sorted((str(path), path.stat().st_mtime_ns) for path in folder.rglob("*"))


def test_prove__of_a_clean_run_finds_all_equal(here):
    before = state(here)
    told = proven("mine.yaml", "--parts", "99", "--shards", "99")
    assert (told["exit_code"], told["damages"], told["not_made_again"]) == (0, [], [])
    parts, shards = told["parts"], told["shards"]
    assert len(parts["made_again"]) == parts["all"] == 4
    assert len(shards["made_again"]) == shards["all"] == 7
    assert not any(one["differ"] for one in parts["made_again"] + shards["made_again"])
    assert len(told["packs"]["made_again"]) == told["packs"]["all"] == 3
    assert all(len(one["equal"]) == 3 for one in told["packs"]["made_again"])
    assert "ledger/00001.parquet" in parts["made_again"][1]["equal"]
    assert "text/00001.arrow" in parts["made_again"][1]["equal"]
    assert (told["other_code"], told["other_versions"]) == ([], "")
    assert state(here) == before


def test_prove__ends_a_tokenizer_that_is_slow_on_the_corpus(here, monkeypatch):
    def slow(run: Finished, name: str, **given: object) -> None:
        while name == "encode":
            pass
        step(run, name, **given)

    step = Finished.step
    monkeypatch.setattr(Finished, "step", slow)
    monkeypatch.setattr("corpusmill.mill.tokens.bounded.MOST_CPU_SECONDS_OF_A_CALL", 1)
    told = proven("--parts", "0", "--shards", "1")
    (damage,) = told["damages"] + told["not_made_again"]
    assert "results/tokenizer took too much time or memory (signal 24)" in str(damage)


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ({"no-such-package": "1.0"}, "no-such-package not installed (1.0 then)"),
        ({"../../x": "1", "": "2"}, "../../x not installed (1 then),  not installed (2 then)"),
        ([1], ""), ("x", ""), (None, ""),
    ],
)  # fmt: skip
def test_other_versions__of_packages_that_are_not_here(tmp_path, versions, expected):
    (tmp_path / "summary.json").write_text(json.dumps({"versions": versions}))
    assert other_versions(tmp_path) == expected


def test_prove__needs_no_file_between_the_steps(copied):
    code, text = said("--parts", "1", "--shards", "1", "--seed", "5")
    assert code == 0
    assert "Proven: parts 1 of 4: " in text
    assert "shards 1 of 7: " in text
    assert "not rebuilt but read from the results: which documents are duplicates" in text


def change_input(folder: Path) -> None:
    path = folder / "raw/web/0.jsonl"
    path.write_text(path.read_text().replace("mill", "till", 1))


def test_prove__tells_a_changed_input(copied):
    change_input(copied)
    told = proven("--parts", "4", "--shards", "1")
    assert told["exit_code"] == 1
    assert [one["path"] for one in told["damages"]] == ["raw/web/0.jsonl"]
    assert "as when the run read it" in told["damages"][0]["what"]
    assert len(told["parts"]["made_again"]) == 3
    assert [one["what"][:6] for one in told["not_made_again"]] == ["shards"]


def test_prove__tells_an_input_that_is_gone(copied):
    (copied / "raw/few/0.jsonl").unlink()
    told = proven("--parts", "4", "--shards", "0")
    assert told["exit_code"] == 2
    assert told["damages"] == []
    assert [one["why"] for one in told["not_made_again"]] == ["raw/few/0.jsonl is missing"]


def a_token_more(results: Path) -> None:
    path = results / "tokens/test/00000.bin"
    ids = np.fromfile(path, "<u2")
    ids[3] += 1
    ids.tofile(path)
    edit_json(path.with_suffix(".json"), lambda facts: facts.update(engine="other"))


def a_row_for_each_piece(results: Path) -> None:
    """Rows that have every piece once, in the right order, but are not packed."""
    path = results / "tokens/train/pack-64.npy"
    pieces = np.load(path)
    keys = keyed_hash(pieces[:, 0], 42, "pack")
    np.save(path, pieces[np.argsort(keys)])
    np.save(path.with_suffix(".rows.npy"), np.arange(len(pieces) + 1, dtype=np.uint64))


CHANGES = {
    "tokens/train/pack-64.npy": a_row_for_each_piece,
    "tokens/test/00000.bin": a_token_more,
    "placements/test/00000.parquet": lambda results: change_parquet(
        results / "placements/test/00000.parquet", row=lambda rows: rows[::-1]
    ),
    "ledger/00000.parquet": lambda results: change_parquet(
        results / "ledger/00000.parquet", text_bytes=lambda all: [one and one + 1 for one in all]
    ),
    "cut/00000.parquet": lambda results: change_parquet(
        results / "cut/00000.parquet", key=lambda keys: [one ^ 1 for one in keys]
    ),
    "quarantine/00000.jsonl": lambda results: (results / "quarantine/00000.jsonl").write_text(
        "{}\n"
    ),
}


@pytest.mark.some(5)
@pytest.mark.parametrize("name", CHANGES)
def test_prove__tells_what_was_changed_and_mended(name, copied):
    CHANGES[name](copied / "results")
    mend(copied / "results")
    shard = name.startswith(("tokens", "placements"))
    told = proven("--parts", "0" if shard else "4", "--shards", "7" if shard else "0")
    assert told["exit_code"] == 1
    assert name in {one["path"] for one in told["damages"]}


def test_prove__refuses_another_configuration(copied):
    path = copied / "mine.yaml"
    path.write_text(path.read_text().replace("0.15", "0.16"))
    code, text = said("mine.yaml")
    assert code == 2
    assert "expected the digest in manifest.json, " in text


@pytest.mark.parametrize("name", ["manifest.json", "plan/parts.jsonl", "summary.json"])
def test_prove__says_what_is_missing(name, copied):
    (copied / "results" / name).unlink()
    code, text = said()
    assert code == 2
    assert f"results/{name}" in text


NO_PLANS = {
    "a far part": ('"part": 3', '"part": 7', "expected part 3, found part 7"),
    "a negative part": ('"part": 0', '"part": -5', "expected part 0, found part -5"),
    "a part beyond all": ('"part": 0', '"part": 100000000000', "found part 100000000000"),
    "a part twice": ('"part": 1', '"part": 0', "expected part 1, found part 0"),
    "a path for a part": ('"part": 0', '"part": "../../x"', "expected a part, found another line"),
    "true for a part": ('"part": 1', '"part": true', "expected a part, found another line"),
    "an earlier generation": ('"generation": 1', '"generation": 0', "expected generation 1"),
    "no bytes": ('"text_bytes": ', '"text_bytes": -', "expected bytes of each file of part 0"),
    "a list for a path": ('"path": "', '"path": ["x"], "y": "', "expected a part"),
}


@pytest.mark.some(4)
@pytest.mark.parametrize("kind", NO_PLANS)
def test_prove__refuses_a_plan_that_is_none(kind, copied):
    path = copied / "results/plan/parts.jsonl"
    before, after, expected = NO_PLANS[kind]
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after, 1))
    code, text = said("--parts", "4", "--shards", "0")
    assert code == 2
    assert re.search(rf"results/plan/parts\.jsonl: .*{re.escape(expected)}", text)
    assert "Proven" not in text
    assert text.count("\n") == 1


def test_prove__refuses_a_plan_without_parts(copied):
    path = copied / "results/plan/parts.jsonl"
    path.write_text(path.read_text().splitlines()[0] + "\n")
    code, text = said()
    assert code == 2
    assert "parts.jsonl: expected a line for each part, found none. Copy the file again" in text


def test_prove__says_that_a_chosen_part_was_not_made_again(copied, monkeypatch):
    monkeypatch.setattr(proving, "chosen", lambda run, asked: ([0, 99], {}))
    told = proven("--parts", "2", "--shards", "0")
    assert told["exit_code"] == 2
    (left,) = told["not_made_again"]
    assert (left["what"], left["why"]) == ("00099", "chosen, but not rebuilt")


groups = st.dictionaries(st.sampled_from("abc"), st.lists(st.integers(0, 9), max_size=6))


@given(groups, st.integers(0, 12), st.integers(0, 3))
def test_evenly__takes_of_each_group_in_turn(members, count, seed):
    found = evenly(members, count, "key", seed)
    everything = {one for those in members.values() for one in those}
    assert len(found) == len(set(found)) == min(count, len(everything))
    assert set(found) <= everything
    backwards = {name: those[::-1] for name, those in reversed(members.items())}
    assert found == evenly(backwards, count, "key", seed)
    filled = [set(those) for those in members.values() if those]
    if count >= len(filled):
        assert all(those & set(found) for those in filled)


def test_evenly__depends_on_configuration_and_seed():
    members = {"a": range(1000)}
    found = [evenly(members, 3, key, seed) for key in ("x", "y") for seed in range(3)]
    assert len({tuple(one) for one in found}) == 6
