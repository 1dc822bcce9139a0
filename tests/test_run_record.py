"""What a folder holds: files of earlier runs are told from this run's and from everybody else's."""

import contextlib
import re
from pathlib import Path

import pytest

from corpusmill.mill.storage.files import save_json, save_plain_json, save_text
from corpusmill.mill.storage.untrusted import load_plain_json
from corpusmill.run import record as run_record
from corpusmill.run.plan import InputFile, Part, earlier_parts, plan_lines

CURRENT = {"text/{}.arrow": 2, "corpus/train/{}.parquet": 1, "tokens/meta.pkl": None}
EARLIER = {
    "text/{}.arrow": 4,
    "corpus/train/{}.parquet": 1,
    "corpus/train/{}.jsonl.zst": 2,
    "spans/complete.json": None,
    "tokens/meta.pkl": None,
    "ledger/{}.parquet": 0,
}
STALE = ["corpus/train/00000.jsonl.zst", "corpus/train/00001.jsonl.zst", "spans/complete.json",
         "text/00002.arrow", "text/00003.arrow"]  # fmt: skip
OURS = ["text/00000.arrow", "text/00001.arrow", "corpus/train/00000.parquet", "tokens/meta.pkl"]
FOREIGN = ["corpus/train/00000.pt", "corpus/train/00001.parquet", "text/00099.arrow"]
NOBODYS = ["corpus/notes.txt", "text/99.arrow", "mymodel/00099.pt", "ledger/00000.parquet"]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in STALE + OURS + FOREIGN + NOBODYS:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()
    return tmp_path


def recorded(made: dict) -> Path:
    path = Path("plan/record.json")
    run_record.save_record({"made": made, "finished": None, "manifest": None, "noted": {}}, path)
    return path


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ({"../notes.txt": None}, "which no run makes"),
        ({"/etc/{}.conf": 3}, "which no run makes"),
        ({"text/../../notes.txt": None}, "which no run makes"),
        ({"text/{}.arrow": 10**12}, "more files than any run makes"),
        ({"text/{}.arrow": -1}, "more files than any run makes"),
        ({f"text{n}/{{}}.arrow": 90_000 for n in range(200)}, "more files than any run makes"),
        ([1, 2], "Expected `object`"),
        ({"a": "b"}, "Expected `int | null`"),
    ],
)
def test_load_record__refuses_files_that_no_run_makes(folder, made, said):
    path = recorded(made)
    with pytest.raises(ValueError, match=f"record.json: .*{re.escape(said)}"):
        run_record.load_record(path)


@pytest.mark.parametrize(
    "finished", [{"part_bytes": 1, "parts": 5, "inputs": {}}, [], {"parts": 1}]
)
def test_load_record__refuses_a_plan_that_no_run_keeps(folder, finished):
    path = recorded({})
    run_record.save_record(run_record.load_record(path) | {"finished": finished}, path)
    with pytest.raises(ValueError, match=r"record\.json: malformed record"):
        run_record.load_record(path)


def test_stale_files__behind_a_link_out_of_the_results_stay(tmp_path, monkeypatch):
    (tmp_path / "run").mkdir()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/00000.arrow").touch()
    monkeypatch.chdir(tmp_path / "run")
    path = Path("results/plan/record.json")
    run_record.save_record(
        run_record.load_record(path) | {"made": {"results/text/{}.arrow": 1, "notes.txt": None}},
        path,
    )
    Path("notes.txt").touch()
    Path("results/text").symlink_to(tmp_path / "mine")
    assert list(run_record.stale_files(path, {})) == []


def test_stale_files__are_what_earlier_runs_made_and_this_one_does_not(folder):
    assert sorted(map(str, run_record.stale_files(recorded(EARLIER), CURRENT))) == STALE


def test_foreign_files__are_numbered_as_ours_in_our_folders_and_not_ours(folder):
    for path in run_record.stale_files(recorded(EARLIER), CURRENT):
        path.unlink()
    assert sorted(map(str, run_record.foreign_files(CURRENT))) == FOREIGN


def test_begin__adds_to_what_earlier_runs_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "plan/record.json"
    run_record.begin(EARLIER, path)
    run_record.begin(CURRENT, path)
    assert run_record.load_record(path)["made"] == EARLIER | {"tokens/meta.pkl": None}
    assert run_record.load_record(path)["finished"] is None


def test_begin__refuses_to_replace_what_no_run_has_made(folder, tmp_path):
    path = tmp_path / "plan/record.json"
    with pytest.raises(ValueError, match=r"text/00000\.arrow already exists"):
        run_record.begin({"text/{}.arrow": 1}, path)
    with pytest.raises(ValueError, match=r"tokens/meta\.pkl already exists"):
        run_record.begin({"tokens/meta.pkl": None}, path)
    assert not path.exists()
    run_record.begin({"text/{}.arrow": 0}, path)
    run_record.save_record({"made": {"text/{}.arrow": 2}, "finished": None}, path)
    run_record.begin({"text/{}.arrow": 2}, path)
    with pytest.raises(ValueError, match=r"text/00002\.arrow already exists"):
        run_record.begin({"text/{}.arrow": 3}, path)


def test_finish__keeps_the_parts_and_only_this_runs_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path, plan = tmp_path / "record.json", tmp_path / "parts.jsonl"
    parts = [Part(0, [InputFile("s", "a", 1, 1, 5), InputFile("s", "b", 1)], 1),
             Part(1, [InputFile("s", "c", 1)], 2)]  # fmt: skip
    save_text(plan, "\n".join(plan_lines(parts, 100)) + "\n")
    run_record.begin(EARLIER, path)
    run_record.finish(CURRENT, plan, manifest("12"), path)
    assert run_record.load_record(path)["made"] == CURRENT
    kept = earlier_parts(run_record.load_record(path)["finished"], 100)
    assert [tuple(part) for part in kept] == [(1, ["a", "b"]), (2, ["c"])]
    run_record.begin(EARLIER, path)
    assert earlier_parts(run_record.load_record(path)["finished"], 100) == kept


def manifest(digest: str) -> dict:
    return {"inputs": [{"path": "a", "sha256": "1a"}], "sha256": digest}


def test_load_record__takes_the_first_version_which_said_nothing_of_itself(tmp_path):
    path = tmp_path / "record.json"
    save_plain_json(path, {"corpusmill.record": 1, "made": {"a": None}, "finished": None})
    assert run_record.load_record(path)["made"] == {"a": None}
    run_record.begin({"b": None}, path)
    assert run_record.load_record(path)["made"] == {"a": None, "b": None}
    assert load_plain_json(path)["corpusmill.record"] == 2


def finished(path: Path) -> None:
    save_text(path.with_name("parts.jsonl"), "\n".join(plan_lines([Part(0, [], 1)], 100)) + "\n")
    run_record.begin(CURRENT, path)
    run_record.finish(CURRENT, path.with_name("parts.jsonl"), manifest("m1"), path)


def changed(path: Path) -> None:
    path.write_text(path.read_text().replace('"generation": 1', '"generation": 2'))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (changed, "it was changed after it was written"),
        (lambda path: path.write_text("{"), "Expecting property name"),
        (lambda path: path.write_text("[]"), "list indices"),
        (lambda path: path.write_text("{}"), "'corpusmill.record'"),
        (lambda path: save_plain_json(path, {"corpusmill.record": 2}), "'sha256'"),
    ],
)
def test_load_record__refuses_what_no_run_wrote(tmp_path, damage, said):
    path = tmp_path / "record.json"
    finished(path)
    damage(path)
    with pytest.raises(ValueError, match=rf"record\.json: .*{said}.*\. Restore"):
        run_record.load_record(path)


@pytest.mark.parametrize(
    ("record", "manifest", "summary", "good"),
    [
        (None, "m1", "m1", True),  # planned anew
        ("m1", "m1", "m1", True),
        ("m1", "m2", "m1", True),  # the last run came to its manifest
        ("m2", "m2", "m1", True),  # and to its record
        ("m1", None, "m1", True),
        ("m2", "m2", None, True),  # while the summary is written
        ("m1", "m2", None, True),
        ("m0", "m1", "m1", False),
        ("m0", None, "m1", False),
        ("m0", "m2", "m1", False),
    ],
)
def test_record__of_another_run_than_the_last_is_refused(record, manifest, summary, good, tmp_path):
    for name, key, told in (("manifest", "sha256", manifest), ("summary", "manifest", summary)):
        if told:
            save_json(tmp_path / f"results/{name}.json", {key: told})
    with (
        contextlib.nullcontext()
        if good
        else pytest.raises(ValueError, match="belong to different runs")
    ):
        run_record.refuse_other_run({"manifest": record}, tmp_path / "results")
