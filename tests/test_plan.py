"""The plan: every input file in one part, old parts as they were."""

import glob
import os
import re
from pathlib import Path

import pytest
import yaml
from workflow import ROOT

from corpusmill.mill.storage.files import save_json, save_text
from corpusmill.run import plan
from corpusmill.run.config import Config, Source
from corpusmill.run.layout import Layout
from corpusmill.run.listing import files_beneath, matches
from corpusmill.run.plan import (
    EarlierPart,
    InputFile,
    Part,
    earlier_parts,
    list_inputs,
    plan_lines,
    plan_parts,
    refuse_other_corpus,
    shard_counts,
    split_bytes,
)

FRACTIONS = {"train": 0.9, "validation": 0.1, "test": 0}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty working directory; patterns are relative to it."""
    monkeypatch.chdir(tmp_path)

    def write(*names: str, size: int = 10) -> None:
        for name in names:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(b"x" * size)

    return write


def source(name: str, *files: str) -> Source:
    return Source(name=name, files=list(files))


def inputs(**sizes: int) -> list[InputFile]:
    return [InputFile("s", path, size) for path, size in sizes.items()]


def paths(parts: list[Part]) -> list[list[str]]:
    return [[file.path for file in part.files] for part in parts]


def earlier(parts) -> list[EarlierPart]:
    return [EarlierPart(part.generation, [file.path for file in part.files]) for part in parts]


def test_list_inputs__are_in_order_of_sources_then_paths(here):
    here("b/2.jsonl", "b/10.jsonl", "a/1.parquet", "b/sub/3.jsonl.gz", "b/notes.odd")
    got = list_inputs([source("z", "b/**/*.jsonl*"), source("y", "a/*")], {})
    expected = ["b/10.jsonl", "b/2.jsonl", "b/sub/3.jsonl.gz", "a/1.parquet"]
    assert [file.path for file in got] == expected
    assert [file.source for file in got] == ["z", "z", "z", "y"]


def test_list_inputs__expect_more_text_than_bytes_of_packed_files(here):
    here("1.jsonl", "1.jsonl.zst", "1.jsonl.gz", "1.parquet", size=100)
    got = {file.path: file.text_bytes for file in list_inputs([source("s", "1.*")], {})}
    assert got == {"1.jsonl": 100, "1.jsonl.zst": 400, "1.jsonl.gz": 400, "1.parquet": 300}


def test_list_inputs__a_file_matched_twice_by_one_source_counts_once(here):
    here("a.jsonl")
    assert len(list_inputs([source("s", "*.jsonl", "a.*")], {})) == 1


def test_list_inputs__refuse_a_pattern_without_files(here, tmp_path):
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(ValueError, match=r'"web".*no file matches \*\.jsonl'):
        list_inputs([source("web", "*.jsonl")], {})


@pytest.mark.parametrize("name", ["a{b}.jsonl", "a}.jsonl", "<results>.jsonl"])
def test_list_inputs__refuse_a_name_that_snakemake_would_expand(here, name):
    here(name)
    with pytest.raises(ValueError, match=r"\.jsonl has [{}<\w>]+ in its name, which Snakemake"):
        list_inputs([source("s", "*.jsonl")], {})


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (b"not\xff.jsonl", r"'data/not\\udcff\.jsonl' has a name that is not UTF-8\. Rename the"),
        (b"a\x1b[2J.jsonl", r"'data/a\\x1b\[2J\.jsonl' has a control character in its name"),
        ("a\x9b.jsonl".encode(), r"'data/a\\x9b\.jsonl' has a control character in its name"),
    ],
)
def test_list_inputs__refuse_a_name_that_nobody_can_read(name, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    Path(os.fsdecode(b"data/" + name)).write_bytes(b"{}")
    with pytest.raises(ValueError, match=said):
        list_inputs([source("a", "data")], {})


def test_list_inputs__refuse_a_file_of_two_sources(here):
    here("a.jsonl")
    with pytest.raises(ValueError, match=r'a\.jsonl belongs to source "two" and to source "one"'):
        list_inputs([source("one", "a.*"), source("two", "*.jsonl")], {})


@pytest.mark.parametrize("name", ["a.odd", "a.json", "a.jsonl.odd", "a.zst"])
def test_list_inputs__refuse_an_unknown_ending(here, name):
    here(name)
    with pytest.raises(ValueError, match=rf"{name}: expected a file name ending in \."):
        list_inputs([source("s", "*")], {})


@pytest.mark.parametrize("exists", [False, True])
def test_list_inputs__generated_files_need_not_exist_and_keep_their_size(here, exists):
    if exists:
        here("made.jsonl.zst", size=999)
    got = list_inputs([source("s", "made.jsonl.zst")], {"made.jsonl.zst": 1234})
    assert got == [InputFile("s", "made.jsonl.zst", 1234)]


@pytest.mark.parametrize(
    ("part_bytes", "expected"),
    [
        (100, [["a", "b", "c"]]),
        (60, [["a", "b"], ["c"]]),
        (59, [["a"], ["b", "c"]]),
        (10, [["a"], ["b"], ["c"]]),
    ],
)
def test_plan_parts__fill_parts_up_to_part_bytes(part_bytes, expected):
    parts = plan_parts(inputs(a=30, b=30, c=20), part_bytes, [])
    assert paths(parts) == expected
    assert [part.name for part in parts] == [f"{n:05d}" for n in range(len(expected))]


def test_plan_parts__keep_old_parts_when_files_are_added():
    before = earlier(plan_parts(inputs(b=60, d=60), 100, []))
    grown = plan_parts(inputs(a=10, b=60, c=10, d=60, e=10), 100, before)
    assert paths(grown) == [["b"], ["d"], ["a", "c", "e"]]
    assert [part.number for part in grown] == [0, 1, 2]
    assert [part.generation for part in grown] == [1, 1, 2]
    again = plan_parts(inputs(a=10, b=60, c=10, d=60, e=10, f=1), 100, earlier(grown))
    assert [part.generation for part in again] == [1, 1, 2, 3]


def test_plan_parts__refuse_a_vanished_file():
    with pytest.raises(ValueError, match=r"b is in .* no longer an input \(1 such files"):
        plan_parts(inputs(a=1, c=1), 100, [EarlierPart(1, ["a", "b"])])


def test_plan_parts__plan_another_corpus_anew():
    parts = plan_parts(inputs(x=1, y=1), 100, [EarlierPart(1, ["a"]), EarlierPart(2, ["b"])])
    assert parts == [Part(0, list(inputs(x=1, y=1)), 1)]


def test_earlier_parts__are_those_of_the_finished_run():
    finished = {"part_bytes": 100, "parts": [{"generation": 2, "paths": ["a", "b"]}]}
    assert earlier_parts(finished, 100) == [EarlierPart(2, ["a", "b"])]


def test_earlier_parts__are_none_without_one_or_for_other_part_bytes():
    assert earlier_parts(None, 100) == []
    assert earlier_parts({"part_bytes": 100, "parts": []}, 101) == []


def test_list_inputs__know_size_and_time_of_each_file(here):
    here("a.jsonl", size=7)
    os.utime("a.jsonl", ns=(5, 1_234_567_890_123_456_789))
    (got,) = list_inputs([source("s", "*.jsonl")], {})
    assert (got.bytes, got.mtime_ns) == (7, 1_234_567_890_123_456_789)


# Whose results lie here.

DEMO = {"made.jsonl": 100}


def planned(folder, *names: str) -> None:
    lines = plan_lines(plan_parts([InputFile("s", name, 1) for name in names], 100, []), 100)
    save_text(folder / "plan/parts.jsonl", "\n".join(lines) + "\n")


def test_refuse_other_corpus__of_which_this_run_has_no_file(tmp_path):
    planned(tmp_path, "a.jsonl", "b.jsonl")
    with pytest.raises(
        ValueError, match=r"different corpus \(2 input files, the first is a\.jsonl\)"
    ):
        refuse_other_corpus(inputs(**{"c.jsonl": 1}), DEMO, tmp_path)
    with pytest.raises(ValueError, match="this run is the bundled demo"):
        refuse_other_corpus(inputs(**{"made.jsonl": 1}), DEMO, tmp_path)
    refuse_other_corpus(inputs(**{"b.jsonl": 1, "c.jsonl": 1}), DEMO, tmp_path)


def test_refuse_other_corpus__lets_the_demo_be_replaced(tmp_path):
    planned(tmp_path, "made.jsonl")
    refuse_other_corpus(inputs(**{"c.jsonl": 1}), DEMO, tmp_path)
    refuse_other_corpus(inputs(**{"made.jsonl": 1}), DEMO, tmp_path)


def test_refuse_other_corpus__knows_it_by_the_manifest_where_there_is_no_plan(tmp_path):
    save_json(tmp_path / "manifest.json", {"sources": ["books", "web"]})
    with pytest.raises(ValueError, match=r"different corpus \(sources books, web\)"):
        refuse_other_corpus(inputs(**{"made.jsonl": 1}), DEMO, tmp_path)
    refuse_other_corpus(inputs(**{"c.jsonl": 1}), DEMO, tmp_path)  # to plan anew was asked for
    save_json(tmp_path / "manifest.json", {"sources": ["s"]})
    refuse_other_corpus(inputs(**{"made.jsonl": 1}), DEMO, tmp_path)


def test_refuse_other_corpus__of_an_untouched_folder(tmp_path):
    refuse_other_corpus(inputs(**{"made.jsonl": 1}), DEMO, tmp_path)


@pytest.mark.parametrize(
    ("weight", "shard_bytes", "expected"),
    [
        (1, 1000, {"train": 1, "validation": 1}),
        (1, 100, {"train": 9, "validation": 1}),
        (2, 100, {"train": 18, "validation": 1}),  # held-out documents are not repeated
        (0.5, 10, {"train": 45, "validation": 5}),
        (0, 10, {"train": 1, "validation": 1}),
    ],
)
def test_shard_counts__follow_from_expected_bytes(weight, shard_bytes, expected):
    parts = plan_parts(inputs(a=400, b=600), 500, [])
    assert shard_counts(split_bytes(parts, {"s": weight}, FRACTIONS), shard_bytes) == expected


def test_files_beneath__refuses_a_folder_that_cannot_be_looked_into(tmp_path, monkeypatch):
    (tmp_path / "shut").mkdir()
    scandir = os.scandir

    def refused(place):
        if str(place).endswith("shut"):
            raise PermissionError(13, "Permission denied", place)
        return scandir(place)

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(ValueError, match=r"shut: no permission to list this folder\."):
        files_beneath(str(tmp_path), [".jsonl"], [])


@pytest.mark.parametrize("entry", ["data", "data/**/*.jsonl"])
def test_list_inputs__refuse_folders_deeper_than_a_path_can_be(here, tmp_path, entry):
    here("data/0.jsonl")
    place = os.open(tmp_path / "data", os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=place)
        inner = os.open("d" * 250, os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inner
    os.close(place)
    with pytest.raises(
        ValueError, match=r"data/d+\.\.\.: expected a path .* Move the files"
    ) as refused:
        list_inputs([source("s", entry)], {})
    assert len(str(refused.value)) < 300


def special_files(folder) -> dict[str, str]:
    """Entry of a folder -> what is found there, of entries that nobody can read as a file."""
    os.mkfifo(folder / "fifo.jsonl")
    (folder / "zero.jsonl").symlink_to("/dev/zero")
    (folder / "gone.jsonl").symlink_to("nowhere")
    (folder / "circle.jsonl").symlink_to("circle.jsonl")
    return {
        "fifo.jsonl": "a FIFO",
        "zero.jsonl": "a device",
        "gone.jsonl": "a symlink that leads to no file",
        "circle.jsonl": "a symlink that leads in a circle",
    }


@pytest.mark.parametrize("entry", ["data", "data/*.jsonl", "data/**/*.jsonl", "data/{}"])
@pytest.mark.parametrize("name", ["fifo", "zero", "gone", "circle"])
def test_list_inputs__refuse_what_is_no_regular_file(here, tmp_path, entry, name):
    here("data/0.jsonl")
    kinds = special_files(tmp_path / "data")
    for other in kinds.keys() - {f"{name}.jsonl"}:
        (tmp_path / "data" / other).unlink()
    with pytest.raises(
        ValueError, match=f"data/{name}.jsonl: expected a regular file, found "
    ) as e:
        list_inputs([source("s", entry.format(f"{name}.jsonl"))], {})
    assert kinds[f"{name}.jsonl"] in str(e.value)
    assert "\n" not in str(e.value)


@pytest.mark.parametrize(
    "entry", ["data", "data/**", "data/**/*.jsonl", "**/*.jsonl", "./**/*.jsonl"]
)
def test_list_inputs__enter_each_real_folder_once(here, tmp_path, entry):
    here("data/0.jsonl", "data/b/1.jsonl", "outside/2.jsonl", "data/.hidden/3.jsonl")
    for name in "xyz":
        (tmp_path / "data" / name).symlink_to(".")
    (tmp_path / "data/a").symlink_to("b")
    (tmp_path / "data/b/up").symlink_to("..")
    (tmp_path / "data/c").symlink_to("../outside")
    (tmp_path / "outside/back").symlink_to("../data")
    skipped = []
    got = [file.path for file in list_inputs([source("s", entry)], {}, skipped=skipped)]
    before = "./" if entry.startswith(".") else ""
    # From the top `outside` is found by its own name.
    third = "outside/2.jsonl" if entry.removeprefix("./").startswith("**") else "data/c/2.jsonl"
    assert got == [before + one for one in ("data/0.jsonl", "data/b/1.jsonl", third)]
    assert any(f"{before}data/a is skipped: it is the folder" in one for one in skipped)


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize(
    "pattern",
    ["**", "a/**", "**/*.jsonl", "a*/**/c/*", "**/c/**/*.jsonl", "*/*", "[ab]/**/[1]*", "no/**/*"],
)
def test_matches__are_those_of_glob(here, tmp_path, pattern, links):
    here("a/1.jsonl", "a/b/2.jsonl", "a/b/c/1.jsonl", "a/[c]/1.jsonl", "b/.h/1.jsonl", "1.jsonl")
    if links:
        (tmp_path / "linked.jsonl").symlink_to("1.jsonl")
    expected = {path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path)}
    assert {path for path in matches(pattern, []) if os.path.isfile(path)} == expected


def test_list_inputs__tell_a_link_to_a_folder_that_was_met(here, tmp_path):
    here("data/0.jsonl")
    (tmp_path / "data/again").symlink_to(".")
    skipped = []
    list_inputs([source("s", "data")], {}, skipped=skipped)
    assert skipped == ["data/again is skipped: it is the folder data, which is already read."]


def planned_with(folder, files: int, **changes) -> Layout:
    """The layout of so many files of 100 bytes each, none of which is looked at."""
    config = yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))
    generated = {f"{n}.jsonl": 100 for n in range(files)}
    config["sources"] = [{"name": "s", "files": list(generated)}]
    for key, value in changes.items():
        section, name = key.split("__")
        config[section][name] = value
    return Layout.planned(Config.of(config), folder / "results", generated)


def test_planned__refuses_more_parts_than_can_be_numbered(tmp_path, monkeypatch):
    monkeypatch.setattr(plan, "MOST_NUMBERED", 99)
    monkeypatch.setattr(plan, "WHOLE_BYTES", 10)
    assert len(planned_with(tmp_path, 99, input__part_bytes=150).inputs.parts) == 99
    with pytest.raises(ValueError, match=r"^input\.part_bytes: 150 .* 1,000 parts") as error:
        planned_with(tmp_path, 1000, input__part_bytes=150)
    fitting = int(re.search(r"Set \S+ to (\d+) or more", str(error.value))[1])
    assert fitting == 1100  # 11 files to a part make 91, 10 files 100
    assert len(planned_with(tmp_path, 1000, input__part_bytes=fitting).inputs.parts) == 91


def test_planned__refuses_more_shards_than_can_be_numbered(tmp_path):
    whole = {"input__part_bytes": 10**9, "output__shard_bytes": 1}
    with pytest.raises(
        ValueError, match=r"^output\.shard_bytes: 1 bytes make 198,000 shards of tr"
    ):
        planned_with(tmp_path, 2000, **whole)
