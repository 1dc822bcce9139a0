"""Repeated spans: split as the slow twin splits, and only the first of each stays."""

import hashlib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import naive
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import examples
from handmade import text_writer
from hypothesis import example, given
from hypothesis import strategies as st
from workflow import document, jobs, mill, snakemake, summary, write_jsonl

from corpusmill.mill.decide.decided import load_marks
from corpusmill.mill.decide.holdout import DTYPE, EVALUATION
from corpusmill.mill.decide.splits_and_copies import Sampling
from corpusmill.mill.dedup.order import Ranked
from corpusmill.mill.read.parts import TextPart
from corpusmill.mill.read.spans import (
    Spans,
    SpanSetting,
    compared,
    count_spans,
    repeats_of_slice,
    spans_of,
    units_of,
)
from corpusmill.mill.read.text_column import TextColumn
from corpusmill.mill.storage.arrays import load_array, save_array
from corpusmill.mill.storage.buckets import Buckets, Slice, bounded_slices
from corpusmill.mill.storage.files import load_json
from corpusmill.mill.storage.sha256 import file_sha256
from corpusmill.mill.storage.tables import save_table

WIDTHS = {"line": 1, "paragraph": 1, "sentence": 3}
UNITS = sorted(WIDTHS)
ALL_SOURCES = {"odd": True, "even": True}
ALL_KEYS = Slice(0, 0, 1 << 64)

# What splitting looks at, and characters whose UTF-8 begins as a mark's does.
TRICKY = "aBΣİ1 \t\n\r\f.!?。！？\"')]}»’”」』），、あ«水–😀\u00a0\u3000"
tricky = st.text(st.sampled_from(TRICKY), max_size=30)
phrases = st.lists(
    st.sampled_from(
        ["a b", "A  B", "c", "d。", "e.", "f! ", ".", "\n", "\n\n", "\n \n", " ", "g?"]
    ),
    max_size=14,
).map("".join)


def column(texts: list[str]) -> TextColumn:
    return TextColumn.of(pa.array(texts, pa.large_string()))


def split(texts: list[str], unit: str) -> list[list[tuple[str, str]]]:
    """Each text's units with the separators after them."""
    data = "".join(texts).encode()
    first, starts, ends = units_of(column(texts), unit)
    after = [*starts.tolist(), len(data)][1:]
    pairs = [
        (data[a:b].decode(), data[b:c].decode())
        for a, b, c in zip(starts.tolist(), ends.tolist(), after, strict=True)
    ]
    return [pairs[a:b] for a, b in zip(first[:-1].tolist(), first[1:].tolist(), strict=True)]


@pytest.mark.some(2)
@pytest.mark.parametrize("unit", UNITS)
@examples(400)
@given(texts=st.lists(st.one_of(tricky, phrases), max_size=4))
@example(texts=["a。」", "a。」b", '"A."\n B', "...\n\n \n b", "\n\na", "", "a.\u00a0b", "e.g. a"])
def test_units_of__equal_naive(unit, texts):
    got = split(texts, unit)
    assert got == [naive.units(text, unit) for text in texts]
    assert ["".join(a + b for a, b in pairs) for pairs in got] == texts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ('He said "No." Then 3.14 came.', ['He said "No."', "Then 3.14 came."]),
        ("今日は。「はい！」と言う。", ["今日は。", "「はい！」", "と言う。"]),
        ("Wrapped\nlines. Next", ["Wrapped\nlines.", "Next"]),
        ("Wait... what?! (Yes.) ok", ["Wait...", "what?!", "(Yes.)", "ok"]),
    ],
)
def test_units_of__sentences_are_what_a_reader_takes_for_them(text, expected):
    assert [unit for unit, _ in split([text], "sentence")[0]] == expected


@pytest.mark.parametrize("text", ["." * 200_000, "\n" * 200_000, '."' * 100_000, " " * 200_000])
@pytest.mark.parametrize("unit", UNITS)
def test_units_of__take_time_that_grows_with_the_text(unit, text):
    assert "".join(a + b for a, b in split([text], unit)[0]) == text


@pytest.mark.parametrize("unit", UNITS)
@given(texts=st.lists(st.one_of(tricky, phrases), max_size=4), min_chars=st.integers(1, 6))
def test_spans_of__equal_naive(unit, texts, min_chars):
    width = WIDTHS[unit]
    texts_column = column(texts)
    taken = np.arange(len(texts)) != 1
    keys, places = spans_of(texts_column, units_of(texts_column, unit), width, min_chars, taken)
    expected = [
        (key, row << 32 | head)
        for row, text in enumerate(texts)
        if row != 1
        for key, head in naive.spans(text, unit, width, min_chars)
    ]
    assert list(zip(keys.tolist(), places.tolist(), strict=True)) == expected


def test_compared__sees_neither_case_nor_white_space():
    assert compared("  All RIGHTS\u3000\n reserved\t") == "all rights reserved"


# The steps, one after the other on parts that are cut from the corpus anyhow.


def write_part(folder: Path, part: int, texts: list[str]) -> Path:
    path = folder / f"text/{part:05d}.arrow"
    path.parent.mkdir(exist_ok=True)
    files = [{"source": "odd", "path": "a"}, {"source": "even", "path": "b"}]
    with text_writer(path, files) as writer:
        for row, text in enumerate(texts):
            writer.add(text.encode(), b'"n":%d' % row, row % 2, row + 1)
    return path


def cut_parts(
    step, folder: Path, parts: list[list[str]], unit, min_chars=1, buckets=1, entries=99,
    takes_part=ALL_SOURCES,
):  # fmt: skip
    """Run span, repeat and cut; the folder then has cut/{part}.*"""
    texts = [write_part(folder, part, of_part) for part, of_part in enumerate(parts)]
    setting = SpanSetting(unit, WIDTHS[unit], min_chars)
    found = [folder / f"spans/{part:05d}.json" for part in range(len(parts))]
    for text, count in zip(texts, found, strict=True):
        spans = count.with_suffix(".npy")
        step("span").span(text, setting, takes_part, spans, count)
    repeated = [folder / f"repeats/{bucket:05d}.json" for bucket in range(buckets)]
    for bucket, count in enumerate(repeated):
        repeats = count.with_suffix(".npy")
        step("repeat").repeat(found, bucket, Buckets(buckets, entries), repeats, count)
    for part, text in enumerate(texts):
        outputs = [folder / f"cut/{part:05d}.{end}" for end in ("arrow", "parquet", "npy", "json")]
        step("cut").cut(text, repeated, part, setting, *outputs)


def texts_of(folder: Path, parts: int) -> list[str]:
    found = []
    for part in range(parts):
        for batch in TextPart(folder / f"cut/{part:05d}.arrow", ["text"]).batches():
            found += batch.column("text").to_pylist()
    return found


def record_of(folder: Path, sizes: list[int]) -> list[tuple]:
    """What was cut, documents numbered through."""
    number = {}
    for part, size in enumerate(sizes):
        number |= {part << 32 | row: len(number) + row for row in range(size)}
    rows = [row for part in range(len(sizes))
            for row in pq.read_table(folder / f"cut/{part:05d}.parquet").to_pylist()]  # fmt: skip
    return [(number[r["id"]], r["start"], r["end"], r["key"], number[r["first"]]) for r in rows]


@pytest.mark.parametrize("unit", UNITS)
@examples(60)
@given(
    parts=st.lists(st.lists(st.one_of(tricky, phrases), max_size=4), min_size=1, max_size=3),
    min_chars=st.integers(1, 4),
    buckets=st.sampled_from([1, 3]),
    entries=st.sampled_from([1, 99]),
)
def test_cut__equals_naive_for_any_parts_and_buckets(
    step, unit, parts, min_chars, buckets, entries
):
    with TemporaryDirectory() as name:
        folder = Path(name)
        cut_parts(step, folder, parts, unit, min_chars, buckets, entries)
        texts = [text for part in parts for text in part]
        rest, record = naive.without_repeats(texts, unit, WIDTHS[unit], min_chars)
        assert texts_of(folder, len(parts)) == rest
        assert record_of(folder, [len(part) for part in parts]) == record
        counts = [load_json(folder / f"cut/{part:05d}.json") for part in range(len(parts))]
    assert sum(count["spans"] for count in counts) == len(record)
    lost = sum(len(a.encode()) - len(b.encode()) for a, b in zip(texts, rest, strict=True))
    assert sum(count["bytes"] for count in counts) == lost
    by_source = [source for count in counts for source in count["by_source"].values()]
    assert sum(source["spans"] for source in by_source) == len(record)
    assert sum(source["bytes"] for source in by_source) == lost


@pytest.mark.parametrize("unit", UNITS)
def test_cut__keeps_rows_fields_schema_and_batches(step, tmp_path, unit, monkeypatch):
    monkeypatch.setattr("corpusmill.mill.read.parts.MAX_BATCH_ROWS", 3)
    texts = ["One. Two. Three. Four.", "", "one. two. three.", "x", "One. Two. Three.\n", "y\n"]
    cut_parts(step, tmp_path, [texts], unit)
    before, after = (pa.ipc.open_file(tmp_path / f"{d}/00000.arrow") for d in ("text", "cut"))
    assert after.schema.equals(before.schema, check_metadata=True)
    assert after.num_record_batches == before.num_record_batches == 2
    for name in ("rest", "file", "line"):
        assert after.read_all().column(name).equals(before.read_all().column(name))
    if unit != "line":
        assert texts_of(tmp_path, 1)[4] == ""


@pytest.mark.parametrize("unit", UNITS)
def test_cut__gives_the_same_bytes_for_other_buckets(step, tmp_path, unit):
    parts = [[f"{document(n % 3)}.\n\nKept once. Or so. Really so. {n}" for n in range(9)]] * 2
    for name, buckets, entries in (("a", 1, 10**6), ("b", 5, 3)):
        (tmp_path / name).mkdir()
        cut_parts(step, tmp_path / name, parts, unit, 5, buckets, entries)
    files = sorted(path.name for path in (tmp_path / "a/cut").iterdir())
    assert len(files) == 2 * 8  # with their sums
    for file in files:
        assert file_sha256(tmp_path / "a/cut" / file) == file_sha256(tmp_path / "b/cut" / file)


def test_cut__leaves_a_source_whole_that_takes_no_part(step, tmp_path):
    texts = ["of even", "of odd\nof even", "of even\nof odd", "of odd\nof even\nlast"]
    takes_part = {"even": True, "odd": False}  # rows 1 and 3 are even
    cut_parts(step, tmp_path, [texts], "line", takes_part=takes_part)
    assert texts_of(tmp_path, 1) == [*texts[:3], "last"]
    assert load_json(tmp_path / "cut/00000.json")["by_source"]["odd"] == {"spans": 0, "bytes": 0}


@pytest.mark.parametrize("most", [1, 7, 1000])
def test_bounded_slices__give_the_same_repeats_in_bounded_pieces(tmp_path, most):
    keys = np.random.default_rng(1).integers(0, 2**64, 12, np.uint64)[[*range(12)] * 5]
    save_array(tmp_path / "0.npy", np.stack([np.sort(keys), np.arange(60, dtype=np.uint64) << 32]))
    parts = [Spans.open(part, tmp_path / "0.npy") for part in (0, 1)]
    pieces = list(bounded_slices(ALL_KEYS, most, partial(count_spans, parts)))
    got = np.concatenate([repeats_of_slice(parts, piece) for piece in pieces], axis=1)
    assert got.tolist() == repeats_of_slice(parts, ALL_KEYS).tolist()
    assert got.shape == (4, 2 * 60 - 12)
    assert (len(pieces) > 1) == (most < 1000)


@pytest.mark.parametrize("by_filters", [False, True])
def test_decontaminate__finds_a_held_out_text_that_lost_a_line(step, tmp_path, by_filters):
    texts = ["a line of the site", "the question\na line of the site", "another text"]
    cut_parts(step, tmp_path, [texts], "line")
    assert texts_of(tmp_path, 1)[1] == "the question"
    whole = load_array(tmp_path / "cut/00000.npy")
    assert whole["row"].tolist() == [1]
    held_out = np.zeros(1, DTYPE)
    held_out["digest"], held_out["origin"] = whole["digest"][0], EVALUATION
    save_array(tmp_path / "held_out.npy", held_out)
    save_array(tmp_path / "digests.npy", np.zeros((3, 32), np.uint8))
    before = [tmp_path / "cut/00000.npy"]
    step("decontaminate").decontaminate(
        [tmp_path / "digests.npy"],
        *(([], before) if by_filters else (before, [])),
        tmp_path / "held_out.npy", 7, tmp_path / "marks.arrow",
    )  # fmt: skip
    assert load_marks(tmp_path / "marks.arrow", 7).tolist() == [0, EVALUATION, 0]


def test_assign__holds_a_text_out_as_it_was_before_it_lost_a_line(step, tmp_path):
    texts = ["a line of the site", "the question\na line of the site", "another text"]
    cut_parts(step, tmp_path, [texts], "line")
    digest = {text: hashlib.sha256(text.encode()).digest() for text in [*texts, "the question"]}
    now = [digest[text] for text in (texts[0], "the question", texts[2])]
    save_array(tmp_path / "digests.npy", np.frombuffer(b"".join(now), np.uint8).reshape(3, 32))
    sources = pa.DictionaryArray.from_arrays(pa.array([0, 0, 0], pa.int32()), pa.array(["s"]))
    fate = pa.array(["kept"] * 3).dictionary_encode()
    save_table(tmp_path / "filter.arrow", fate=fate)
    save_table(tmp_path / "measures.arrow", source=sources)
    paths = [tmp_path / name for name in ("assigned.arrow", "held_out.npy", "clusters", "counts")]
    step("assign").assign(
        Ranked(tmp_path / "filter.arrow", tmp_path / "measures.arrow"), tmp_path / "digests.npy",
        [tmp_path / "cut/00000.npy"],
        [], 0, Sampling({"s": 1}, {"validation": 1, "test": 0}, 42, False),
        SimpleNamespace(min_sources=1, policies={"s": "near"}),
        SimpleNamespace(**{path.stem: path for path in paths}),
    )  # fmt: skip
    found = {entry["digest"].tobytes() for entry in load_array(tmp_path / "held_out.npy")}
    assert found == {*now, digest[texts[1]]}


# The whole workflow.

BOILERPLATE = (
    "This site counts its readers with cookies. Accept them by reading on. Or leave by the door."
)
SPAN_RULES = {"span", "repeat", "cut"}


def site_corpus(folder: Path, unit: str) -> dict:
    """Two sources of 41 documents with the same three sentences in each; returns the config."""
    for k, source in enumerate(("one", "two")):
        texts = [
            f"{document(1000 * k + n)}.\n\n{BOILERPLATE}\n\n{document(1000 * k + n + 500, 20)}."
            for n in range(40)
        ]
        records = [{"text": text, "n": n} for n, text in enumerate([*texts, BOILERPLATE.upper()])]
        for half in range(2):
            write_jsonl(folder / f"raw/{source}/{half}.jsonl", records[half::2])
    return {
        "sources": [{"name": name, "files": [f"raw/{name}/*.jsonl"]} for name in ("one", "two")],
        "input": {"part_bytes": 70_000},
        "spans": {"unit": unit},
        "splits": {"validation": 0.05, "test": 0.05},
        "output": {"shard_bytes": 10_000_000, "format": "parquet"},
        "tokenizer": {"train_vocabulary": 300},
    }


def milled_corpus(folder: Path, config: dict, *arguments: str) -> Path:
    folder.mkdir(exist_ok=True)
    mill(folder, config, *arguments)
    return folder


@pytest.fixture(scope="module")
def milled(tmp_path_factory) -> Mapping[str, Path]:
    """A finished run of each unit, and of none, when it is asked for."""

    class Runs(dict):
        def __missing__(self, unit):
            folder = tmp_path_factory.mktemp(unit)
            self[unit] = milled_corpus(folder, site_corpus(folder, unit))
            return self[unit]

    return Runs()


def parts_of(folder: Path, step: str) -> dict[tuple[str, int], str]:
    """(file, line) -> text of all text parts of a step, in order of the ids."""
    found = {}
    for path in sorted((folder / f"results/{step}").glob("*.arrow")):
        part = TextPart(path, ["text", "file", "line"])
        for batch in part.batches():
            for row in batch.to_pylist():
                found[part.files[row["file"]]["path"], row["line"]] = row["text"]
    return found


@pytest.mark.parametrize("unit", UNITS)
def test_run__cuts_what_naive_cuts_over_the_whole_corpus(milled, unit):
    before, after = parts_of(milled[unit], "text"), parts_of(milled[unit], "cut")
    expected, record = naive.without_repeats([*before.values()], unit, WIDTHS[unit], 50)
    assert after == dict(zip(before, expected, strict=True))
    assert len(list(milled[unit].glob("results/cut/*.arrow"))) > 1
    assert summary(milled[unit])["spans"]["cut"] == len(record)


@pytest.mark.parametrize("unit", UNITS)
def test_run__keeps_boilerplate_once_and_balances(milled, unit):
    files = sorted(milled[unit].glob("results/corpus/*/*.parquet"))
    texts = [text for file in files for text in pq.read_table(file).column("text").to_pylist()]
    assert len(texts) == 80
    assert sum(BOILERPLATE in text for text in texts) == 1
    figures = summary(milled[unit])
    assert figures["documents"]["dropped"]["empty"] == 2
    spans, size = figures["spans"], figures["bytes"]
    assert (spans["unit"], spans["cut"]) == (unit, 81)
    assert size["cut"] == spans["cut_bytes"] > 81 * len(BOILERPLATE)
    assert size["in"] == size["kept"] + sum(size["dropped"].values()) + size["cut"]
    assert size["cut"] == sum(s["bytes"]["cut"] for s in figures["sources"].values())


def test_run__of_none_has_no_rule_and_no_figure_of_it(milled):
    assert not list(milled["none"].glob("logs/*span*")) + list(milled["none"].glob("results/cut"))
    figures = summary(milled["none"])
    assert not SPAN_RULES & set(figures["rules"])
    assert "spans" not in figures
    assert "cut" not in figures["bytes"]
    assert set(summary(milled["line"])["rules"]) >= SPAN_RULES


@pytest.mark.parametrize("unit", UNITS)
def test_run__second_has_nothing_to_do_and_width_counts_for_sentences_alone(milled, unit):
    asked = ("--configfile", "mine.yaml", "-n", "--quiet", "rules")
    assert jobs(snakemake(milled[unit], *asked)) == {}
    (milled[unit] / "width.yaml").write_text("spans: {width: 2}")
    done = snakemake(milled[unit], "--configfile", "mine.yaml", "width.yaml", *asked[2:])
    assert ("span" in jobs(done)) == (unit == "sentence")
