"""Inputs replaced behind an unchanged size and time; the chain from inputs to what is kept."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest
from workflow import digests, document, mill, snakemake, write_jsonl

from corpusmill.mill.storage.files import as_json, save_json
from corpusmill.run.input_files import replaced, told_replaced
from corpusmill.run.plan import InputFile


def input_file(path: Path) -> InputFile:
    state = path.stat()
    return InputFile("s", str(path), state.st_size, state.st_size, state.st_mtime_ns)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def replace_unseen(path: Path, content: bytes) -> None:
    """Other bytes of the same length, and the time of the last change as it was."""
    state = path.stat()
    assert len(content) == state.st_size
    path.write_bytes(content)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def test_replaced__are_those_with_other_bytes_than_were_read(tmp_path):
    paths = [tmp_path / name for name in "abc"]
    for path in paths:
        path.write_bytes(path.name.encode())
    told = [{"source": "s", "path": str(path), "sha256": sha256(path)} for path in paths[:2]]
    save_json(tmp_path / "text/0.json", {"files": told})
    files, counts = [input_file(path) for path in paths], [tmp_path / "text/0.json"]
    assert replaced(files, [*counts, tmp_path / "text/1.json"]) == {}
    replace_unseen(paths[1], b"B")
    replace_unseen(paths[2], b"C")  # nobody has read it yet
    assert replaced(files, counts) == {str(paths[1]): hashlib.sha256(b"B").hexdigest()}


def test_told_replaced__names_the_first_and_counts_the_others():
    assert told_replaced({"a": "1", "b": "2"}, {"a": "1"}) is None
    assert str(told_replaced({"a": "1", "b": "2"}, {"a": "1", "b": "3"})).startswith("b: changed")
    many = str(told_replaced({"a": "1", "b": "2"}, {"a": "0", "b": "3"}))
    assert many.startswith("a and 1 more: changed")


def least_corpus(folder: Path) -> dict:
    for part in range(2):
        records = [{"text": document(100 * part + k, 400)} for k in range(30)]
        write_jsonl(folder / f"raw/{part}.jsonl", records)
    write_jsonl(folder / "raw/held.jsonl", [{"text": document(3, 400)}])
    return {
        "sources": [
            {"name": "s", "files": ["raw/0.jsonl", "raw/1.jsonl"]},
            {"name": "held", "files": ["raw/held.jsonl"], "held_out": True},
        ],
        "input": {"part_bytes": 65_536},
        "splits": {"validation": 0.1, "test": 0.1},
        "output": {"shard_bytes": 65_536},
        "tokenizer": {"source": "train", "train_vocabulary": 300},
    }


@pytest.fixture(scope="module")
def milled(tmp_path_factory) -> tuple[Path, dict]:
    folder = tmp_path_factory.mktemp("milled")
    config = least_corpus(folder)
    mill(folder, config)
    return folder, config


def other_letter(path: Path) -> bytes:
    """A document of the file with a letter changed."""
    content = path.read_bytes()
    place = content.index(b"grain", len(content) // 2)
    return content[:place] + b"G" + content[place + 1 :]


def test_file_replaced_behind_size_and_time__is_noticed_where_asked(milled, tmp_path):
    before, config = milled
    folder = shutil.copytree(before, tmp_path / "run")
    replace_unseen(folder / "raw/1.jsonl", other_letter(folder / "raw/1.jsonl"))

    def dry(verify: str) -> str:
        setting = f"input={{verify: {verify}}}"
        arguments = ("--configfile", "mine.yaml", "--config", setting, "-n", "--quiet", "rules")
        done = snakemake(folder, *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "Nothing to be done" in dry("changed")
    assert "normalize" not in dry("never")
    assert "normalize" in dry("always")
    checked = config | {"input": config["input"] | {"verify": "always"}}
    done = mill(folder, checked)
    assert "rule normalize" in done.stderr
    assert (folder / "results/text/00000.json").stat().st_mtime_ns == (
        before / "results/text/00000.json"
    ).stat().st_mtime_ns
    assert "NOTE: raw/1.jsonl: changed since the last run ended" in done.stderr
    shutil.copytree(folder / "raw", tmp_path / "fresh/raw")
    mill(tmp_path / "fresh", config)
    assert digests(folder) == digests(tmp_path / "fresh") != digests(before)
    again = snakemake(folder, "--configfile", "mine.yaml", "-n")
    assert "Nothing to be done" in again.stdout


def test_file_replaced_behind_size_and_time__is_told_when_it_is_read_again(milled, tmp_path):
    before, config = milled
    folder = shutil.copytree(before, tmp_path / "run")
    replace_unseen(folder / "raw/0.jsonl", other_letter(folder / "raw/0.jsonl"))
    (folder / "results/text/00000.arrow").unlink()
    done = mill(folder, config, "-R", "measure")
    assert "NOTE: raw/0.jsonl: changed since the last run ended" in done.stderr
    assert digests(folder) != digests(before)


def test_manifest__is_a_chain_from_the_inputs_to_what_is_kept(milled):
    folder, _ = milled
    manifest = json.loads((folder / "results/manifest.json").read_text())
    paths = [folder / file["path"] for file in manifest["inputs"]]
    assert [path.name for path in paths] == ["0.jsonl", "1.jsonl", "held.jsonl"]
    for entry in manifest["inputs"] + manifest["files"]:
        path = folder / entry["path"]
        assert (entry["bytes"], entry["sha256"]) == (path.stat().st_size, sha256(path)), path
    assert {"normalize", "gather", "encode"} <= set(manifest["code"])
    own = manifest.pop("sha256")
    assert own == hashlib.sha256(as_json(manifest).encode()).hexdigest()
    summary = json.loads((folder / "results/summary.json").read_text())
    assert (summary["manifest"], summary["config_digest"]) == (own, manifest["config_digest"])
    listed = {entry["path"] for entry in manifest["files"]}
    for kept in ("ledger/*.parquet", "placements/*/*.parquet", "tokens/*/*.bin", "corpus/*/*.json"):
        files = (folder / "results").glob(kept)
        assert {str(path.relative_to(folder)) for path in files} <= listed
