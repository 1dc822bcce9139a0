"""What plan and configuration make of a run: numbers, files of jobs, settings, memory."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from workflow import ROOT

from corpusmill.mill.storage.files import save_json
from corpusmill.run.config import Config
from corpusmill.run.inputs import Inputs
from corpusmill.run.layout import Layout
from corpusmill.run.memory import Memory
from corpusmill.run.plan import InputFile, Part
from corpusmill.run.read_sizes import EXPECTED_LARGEST
from corpusmill.run.step_settings import StepSettings

CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))
SOURCES = [{"name": "web", "files": ["web"]}, {"name": "test", "files": ["test"], "held_out": True}]


def config_with(**sections) -> Config:
    config = CONFIG | {"sources": SOURCES}
    for name, section in sections.items():
        config[name] = config[name] | section if isinstance(section, dict) else section
    return Config.of(config)


def layout(parts: int = 3, text_bytes: int = 10**9, **sections) -> Layout:
    config = config_with(**sections)
    planned = [
        Part(n, [InputFile("web", f"web/{n}.jsonl.gz", text_bytes, 5, 7)]) for n in range(parts)
    ]
    held_out = [InputFile("test", "test/0", 1_000_000, 1, 2)]
    return Layout(config, Inputs(config, planned, held_out))


def memory(
    parts: int = 3, on_cluster: bool = False, spared=lambda rule, wildcards: 0, **sections
) -> Memory:
    # A folder without results; that of the tests may have those of the demo.
    found, none = layout(parts, **sections), ROOT / "tests"
    return Memory(config_with(**sections), found, none, lambda: on_cluster, spared)


def memory_of(paths: list[str], text_bytes: int, results: Path) -> Memory:
    """Of a run with a part for each file."""
    config = config_with()
    parts = [Part(n, [InputFile("web", path, text_bytes, 5, 7)]) for n, path in enumerate(paths)]
    return Memory(config, Layout(config, Inputs(config, parts, [])), results)


def job(**wildcards: str) -> SimpleNamespace:
    return SimpleNamespace(**wildcards)


@pytest.mark.parametrize(
    ("parts", "blocks", "bins"), [(1, 1, 1), (2, 2, 2), (15, 15, 8), (16, 8, 8), (500, 32, 250)]
)
def test_layout__blocks_and_bins_follow_from_the_parts(parts, blocks, bins):
    counts = layout(parts).counts
    assert (counts["part"], counts["block"], counts["bin"]) == (parts, blocks, bins)


def test_layout__every_file_of_a_part_is_in_one_block():
    found = layout(100)
    files_of = found.files_of_block("text/{part}")
    of_blocks = [files_of(job(block=f"{n:05d}")) for n in range(found.counts["block"])]
    assert [file for files in of_blocks for file in files] == found.every("text/{part}")
    block_of = found.of_block("{block}")
    for number, files in enumerate(of_blocks):
        assert found.first_of_block(job(block=f"{number:05d}")) == int(files[0][-5:])
        assert {block_of(job(part=file[-5:])) for file in files} == {f"{number:05d}"}


def test_layout__every_shard_stands_in_the_order_of_the_splits():
    found = layout(parts=1, output={"shard_bytes": 400_000_000})
    assert found.shards == {"train": 3, "validation": 1, "test": 1}
    names = [f"train/0000{n}" for n in range(3)] + ["validation/00000", "test/00000"]
    assert found.every("{split}/{shard}") == names


def test_layout__buckets_hold_so_many_keys_of_the_expected_documents():
    found = layout()
    assert found.buckets("bucket") == {"jobs": found.counts["bucket"], "entries": 1 << 24}
    keys = 3 * 10**9 // 2000 * (config_with().band_setting[0] + 1)
    assert (found.counts["bucket"] - 1) << 24 < keys <= found.counts["bucket"] << 24


def test_layout__joined_files_are_there_if_they_are_asked_for():
    assert layout().joined("{joined}.bin") == []
    assert layout(output={"join": True}).joined("{joined}.bin") == [
        "train.bin", "val.bin", "test.bin",
    ]  # fmt: skip
    of_split = layout().to_join("{split}/{shard}")(job(joined="val"))
    assert of_split == ["validation/00000"]


def test_layout__packed_rows_are_of_every_split_and_length():
    assert (layout().packs, layout().packed("{split}/{length}")) == (False, [])
    found = layout(output={"pack": [64, 8]})
    names = [f"{split}/{n}" for split in ("train", "validation", "test") for n in (64, 8)]
    assert (found.packs, found.packed("{split}/{length}")) == (True, names)
    assert dict(found.numbered("{split}/{length}")) == dict.fromkeys(names)
    assert found.to_pack("{split}/{shard}")(job(split="test")) == ["test/00000"]


def test_memory__of_packing_grows_with_the_split_and_with_shorter_rows():
    of = memory(300, output={"pack": [64]}).of_packing(base=400, bytes_per_piece=72)
    train, short, test = (
        of(job(split=split, length=length), attempt=1)
        for split, length in (("train", "2048"), ("train", "64"), ("test", "2048"))
    )
    assert short > train > test > 400


def test_layout__with_spans_later_steps_read_the_cut_text():
    assert layout().text == "results/text/{part}.arrow"
    assert layout().if_cut(["a"]) == []
    cutting = layout(spans={"unit": "line"})
    assert cutting.text == "results/cut/{part}.arrow"
    assert cutting.if_cut(["a"]) == ["a"]


def test_listing__is_a_small_file_of_each_job_or_one_barrier_of_many():
    few = layout(3, 1000, spans={"unit": "line"})
    assert few.stages["repeats"] == "results/repeats/{span_bucket}.json"
    assert all(few.listing(stage) == few.every(few.stages[stage]) for stage in few.stages)
    assert few.barriers == []
    many = layout(17, 1000)
    assert many.barriers == ["bands", "assign", "scatter"]
    assert many.listing("bands") == ["results/bands/complete.json"]
    assert many.listing("pairs") == many.every("results/pairs/{bucket}.json")
    cutting = layout(17, 1000, spans={"unit": "line"})
    assert cutting.barriers == ["spans", *many.barriers]


def test_of_cuts__are_the_files_of_spans_then_those_of_filters():
    assert layout(filters=[]).of_cuts("cut", "edited") == []
    both = layout(spans={"unit": "line"}, filters=[{"name": "c4"}])
    assert both.of_cuts("cut", "edited") == ["cut", "edited"]
    assert both.text == "results/edited/{part}.arrow"


def test_layout__span_width_is_of_sentences_alone():
    for unit, width in (("line", 1), ("sentence", 3)):
        config = config_with(spans={"unit": unit, "width": 3})
        assert StepSettings(config, layout().inputs).span["width"] == width


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("results/text/{part}.arrow", {"results/text/{}.arrow": 3}),
        ("results/manifest.json", {"results/manifest.json": None}),
        ("t/{split}/{shard}", {"t/train/{}": 12, "t/validation/{}": 1, "t/test/{}": 1}),
        ("t/{joined}.bin", {"t/train.bin": None, "t/val.bin": None, "t/test.bin": None}),
    ],
)
def test_numbered__are_a_rules_files_by_pattern(pattern, expected):
    assert dict(layout().numbered(pattern)) == expected


def test_numbered__has_a_barrier_of_every_stage_with_many_jobs():
    assert dict(layout(3, 1000).numbered("{stage}/complete.json")) == {}
    names = ["bands/complete.json", "assign/complete.json", "scatter/complete.json"]
    assert list(layout(17, 1000).numbered("{stage}/complete.json")) == [(n, None) for n in names]


def test_states__are_those_of_the_plan():
    inputs = layout().inputs
    (state,) = inputs.states_of_part(job(part="00001"))
    assert state == {
        "source": "web", "path": "web/1.jsonl.gz", "text_field": "text", "bytes": 5, "mtime_ns": 7,
    }  # fmt: skip
    assert inputs.files_of_part(job(part="00001")) == ["web/1.jsonl.gz"]
    assert inputs.held_out_files(job()) == ["test/0"]
    assert inputs.held_out_states(job())[0]["source"] == "test"


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (lambda found: found.of_part(100, per_text_megabyte=0.5), 100 + 0.5 * 1000),
        (lambda found: found.of_part(100, bytes_per_document=20), 100 + 20 * 0.5),
        (lambda found: found.of_part(100, per_largest_megabyte=40), 100 + 40 * 1.048576),
        (lambda found: found.of_largest_part(100, per_text_megabyte=2), 100 + 2 * 1000),
        (lambda found: found.of_shard(100, per_text_megabyte=2), 100 + 2 * 268.435456),
        (lambda found: found.of_files_of_part(100, 10), 100 + 10 * 67.108864),
        (lambda found: found.of_documents(100, 8), 100 + 3 * 2 * 8),
        (lambda found: found.of_bucket(100, 10), 100 + (1 << 24) * 10 / 1e6),
        (lambda found: found.of_held_out(100, 50), 100 + (0.01 * 3000 + 1) / 500 * 50),
    ],
)
def test_memory__follows_from_what_a_job_holds_and_grows_with_attempts(asked, expected):
    mem_mb = asked(memory())
    assert mem_mb(job(part="00000"), 1) == int(expected)
    assert mem_mb(job(part="00000"), 2) == int(expected * 1.5)


def test_memory__is_heard_of_when_it_is_asked_for():
    found, heard = memory(), []
    mem_mb = found.flat(500)
    found.hear_need = heard.append
    assert [mem_mb(job(), attempt) for attempt in (1, 2)] == heard == [500, 750]


def test_permutations__are_none_where_only_equal_texts_are_looked_for():
    config = config_with(dedup={"method": "exact"})
    found = StepSettings(config, layout().inputs)
    assert config.permutations == found.similarity["permutations"] == 0
    assert found.banding == {"method": "exact", "bands": 0, "rows": 1}


@pytest.mark.some(2)
@pytest.mark.parametrize(("parts", "megabytes"), [(3, 360.03), (40_000, 760)])
def test_memory__on_a_cluster_has_room_for_the_snakemakes_of_the_job(parts, megabytes):
    mem_mb = memory(parts, on_cluster=True).flat(500)
    assert mem_mb(job(), 1) == int(500 + megabytes)
    assert mem_mb(job(), 3) == int((500 + megabytes) * 1.5**2)
    assert memory(parts).flat(500)(job(), 1) == 500


def test_memory__follows_from_what_was_read_once_it_is(tmp_path):
    found = memory_of(["web/0.zst", "web/1.zst"], 1000, tmp_path)
    of_part = found.of_part(0, per_text_megabyte=1, per_largest_megabyte=10)
    of_shard = found.of_shard(0, per_text_megabyte=1, bytes_per_document=100)
    assert of_part(job(part="00001"), 1) == int(10 * EXPECTED_LARGEST / 1e6)
    for part, documents in enumerate((10, 10**7)):
        counts = {"documents": documents, "largest": 7 * 10**6, "files": [],
                  "by_source": {"web": {"text_bytes": 10**9}}}  # fmt: skip
        save_json(tmp_path / f"text/{part:05d}.json", counts)
    assert of_part(job(part="00001"), 1) == 1000 + 70
    assert of_shard(job(), 1) == 268  # not all parts are read, as far as one is told
    save_json(tmp_path / "admitted.json", {})
    assert of_shard(job(), 1) == int(2000 * 0.99) + 990
    (tmp_path / "text/00001.json").write_text("{}")
    assert of_part(job(part="00001"), 1) == int(10 * EXPECTED_LARGEST / 1e6)


@pytest.mark.parametrize(
    ("paths", "megabytes"),
    [(["a.jsonl"], 100), (["a.jsonl", "b.jsonl.gz"], 671), (["b.jsonl.zst"], 805)],
)
def test_memory__of_reading_has_room_for_the_longest_record_and_the_window(paths, megabytes):
    config = config_with()
    parts = [Part(0, [InputFile("web", path, 10**7, 5, 7) for path in paths])]
    found = Memory(config, Layout(config, Inputs(config, parts, [])), ROOT / "tests")
    assert found.of_files_of_part(0, 10)(job(part="00000"), 1) == megabytes


COUNTS_WORDS = '''
from corpusmill.mill.filters.declaration import Filter, Value, count, below


class Mine(Filter):
    """Documents of few words."""

    fate = "mine"{needs}
    settings = {{"least": count(5, "Fewest words.")}}
    values = {{"mine_words": Value("int64", "words")}}
    limits = (below("mine_words", "least"),)

    def {method}:
        return {{}}
'''
OF_DOCUMENTS, OF_TEXTS = "measure_documents(self, documents)", "measure(self, texts)"


@pytest.mark.parametrize(
    ("entry", "splits_words"),
    [
        ({"name": "dclm"}, True),
        ({"name": "redpajama_signals"}, True),
        ({"name": "lengths"}, True),
        ({"name": "metadata", "field": "a"}, False),
        ({"name": "language"}, False),
        ((OF_DOCUMENTS, ""), True),
        ((OF_DOCUMENTS, '\n    needs = ("words",)'), True),
        ((OF_DOCUMENTS, '\n    needs = ("records",)'), False),
        ((OF_TEXTS, '\n    needs = ("words",)'), True),
        ((OF_TEXTS, ""), False),
    ],
)
def test_memory__of_word_tables_is_reserved_for_filters_that_split_words(
    entry, splits_words, tmp_path
):
    if isinstance(entry, tuple):
        file = tmp_path / "mine.py"
        file.write_text(COUNTS_WORDS.format(method=entry[0], needs=entry[1]))
        entry = {"name": "mine", "file": str(file)}
    found = memory(filters=[entry])
    assert (found.measuring_megabytes >= 600) == splits_words
