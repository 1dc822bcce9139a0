"""Exports: each format has the ids of the corpus, by a reader of its description."""

import hashlib
import json
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import naive_exports
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xxhash
import yaml
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from stream_corpus import END, read_manifest, tokens_of, write_corpus, write_manifest
from workflow import ROOT, document, jobs, mill, snakemake, write_jsonl

from corpusmill.cli.main import main
from corpusmill.messages.progress import Silence
from corpusmill.reader import Corpus, PackedSamples, loss_mask, segments_of
from corpusmill.run.disk import TOKEN_BYTES, expected_disk
from corpusmill.tools.export import reference
from corpusmill.tools.export.exporting import (
    Exporting,
    disk_share,
    format_of,
    known_formats,
    opened,
)

SPLITS = {
    "train": [[5, 9, 30], [], [2, 2, 2, 1], [100, 1, 40]],
    "validation": [[50]],
    "test": [[1], [7, 3]],
}
LENGTH = 4
WITH_OTHER_ROWS = {"hdf5", "llm-c"}
"""Formats whose documents or samples have other ids than the corpus: they have their own tests."""


def corpus(folder, dtype="uint16", splits=SPLITS):
    results = write_corpus(folder, splits, dtype)
    for split, shards in splits.items():
        for number, sizes in enumerate(shards):
            path = results / f"placements/{split}/{number:05}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            rows = range(len(sizes))
            ids = pa.array([number << 32 | row for row in rows], pa.uint64())
            sources = pa.array(["web, and more" for _ in rows], pa.string()).dictionary_encode()
            pq.write_table(pa.table({"id": ids, "source": sources}), path)
    return results


@pytest.fixture(scope="module", params=["uint16", "uint32"])
def results(request, tmp_path_factory):
    return corpus(tmp_path_factory.mktemp("corpus"), request.param)


def dtype_of(results) -> str:
    return json.loads((results / "tokenizer/corpusmill.json").read_text())["dtype"]


def exported(name, results, folder, length=LENGTH):
    Exporting(name, results, folder, length).write(Silence())
    return folder


def read(name, folder, split, dtype):
    return getattr(naive_exports, python_name(name))(folder, split, dtype)


def python_name(name) -> str:
    return name.replace("-", "_")


def flat(lists) -> list[int]:
    return [id for one in lists for id in one]


def bytes_of(folder) -> dict:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*") if path.is_file()
    }  # fmt: skip


def test_readers__of_all_formats_exist():
    """The independent reader of a format is a function of naive_exports.py with its name."""
    assert [name for name in known_formats() if not hasattr(naive_exports, python_name(name))] == [
        "hdf5"  # its test reads it with h5py
    ]


def test_export_md__has_the_formats_as_they_are_declared():
    """After a change of a format: python -m corpusmill.tools.export.reference"""
    written = reference.PAGE.read_text("utf-8")
    assert reference.page(written) == written
    without_one = re.sub(r"\| `mds` .*\n", "", written)
    assert without_one != written
    assert reference.page(without_one) == written


@pytest.mark.parametrize("name", sorted({*known_formats()} - WITH_OTHER_ROWS))
def test_export__has_the_ids_of_the_corpus(name, results, tmp_path):
    declared, dtype = format_of(name), dtype_of(results)
    if declared.uint16_alone and dtype != "uint16":
        with pytest.raises(ValueError, match="16-bit ids"):
            exported(name, results, tmp_path / "out")
        return
    folder = exported(name, results, tmp_path / "out")
    for split, shards in SPLITS.items():
        found, tokens = read(name, folder, split, dtype), tokens_of(results, split)
        whole = tokens[: len(tokens) // LENGTH * LENGTH]
        if found and isinstance(found[0], list):
            sizes = [size for sizes in shards for size in sizes]
            expected = [LENGTH] * (len(whole) // LENGTH) if declared.samples else sizes
            assert [len(one) for one in found] == expected
            found = flat(found)
        # A format can have the incomplete last sample too: numpy-shards links whole token shards.
        assert found == tokens or (declared.samples and found == whole)


def test_export__numpy_shards_name_samples_by_their_ids(results, tmp_path):
    folder = exported("numpy-shards", results, tmp_path / "out")
    for number in range(4):
        ids = np.fromfile(folder / f"train_{number:06}.npy", dtype_of(results))
        whole = [ids[at : at + LENGTH] for at in range(0, len(ids) - LENGTH + 1, LENGTH)]
        named = np.fromfile(folder / f"train_sample_ids_{number:06}.bin", "<u8").tolist()
        assert named == [xxhash.xxh3_64_intdigest(sample.tobytes()) for sample in whole]


def test_export__llm_c_has_the_end_of_text_before_each_document(results, tmp_path):
    folder = exported("llm-c", results, tmp_path / "out")
    at = 0
    ids, tokens = read("llm-c", folder, "train", dtype_of(results)), tokens_of(results)
    assert len(ids) == len(tokens)
    for sizes in SPLITS["train"]:
        for size in sizes:
            assert ids[at : at + size] == [END, *tokens[at : at + size - 1]]
            at += size


def test_export__hdf5_has_ids_mask_and_labels(results, tmp_path):
    h5py = pytest.importorskip("h5py")
    folder = exported("hdf5", results, tmp_path / "out")
    for split in SPLITS:
        tokens = tokens_of(results, split)
        with h5py.File(folder / split / "data-00000.h5") as file:
            rows = file["data"][:].tolist()
            assert file.attrs["n_examples"] == len(rows) == (len(tokens) - 1) // LENGTH
        for row, at in zip(rows, range(0, len(tokens), LENGTH), strict=False):
            following = tokens[at + 1 : at + 1 + LENGTH]
            assert row == [tokens[at : at + LENGTH], [1] * LENGTH, following]


@pytest.mark.parametrize("name", ["mds", "litdata", "hdf5"])
def test_export__of_packed_rows(name, tmp_path):
    results = write_corpus(tmp_path, SPLITS, pack=(LENGTH - 1, LENGTH))
    folder = tmp_path / "out"
    Exporting(name, results, folder, LENGTH, packed=True).write(Silence())
    record = json.loads((folder / "export.json").read_text())
    assert record["rows"] == "packed"
    with pytest.raises(ValueError, match="found an export with"):
        Exporting(name, results, folder, LENGTH).write(Silence())
    for split in SPLITS:
        rows = PackedSamples(Corpus(results).split(split), LENGTH - (name != "hdf5"))
        expected = rows.rows(np.arange(len(rows)))
        if name == "hdf5":
            import h5py

            with h5py.File(folder / split / "data-00000.h5") as file:
                found = file["data"][:]
            assert (found[:, 0] == expected[:, :-1]).all()
            assert (found[:, 2] == expected[:, 1:]).all()
            assert (found[:, 1] == loss_mask(segments_of(expected, END))).all()
        elif name == "mds":
            assert naive_exports.mds(folder, split, "uint16") == expected.tolist()
        else:
            assert naive_exports.litdata(folder, split, "uint16") == flat(expected.tolist())


@pytest.mark.parametrize(
    ("name", "pack", "said"),
    [
        ("megatron", (LENGTH,), "megatron cannot have packed rows"),
        ("mds", (LENGTH,), rf"length {LENGTH - 1}: expected a length that .* is packed to"),
    ],
)
def test_export__refuses_packed_rows_that_are_not_there(name, pack, said, tmp_path):
    results = write_corpus(tmp_path, SPLITS, pack=pack)
    with pytest.raises(ValueError, match=said):
        Exporting(name, results, tmp_path / "out", LENGTH, packed=True)


@given(
    sizes=st.lists(st.lists(st.integers(1, 12), max_size=4), min_size=1, max_size=4),
    length=st.integers(1, 9), most=st.integers(1, 4), ahead=st.integers(0, 1),
)  # fmt: skip
def test_samples__are_those_of_the_tokens_in_a_row(sizes, length, most, ahead, tmp_path_factory):
    results = write_corpus(tmp_path_factory.mktemp("c"), {"train": sizes})
    tokens = tokens_of(results)
    blocks = list(opened(results, length).splits[0].samples(length, most, ahead))
    ends = range(length + ahead, len(tokens) + 1, length)
    assert [row for b in blocks for row in b.tolist()] == [
        tokens[end - length - ahead : end] for end in ends
    ]
    assert all(len(block) == most for block in blocks[:-1])


@pytest.mark.parametrize("name", sorted({*known_formats()} - {"hdf5"}))
def test_export__gone_on_with_ends_as_if_never_stopped(name, tmp_path):
    results = corpus(tmp_path)
    whole = bytes_of(exported(name, results, tmp_path / "whole"))

    class StoppedError(Exception):
        pass

    class Stopping:
        done = 0

        def advance(self, amount):
            self.done += amount
            if self.done > 150:
                raise StoppedError

    with pytest.raises(StoppedError):
        Exporting(name, results, tmp_path / "out", LENGTH).write(Stopping())
    there = {path: path.stat().st_ino for path in (tmp_path / "out").rglob("*.*") if path.is_file()}
    assert not (tmp_path / "out/export.json").exists()
    exported(name, results, tmp_path / "out")
    assert bytes_of(tmp_path / "out") == whole
    kept = {path: inode for path, inode in there.items() if not path.name.startswith(".")}
    assert all(path.stat().st_ino == inode for path, inode in kept.items())


def test_export__where_bytes_agree_is_the_same_file(tmp_path):
    results = corpus(tmp_path)
    source = results / "tokens/train/00000.bin"
    for name, linked in (
        ("megatron", "train/00000.bin"), ("olmo", "train/00000.npy"),
        ("datatrove", "train/00000.ds"), ("numpy-shards", "train_000000.npy"),
    ):  # fmt: skip
        folder = exported(name, results, tmp_path / name)
        assert (folder / linked).samefile(source)


def test_export__across_disks_is_a_copy(tmp_path, monkeypatch):
    results = corpus(tmp_path)

    def refused(source, path):
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refused)
    folder = exported("megatron", results, tmp_path / "out")
    source = results / "tokens/train/00000.bin"
    assert not (folder / "train/00000.bin").samefile(source)
    assert (folder / "train/00000.bin").read_bytes() == source.read_bytes()


def test_record__lists_all_files_with_their_digests(tmp_path):
    results = corpus(tmp_path)
    folder = exported("olmo", results, tmp_path / "out")
    record = json.loads((folder / "export.json").read_text())
    listed = {one["path"]: (one["bytes"], one["sha256"]) for one in record.pop("files")}
    there = {
        name: (len(data), hashlib.sha256(data).hexdigest())
        for name, data in bytes_of(folder).items() if name != "export.json"
    }  # fmt: skip
    assert listed == there
    assert record == {
        "corpusmill.export": 1, "format": "olmo", "length": None, "rows": None,
        "manifest_sha256": json.loads((results / "manifest.json").read_text())["sha256"],
        "splits": {
            split: {"documents": sum(map(len, shards)), "tokens": sum(map(sum, shards))}
            for split, shards in SPLITS.items()
        },
    }  # fmt: skip


def test_export__done_already_is_left_as_it_is(tmp_path):
    results = corpus(tmp_path)
    folder = exported("olmo", results, tmp_path / "out")
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    exported("olmo", results, folder)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


@pytest.mark.parametrize(
    ("name", "length", "said"),
    [
        ("megatron", LENGTH, "found an export with format olmo."),
        ("olmo", LENGTH, "found an export with manifest_sha256 "),
    ],
)
def test_export__into_that_of_another_is_refused(name, length, said, tmp_path):
    results = corpus(tmp_path)
    folder = exported("olmo", results, tmp_path / "out")
    write_manifest(results, read_manifest(results) | {"generation": 2})
    with pytest.raises(ValueError, match=said):
        exported(name, results, folder, length)


def test_export__into_files_of_others_is_refused(tmp_path):
    results = corpus(tmp_path / "corpus")
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match="expected an empty folder, found files in it"):
        exported("olmo", results, tmp_path)


class Failing:
    """Progress that fails at the n-th file."""

    def __init__(self, n: int) -> None:
        self._left = n

    def advance(self, amount: int) -> None:
        self._left -= 1
        if self._left < 0:
            raise OSError("the disk is full")


@pytest.mark.parametrize("files", [0, 3])
@pytest.mark.parametrize(("name", "length"), [("megatron", LENGTH), ("mds", LENGTH + 1)])
def test_export__that_failed_leaves_its_folder_to_others(files, name, length, tmp_path):
    results = corpus(tmp_path / "corpus")
    folder, expected = tmp_path / "begun", exported(name, results, tmp_path / "new", length)
    with pytest.raises(OSError, match="disk is full"):
        Exporting("mds", results, folder, LENGTH).write(Failing(files))
    if files:
        (folder / "train/.shard.00000.mds~1-ab").touch()  # of a writer that was killed
    exported(name, results, folder, length)
    assert bytes_of(folder) == bytes_of(expected)
    assert {path.name for path in folder.rglob(".*")} == set()


def test_export__removes_no_file_that_it_did_not_make(tmp_path):
    results = corpus(tmp_path / "corpus")
    folder = tmp_path / "begun"
    with pytest.raises(OSError, match="disk is full"):
        Exporting("olmo", results, folder, LENGTH).write(Failing(3))
    (folder / "train/mine.txt").write_text("mine")
    (tmp_path / "mine.txt").write_text("mine")
    with open(folder / ".export-made.txt", "a") as made:
        made.write("../mine.txt\ntrain/../../mine.txt\n/\n\n.\ntrain\n")
    with pytest.raises(ValueError, match="expected an empty folder, found files in it"):
        exported("megatron", results, folder)
    assert [path.name for path in folder.rglob("*") if path.is_file() and path.name[0] != "."] == [
        "mine.txt"
    ]
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_export__into_a_folder_of_one_that_is_under_way_is_refused(tmp_path):
    results = corpus(tmp_path / "corpus")
    folder = tmp_path / "out"

    class Meanwhile(Silence):
        def advance(self, amount: int) -> None:
            with pytest.raises(ValueError, match="another export into this folder is in progress"):
                exported("olmo", results, folder)

    Exporting("megatron", results, folder, LENGTH).write(Meanwhile())
    assert (folder / "export.json").exists()


def test_export__of_a_damaged_shard_is_refused(tmp_path):
    results = corpus(tmp_path)
    path = results / "tokens/train/00003.bin"
    path.write_bytes(path.read_bytes()[:-1] + b"\xff")
    for name in sorted({*known_formats()} - {"hdf5"}):
        with pytest.raises(ValueError, match=f"^{path}: expected SHA-256"):
            exported(name, results, tmp_path / name)
        assert not (tmp_path / name / "export.json").exists()


def test_faults__say_what_a_format_cannot_hold(tmp_path):
    results = corpus(tmp_path, "uint32")
    with pytest.raises(ValueError, match=r"nanogpt has 16-bit ids.* 50,000"):
        exported("nanogpt", results, tmp_path / "out")
    with pytest.raises(
        ValueError, match="length 60: validation has 50 tokens, too few for one sample"
    ):
        exported("mds", results, tmp_path / "out", 60)
    assert not (tmp_path / "out").exists()


def test_command__lists_formats_and_writes_one(tmp_path, monkeypatch):
    results = corpus(tmp_path)
    monkeypatch.chdir(tmp_path)
    listed = CliRunner().invoke(main, ["export"])
    assert listed.exit_code == 0
    assert [line.split()[0] for line in listed.output.splitlines()[::2]] == known_formats()
    done = CliRunner().invoke(main, ["export", "megatron", str(results)])
    assert done.exit_code == 0, done.output
    assert "train 10 documents, 192 tokens" in done.output
    assert (tmp_path / "exports/megatron/train/00003.idx").is_file()
    wrong = CliRunner().invoke(main, ["export", "megatorn", str(results)])
    assert (wrong.exit_code, "Did you mean megatron?" in wrong.output) == (1, True)
    nowhere = CliRunner().invoke(main, ["export", "megatron", str(tmp_path / "none")])
    assert (nowhere.exit_code, "no such file" in nowhere.output) == (1, True)


def test_formats__need_no_package_that_reads_them():
    code = (
        "import sys; from corpusmill.tools.export.exporting import *; list(map(format_of, "
        "known_formats())); sys.exit(' '.join({'torch', 'h5py', 'streaming', 'litdata'} & "
        "{*sys.modules}) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_run__exports_and_exports_anew_what_changed(tmp_path):
    write_jsonl(tmp_path / "raw.jsonl", [{"text": document(k)} for k in range(200)])
    config = {
        "sources": [{"name": "s", "files": ["raw.jsonl"]}],
        "output": {"exports": ["megatron", "mds"], "sample_tokens": 128},
        "tokenizer": {"source": "train", "train_vocabulary": 400},
    }
    mill(tmp_path, config)
    results = tmp_path / "results"
    documents = naive_exports.megatron(results / "exports/megatron", "train", "uint16")
    assert flat(documents) == tokens_of(results)
    again = snakemake(tmp_path, "--configfile", "mine.yaml", "--cores", "2", "-n")
    assert "Nothing to be done" in again.stdout + again.stderr
    manifest = (results / "manifest.json").read_bytes()
    config["output"] |= {"exports": ["megatron", "mds", "olmo"], "sample_tokens": 64}
    dry = ("--configfile", "mine.yaml", "-n", "--quiet", "rules")
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(config))
    assert jobs(snakemake(tmp_path, *dry)) == {"export": 3, "all": 1, "total": 4}
    mill(tmp_path, config)
    assert (results / "manifest.json").read_bytes() == manifest
    samples = naive_exports.mds(results / "exports/mds", "train", "uint16")
    assert {len(sample) for sample in samples} == {64}


def test_disk__of_exports_is_what_they_take(tmp_path):
    # Long documents, as the headers of short ones take as much as their ids.
    sizes = np.random.default_rng(1).integers(4000, 9000, 60).tolist()
    results = corpus(tmp_path, splits={"train": [sizes, sizes]})
    tokens = sum(path.stat().st_size for path in results.glob("tokens/train/*.bin"))
    for name in sorted({*known_formats()} - {"hdf5", "parquet"}):  # these pack
        folder = exported(name, results, tmp_path / name, length=512)
        own = [path.stat() for path in folder.rglob("*") if path.is_file()]
        size = sum(state.st_size for state in own if state.st_nlink == 1)
        assert size / tokens == pytest.approx(disk_share([name]), abs=0.2), name
    layout = SimpleNamespace(
        cuts_spans=False, edits=False, mixes=False, counts_tokens=False, arranges=False,
        inputs=SimpleNamespace(
            text_bytes=1000, milled=[SimpleNamespace(text_bytes=1000, source="a")]
        ),
    )  # fmt: skip
    config = SimpleNamespace(
        output=SimpleNamespace(join=False, pack=[]),
        permutations=128,
        band_setting=(9, 1),
        weights={"a": 2},
    )
    with_mds, without = (expected_disk(config, layout, share) for share in (1.0, 0))
    assert with_mds.likely - without.likely == pytest.approx(2000 * TOKEN_BYTES)
    assert with_mds.least - without.least == pytest.approx(2000 * TOKEN_BYTES / 4)
