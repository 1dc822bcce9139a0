"""The plan: every input file in one part, old parts as they were."""

import pytest

from corpusmill.plan import (
    EarlierPart,
    InputFile,
    Part,
    earlier_plan,
    list_inputs,
    plan_lines,
    plan_parts,
    shard_counts,
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


def source(name: str, *files: str) -> dict:
    return {"name": name, "files": list(files)}


def inputs(**sizes: int) -> list[InputFile]:
    return [InputFile("s", path, size) for path, size in sizes.items()]


def paths(parts: list[Part]) -> list[list[str]]:
    return [[file.path for file in part.files] for part in parts]


def earlier(parts) -> list[EarlierPart]:
    return [EarlierPart(part.generation, [file.path for file in part.files]) for part in parts]


def test_list_inputs__are_in_order_of_sources_then_paths(here):
    here("b/2.jsonl", "b/10.jsonl", "a/1.parquet", "b/sub/3.jsonl.gz", "b/notes.txt")
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


def test_list_inputs__refuse_a_name_with_a_brace(here):
    here("a{b}.jsonl")
    with pytest.raises(ValueError, match=r"a\{b\}\.jsonl has a brace"):
        list_inputs([source("s", "*.jsonl")], {})


def test_list_inputs__refuse_a_file_of_two_sources(here):
    here("a.jsonl")
    with pytest.raises(ValueError, match=r'a\.jsonl belongs to source "two" and to source "one"'):
        list_inputs([source("one", "a.*"), source("two", "*.jsonl")], {})


@pytest.mark.parametrize("name", ["a.txt", "a.json", "a.jsonl.bz2", "a.zst"])
def test_list_inputs__refuse_an_unknown_ending(here, name):
    here(name)
    with pytest.raises(ValueError, match=rf"{name}: expected a file name ending in \.jsonl"):
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


def test_plan_parts__a_large_file_is_a_part_of_its_own():
    assert paths(plan_parts(inputs(a=1, b=500, c=1), 100, [])) == [["a"], ["b"], ["c"]]


def test_plan_parts__keep_old_parts_when_files_are_added():
    before = earlier(plan_parts(inputs(b=60, d=60), 100, []))
    grown = plan_parts(inputs(a=10, b=60, c=10, d=60, e=10), 100, before)
    assert paths(grown) == [["b"], ["d"], ["a", "c", "e"]]
    assert [part.number for part in grown] == [0, 1, 2]
    assert [part.generation for part in grown] == [1, 1, 2]
    again = plan_parts(inputs(a=10, b=60, c=10, d=60, e=10, f=1), 100, earlier(grown))
    assert [part.generation for part in again] == [1, 1, 2, 3]


def test_plan_parts__are_the_same_when_planned_again():
    files = inputs(a=60, b=30, c=30)
    once = plan_parts(files, 100, [])
    assert plan_parts(files, 100, earlier(once)) == once


def test_plan_parts__refuse_a_vanished_file():
    with pytest.raises(ValueError, match=r"b is in the plan .* no longer an input \(1 such files"):
        plan_parts(inputs(a=1, c=1), 100, [EarlierPart(1, ["a", "b"])])


def test_plan_parts__plan_another_corpus_anew():
    parts = plan_parts(inputs(x=1, y=1), 100, [EarlierPart(1, ["a"]), EarlierPart(2, ["b"])])
    assert parts == [Part(0, list(inputs(x=1, y=1)), 1)]


def test_plan_parts__of_nothing_are_none():
    assert plan_parts([], 100, []) == []


def test_plan_lines__are_read_back_by_earlier_plan(tmp_path):
    parts = plan_parts(inputs(a=60, **{"ü 水": 60}, c=1), 100, [])
    (tmp_path / "parts.jsonl").write_text("\n".join(plan_lines(parts, 100)) + "\n", "utf-8")
    assert paths(parts) == [["a"], ["ü 水", "c"]]
    assert earlier_plan(tmp_path / "parts.jsonl", 100) == earlier(parts)


def test_earlier_plan__of_before_there_were_generations_is_the_first(tmp_path):
    line = '{"part": 0, "files": [{"source": "s", "path": "a", "text_bytes": 1}]}'
    (tmp_path / "parts.jsonl").write_text(f'{{"part_bytes": 100}}\n{line}\n', "utf-8")
    assert earlier_plan(tmp_path / "parts.jsonl", 100) == [EarlierPart(1, ["a"])]


def test_earlier_plan__is_none_without_file_or_for_other_part_bytes(tmp_path):
    path = tmp_path / "parts.jsonl"
    assert earlier_plan(path, 100) == []
    path.write_text("\n".join(plan_lines(plan_parts(inputs(a=1), 100, []), 100)), "utf-8")
    assert earlier_plan(path, 101) == []


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
    assert shard_counts(parts, {"s": weight}, FRACTIONS, shard_bytes) == expected
