"""`corpusmill why`: every way of asking, against all results read whole."""

import errno
import itertools
import json
import re
import shutil
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import naive_results as naive
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from effort import some
from every_fate import changed, long
from hypothesis import given
from hypothesis import strategies as st
from workflow import document, mill, write_jsonl

from corpusmill.cli.main import main
from corpusmill.mill.account.ledger_columns import ROW_GROUP, ledger_schema, save_ledger
from corpusmill.mill.account.ledger_rows import Cut, cut_columns
from corpusmill.mill.account.part_account import cut_faults
from corpusmill.mill.decide.fates import DUPLICATE, FEW_SOURCES, LEFT_OVER
from corpusmill.mill.read.parts import TextPart
from corpusmill.mill.storage.files import save_json
from corpusmill.mill.storage.tables import save_parquet
from corpusmill.run.config import Source
from corpusmill.run.plan import Part
from corpusmill.tools.why.comparison import (
    Words,
    cells,
    first_difference,
    passages,
    shared_words,
    side_by_side,
    wrapped,
)
from corpusmill.tools.why.facts import Facts
from corpusmill.tools.why.ledger import Ledger
from corpusmill.tools.why.parquet_rows import has_one_of
from corpusmill.tools.why.results import Results
from corpusmill.tools.why.samples import even_places
from corpusmill.tools.why.story import DECIDED


@pytest.fixture(scope="module")
def folder(every_fate):
    return every_fate


@pytest.fixture(scope="module")
def whole(folder):
    return naive.WholeResults(folder / "results")


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def copied(folder, tmp_path, monkeypatch):
    """The run in a folder of its own, to be spoilt."""
    shutil.copytree(folder, tmp_path / "run")
    monkeypatch.chdir(tmp_path / "run")
    return tmp_path / "run"


def called(*arguments: str):
    return CliRunner().invoke(main, ["why", *map(str, arguments)], catch_exceptions=False)


def answer(*arguments: str) -> dict:
    done = called(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def said(*arguments: str) -> str:
    """The answer as one line, wherever it was broken."""
    done = called(*arguments)
    assert done.exit_code == 0, done.output
    return " ".join(done.stdout.split())


def fault(*arguments: str) -> str:
    done = called(*arguments)
    assert done.exit_code == 1, done.output
    (line,) = done.stderr.splitlines()
    return line.removeprefix("Error: ")


def test_corpus__has_every_fate(whole):
    fates = Counter(row["fate"] for row in whole.rows)
    # A further fate needs a document here only if it has a story of its own.
    # Only a run with a mixture has the fate LEFT_OVER, and only one with dedup.min_sources
    # FEW_SOURCES; tests/test_mixture_workflow.py and tests/test_policies_workflow.py have them.
    assert set(fates) >= {"malformed", "empty", "too_short", *DECIDED} - {LEFT_OVER, FEW_SOURCES}
    assert {row.get("held_out_by") for row in whole.rows} >= {"evaluation", "validation"}
    assert {row["stage"] for row in whole.rows if "stage" in row} >= {"identical", "shingles"}
    assert {row["split"] for row in whole.rows if "split" in row} == {"train", "validation", "test"}
    assert max(row.get("copies", 0) for row in whole.rows) == 2
    assert {piece.get("filter") for pieces in whole.pieces.values() for piece in pieces} == {
        None, "c4",
    }  # fmt: skip
    assert len(whole.parts) > 1
    assert max(place["shard"] for place in whole.placements) > 1


def test_ledger__has_cuts_and_digests_as_the_texts_have_them(whole):
    for row in whole.documents:
        before, after = whole.text("text", row["id"]), whole.text("edited", row["id"])
        pieces = len(whole.pieces.get(row["id"], []))
        assert row["digest"] == naive.digest_number(after)
        assert row.get("cuts", 0) == pieces
        assert row.get("cut_bytes", 0) == len(before.encode()) - len(after.encode())
        expected = naive.digest_number(before) if pieces else None
        assert row.get("whole_digest") == expected


# Ways of asking.


def test_by_id__is_what_all_files_say(here, whole):
    for row in some(whole.documents):
        got = answer(str(row["id"]))
        assert got["record"] == row
        assert got["copies"] == whole.copies(row["id"])
        assert got["measured"] == whole.measured(row["id"])
        dropped = [one["id"] for one in whole.rows if one.get("winner") == row["id"]]
        assert got["dropped_for_it"] == {"documents": len(dropped), "ids": dropped}
        assert got.get("winner") == whole.by_id.get(row.get("winner"))
        assert got["text"]["begins"] == whole.text("edited", row["id"])[:200]
        pieces = [(one["start"], one["end"]) for one in whole.pieces.get(row["id"], [])]
        assert [(one["start"], one["end"]) for one in got["pieces"]] == pieces


def test_by_place__is_the_record_of_the_line(here, whole):
    for row in some(whole.rows):
        assert answer(f"{row['file']}:{row['line']}")["record"] == row


@pytest.mark.parametrize("path", ["0.parquet", "books/0.parquet", "./raw/books/0.parquet"])
def test_by_place__takes_a_file_by_other_names(here, path):
    assert answer(f"{path}:3")["record"]["file"] == "raw/books/0.parquet"


def test_by_place__takes_a_whole_path(here, monkeypatch):
    monkeypatch.chdir("/")
    got = answer(f"{here}/raw/web/0.jsonl:3", "--results", f"{here}/results")
    assert (got["record"]["file"], got["record"]["line"]) == ("raw/web/0.jsonl", 3)


def test_by_shard_line__is_the_document_that_stands_there(here, whole):
    for place, prefix in zip(
        some(whole.placements), itertools.cycle(["", "results/"]), strict=False
    ):
        shard = f"{place['split']}/{place['shard']:05d}"
        got = answer(f"{prefix}corpus/{shard}.jsonl.zst:{place['row'] + 1}")
        assert got["record"]["id"] == place["id"]


def test_why__says_that_it_works(here, monkeypatch):
    monkeypatch.setattr("corpusmill.messages.progress.SAY_EVERY_SECONDS", 0.01)
    done = called("tokens/train/00000.bin:5")
    assert re.search(r"^(working|waiting for the tokenizer) .*\(0 s\)$", done.stderr, re.M)


def test_by_token__is_its_document_and_its_text(here, whole):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(here / "results/tokenizer")
    for place in some(whole.placements[::7]):
        shard = f"{place['split']}/{place['shard']:05d}"
        ids = np.fromfile(f"results/tokens/{shard}.bin", "<u2").tolist()
        first, last = place["token_start"], place["token_end"] - 1
        for at in (first, (first + last) // 2, last):
            got = answer(f"tokens/{shard}.bin:{at}")
            assert got["record"]["id"] == place["id"]
            expected = [ids[max(at - 20, first) : at], [ids[at]], ids[at + 1 : last + 1][:20]]
            texts = [got["token"][name] for name in ("before", "text", "after")]
            assert got["token"]["id"] == ids[at]
            plain = [tokenizer.decode(some).replace("\n", "\\n") for some in expected]
            assert texts == plain


@pytest.mark.parametrize(
    ("name", "split"), [("train", "train"), ("val", "validation"), ("test", "test")]
)
def test_by_token_of_a_joined_file__counts_through_all_shards(here, whole, name, split):
    mine = [one for one in whole.placements if one["split"] == split]
    before = 0
    for shard in sorted({one["shard"] for one in mine}):
        of_shard = [one for one in mine if one["shard"] == shard]
        for place in some(of_shard):
            got = answer(f"tokens/{name}.bin:{before + place['token_start']}")
            assert (got["record"]["id"], got["token"]["shard"]) == (place["id"], shard)
        before += of_shard[-1]["token_end"]


@pytest.mark.parametrize("of", ["text", "edited"])
def test_by_text__finds_all_that_have_it_as_it_is_or_was(here, whole, of):
    texts = {whole.text(of, row["id"]) for row in whole.documents}
    for text in some(sorted(texts - {""})):
        got = answer("--text", text)
        expected = [
            row["id"]
            for row in whole.documents
            if text in (whole.text("text", row["id"]), whole.text("edited", row["id"]))
        ]
        assert (got["documents"], got["ids"]) == (len(expected), expected)


def test_by_text__is_normalized_first(here, tmp_path):
    decomposed = "U\u0308ber " * 40
    (tmp_path / "asked.txt").write_text(f"{decomposed}\n")
    assert answer("--text", decomposed)["documents"] == 1
    assert answer("--text-file", tmp_path / "asked.txt")["documents"] == 1


@pytest.mark.parametrize(("number", "block_rows"), [(3, 1 << 14), (31, 1 << 14), (305, 5)])
def test_by_text__else_most_like_by_the_share_of_equal_sketch_values(
    here, whole, number, block_rows, monkeypatch
):
    monkeypatch.setattr("corpusmill.tools.why.nearest.BLOCK_ROWS", block_rows)
    text = changed(long(number), 30)
    got = answer("--text", text)
    assert got["documents"] == 0
    expected = naive.most_similar(text, whole.sketches(), 5)
    assert [(one["record"]["id"], one["estimate"]) for one in got["similar"]] == expected
    assert "[otherwise]" in said("--text", text)


@pytest.mark.parametrize(
    ("fates", "sources", "count"),
    [
        ([], [], 7),
        (["duplicate"], [], 4),
        (["duplicate"], ["web"], 3),
        (["kept", "empty"], ["web", "few"], 11),
        (["malformed"], [], 20),
        (["empty"], ["books"], 20),
    ],
)
def test_sample__is_every_so_many_th(here, whole, fates, sources, count):
    options = [f"--fate={fate}" for fate in fates] + [f"--source={source}" for source in sources]
    if not options:
        options = ["--dropped"]
    meant = [
        row
        for row in whole.rows
        if (row["fate"] in fates if fates else row["fate"] != "kept")
        and (row["source"] in sources if sources else True)
    ]
    lines = called(*options, f"--sample={count}", "--json").stdout.splitlines()
    expected = [meant[place] for place in naive.even_places(len(meant), count)]
    assert [json.loads(line) for line in lines] == expected
    table = called(*options, f"--sample={count}").stdout
    assert f"{len(expected)} of {len(meant)} record" in table


@given(st.integers(0, 300), st.integers(1, 40))
def test_even_places__are_even(total, count):
    got = even_places(total, count)
    assert got == naive.even_places(total, count)
    gaps = np.diff(got)
    assert not len(gaps) or gaps.max() - gaps.min() <= 1


# What is said.


def one_of(whole, **wanted) -> dict:
    return next(
        row for row in whole.rows if all(row.get(key) == value for key, value in wanted.items())
    )


def test_story__of_a_near_duplicate(here, whole):
    row = one_of(whole, stage="shingles")
    told = said(row["id"])
    winner = whole.by_id[row["winner"]]
    assert told.startswith(f"Document {row['id']} was dropped as a duplicate of document")
    assert (
        f"The 13-character shingles of this document and of document {winner['id']} have a Jaccard "
        f"similarity of {row['similarity']:.4f}; dedup.threshold is 0.8."
    ) in told
    assert f"(line {winner['line']} of {winner['file']}, source web) ranks higher" in told
    assert "[otherwise]" in told
    assert "The texts have 280 and 280 words;" in told


def test_story__of_an_equal_text_that_another_source_has(here, whole):
    row = one_of(whole, stage="identical", source="web")
    told = said(row["id"])
    assert "This document and document " in told
    assert "ranks higher: its source books has priority 1, web has none." in told
    assert "Both texts are the same, byte for byte" in told


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"fate": "too_short"}, "Dropped by the filter too_short: chars 5 below min_chars 100."),
        ({"fate": "not_sampled"}, "The source few has weight 0.5, and this document is not in "
         "the kept share (drawn with shuffle.seed 42)."),
        ({"held_out_by": "evaluation"}, "Its text equals one of the sources that are held out "
         "(evaluation)."),
        ({"fate": "malformed"}, "is not a document: the record is malformed. normalize Put aside: "
         "not JSON"),
        ({"fate": "kept", "split": "test"}, "Drawn for test (splits.test 0.15); 1 copy,"),
        ({"fate": "kept", "copies": 2}, "was kept: it is in train twice."),
    ],
)  # fmt: skip
def test_story__of_each_fate(here, whole, wanted, expected):
    row = one_of(whole, **wanted)
    told = said(f"{row['file']}:{row['line']}")
    assert expected in told
    assert f"line {row['line']} of {row['file']}" in told.lower()


def test_story__names_the_held_out_twin(here, whole):
    row = one_of(whole, held_out_by="validation")
    digests = {row["digest"], row.get("whole_digest")} - {None}
    (other,) = [
        one
        for one in whole.documents
        if one.get("split") == "validation" and digests & {one["digest"], one.get("whole_digest")}
    ]
    expected = f"equals that of document {other['id']} (line {other['line']} of {other['file']})"
    assert expected in said(row["id"])


def test_story__shows_what_was_cut(here, whole):
    for row in whole.documents:
        pieces = whole.pieces.get(row["id"], [])
        told = said(row["id"])
        assert (" bytes were cut in total, " in told) == bool(pieces)
        spans = [one for one in pieces if "filter" not in one]
        assert (f"{len(spans)} repeated span" in told) == bool(spans)
        assert ("cut from the text: 1 by c4" in told) == (len(pieces) > len(spans))
    assert "cut, c4.policy, bytes 0 to 73: We use cookies" in said(first_with(whole, "filter"))
    assert "cut, repeated span, bytes 0 to 75: Home, News" in said(first_with(whole, "key"))


def first_with(whole, member: str) -> str:
    """The first document of which a line like that was cut at its beginning."""
    return next(
        str(id)
        for id, pieces in whole.pieces.items()
        if any(member in one and one["start"] == 0 and one["end"] < 80 for one in pieces)
    )


def test_story__names_all_copies(here, whole):
    row = one_of(whole, fate="kept", copies=2)
    told = said(row["id"])
    for number, place in enumerate(whole.copies(row["id"]), 1):
        shard = f"{place['split']}/{place['shard']:05d}"
        line = f"results/corpus/{shard}.jsonl.zst"
        assert f"Copy {number} of 2 is line {place['row'] + 1} of {line}." in told
        tokens = f"{place['token_start']:,} to {place['token_end'] - 1:,}"
        assert f"Its tokens are {tokens} of results/tokens/{shard}.bin" in told


def test_lines__fit_the_terminal(here, whole, monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    ids = [one_of(whole, stage="shingles")["id"], one_of(whole, copies=2)["id"]]
    lines = called(*ids).stdout.splitlines()
    assert len(lines) > 20
    assert max(map(cells, lines)) <= 70


# Texts that have to be read back.


@pytest.mark.parametrize("source", ["web", "books"])
def test_text__is_read_from_the_input_when_the_parts_are_gone(copied, whole, source):
    for name in ("text", "cut", "edited"):
        for path in Path(f"results/{name}").glob("*.arrow"):
            path.unlink()
    row = one_of(whole, fate="kept", source=source)
    got = answer(str(row["id"]))["text"]
    assert got["from"] == f"{row['file']}:{row['line']}"
    assert got["begins"] == whole.text("text", row["id"])[:200]


def test_text__of_an_input_that_has_changed_is_not_shown(copied, whole):
    row = one_of(whole, fate="kept", source="few")
    shutil.rmtree("results/text")
    shutil.rmtree("results/cut")
    shutil.rmtree("results/edited")
    write_jsonl(Path(row["file"]), [{"text": document(999)}] * 40)
    expected = f"results/text has been removed, and {row['file']} has changed since the run read it"
    assert f"The text of this document cannot be shown: {expected}." in said(row["id"])
    Path(row["file"]).unlink()
    assert f"{row['file']} is missing." in said(row["id"])


def test_why__of_a_copy_without_sums_or_of_another_name(copied, whole):
    row = one_of(whole, fate="kept", source="few")
    Path("results").rename("elsewhere")
    answer(row["id"], "--results", "elsewhere")
    for path in Path("elsewhere").rglob(".*.sums"):
        path.unlink()
    told = answer(row["id"], "--results", "elsewhere")
    assert told["text"]["from"] == f"{row['file']}:{row['line']}"
    Path(row["file"]).unlink()
    assert "elsewhere/text has no checksums, and" in said(row["id"], "--results", "elsewhere")
    assert said("--dropped", "--sample", 3, "--results", "elsewhere")
    Path("elsewhere/summary.json").write_text("{")
    assert "elsewhere/summary.json: not JSON" in fault(row["id"], "--results", "elsewhere")


def test_story__does_without_what_may_be_removed(copied, whole):
    for name in ("measures", "clusters", "quarantine", "cut", "edited"):
        shutil.rmtree(f"results/{name}")
    short = one_of(whole, fate="too_short")
    assert "chars 5 below min_chars 100. Measured: chars 5." in said(short["id"])
    bad = one_of(whole, fate="malformed")
    assert "The content of this record is only in the input file." in said(
        f"{bad['file']}:{bad['line']}"
    )
    assert "cut; the list of cuts was removed" in said(first_with(whole, "filter"))


# What is not there.


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("123456789123456789", "would be in part 28744523, and the run has"),
        ("4000", r"there is no document 4000. The ids of part 0: from 0 to"),
        ("raw/web/0.jsonl:4000", "raw/web/0.jsonl has no record on line 4000: its records are on "
         "lines up to 78."),
        ("raw/web/O.jsonl:4", "raw/web/O.jsonl is not one of the 4 files that the run read. "
         "Nearest: raw/web/1.jsonl"),
        ("0.jsonl:4", "0.jsonl: the paths of 2 input files end like this: raw/web/0.jsonl, "
         "raw/few/0.jsonl. Give more"),
        ("corpus/train/00000.jsonl.zst:4000", "so there is no line 4000."),
        ("corpus/train/00000.jsonl.zst:0", "lines count from 1."),
        ("corpus/train/00077.jsonl.zst:1", "is missing"),
        ("tokens/train/00000.bin:9999999", "there is no token 9999999."),
        ("tokens/val.bin:9999999", "there is no token 9999999."),
        ("tokens/train/00077.bin:1", "numbered from 0."),
        ("the mill", "expected the id of a document, FILE:LINE"),
    ],
)  # fmt: skip
def test_why__says_in_a_sentence_what_is_not_there(here, query, expected):
    assert expected in fault(query)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--fate", "duplicates"], "there is no fate duplicates; this run has kept, malformed,"),
        (["--source", "evaluation"], "no source evaluation; this run has web, few, books."),
        (["--text", "quite other words"], "no document has exactly this text, and the sketches "
         "show no similar one"),
        (["--text", " .. "], "no document has exactly this text, and the text has no shingle"),
        (["--text-file", "nowhere.txt"], "nowhere.txt"),
        (["--text-file", "results/digests/00000.npy"], "00000.npy: not UTF-8. Save it as UTF-8."),
    ],
)  # fmt: skip
def test_why__says_in_a_sentence_what_cannot_be_found(here, options, expected):
    done = called(*options)
    assert done.exit_code in (1, 2)
    assert expected in done.stderr


@pytest.mark.parametrize("options", [[], ["5", "--dropped"], ["5", "--text", "x"]])
def test_why__wants_one_thing_at_once(here, options):
    done = called(*options)
    assert done.exit_code == 2
    assert "QUERY, --text, --text-file, or --dropped" in done.stderr


def test_why__in_a_folder_without_results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert fault("5") == "there is no folder results. Name your results folder: --results DIR"
    (tmp_path / "results").mkdir()
    assert "results has no results of corpusmill, expected results/summary.json" in fault("5")


@pytest.mark.parametrize(
    ("lost", "expected"),
    [
        ("summary.json", "a run that is not finished: there is no results/summary.json"),
        ("ledger/00000.parquet", "ledger/00000.parquet is missing: the run is not"),
        ("placements/train/00000.parquet", "corpusmill run"),
        ("signatures/00000.npy", "results/signatures/00000.npy, which contained the"),
    ],
)  # fmt: skip
def test_why__of_a_run_that_is_not_whole(copied, whole, lost, expected):
    place = next(one for one in whole.placements if one["split"] == "train" and not one["shard"])
    Path("results", lost).unlink()
    query = ["--text", changed(long(3), 30)] if "npy" in lost else [place["id"]]
    assert expected in fault(*query)


def test_why__of_a_folder_of_two_runs(copied, whole):
    row = one_of(whole, fate="kept", copies=2)
    for path in Path("results/placements/train").glob("*.parquet"):
        pq.write_table(pq.read_table(path).slice(0, 0), path)
    assert "The files are from different runs, or damaged" in fault(row["id"])


def test_why__of_an_earlier_version(copied):
    summary = json.loads(Path("results/summary.json").read_text())
    path = Path("results/ledger/00000.parquet")
    pq.write_table(pq.read_table(path).drop_columns("whole_digest"), path)
    assert "by an earlier version of corpusmill and has no digests" in fault("5")
    del summary["configuration"]
    save_json(Path("results/summary.json"), summary)
    assert "does not contain the configuration of its run" in fault("5")


# How much is read.


def made_ledger(folder: Path, rows: int) -> Results:
    """A ledger of one part and two files, and what of the results it takes to open it."""
    half = rows // 2
    table = pa.table(
        {
            "id": pa.array(range(rows), pa.uint64()),
            "file": ["a.jsonl"] * half + ["b.jsonl"] * (rows - half),
            "line": pa.array([*range(1, half + 1), *range(1, rows - half + 1)], pa.uint64()),
            "winner": pa.array([None] * (rows - 1) + [7], pa.uint64()),
        }
    )
    schema = ledger_schema([])
    for field in schema:
        if field.name not in table.column_names:
            table = table.append_column(field, pa.nulls(rows, field.type))
    save_ledger(folder / "ledger/00000.parquet", table.select(schema.names).cast(schema))
    (folder / "plan").mkdir()
    file = {"source": "s", "text_bytes": 1, "bytes": 1, "mtime_ns": 1}
    files = [file | {"path": f"{x}.jsonl"} for x in "ab"]
    lines = [{"corpusmill.plan": 1}, {"part": 0, "generation": 1, "files": files}]
    (folder / "plan/parts.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    config = {"sources": [{"name": "s", "files": ["*.jsonl"]}]}
    save_json(folder / "summary.json", {"configuration": config})
    return Results(folder)


def test_ledger__reads_the_row_groups_that_the_statistics_leave(tmp_path, monkeypatch):
    ledger = Ledger(made_ledger(tmp_path, 5 * ROW_GROUP))
    read = []
    some_rows = pq.ParquetFile.iter_batches

    def counted(self, rows, row_groups, columns):
        read.extend((group, tuple(columns)) for group in row_groups)
        return some_rows(self, rows, row_groups, columns)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", counted)
    assert ledger.of_id(3 * ROW_GROUP + 5)["line"] == ROW_GROUP // 2 + 6
    assert [group for group, _ in read] == [3]
    read.clear()
    (found,) = ledger.of_place(0, "b.jsonl", 9)
    assert found["id"] == 5 * ROW_GROUP // 2 + 8
    assert {group for group, _ in read} == {2}
    read.clear()
    assert ledger.dropped_for(7) == ([5 * ROW_GROUP - 1], 1)
    assert read == [(4, ("winner",))]


COLUMNS = st.lists(st.none() | st.sampled_from([0, 1, 2, 1 << 53, (1 << 53) + 1, (1 << 64) - 1]))


@given(COLUMNS, COLUMNS, st.sampled_from([0, 1 << 53, (1 << 64) - 1]), st.integers(0, 3))
def test_has_one_of__is_exact_and_null_is_none(one, other, wanted, cut):
    chunks = [pa.array(values, pa.uint64()).slice(cut) for values in (one, other)]
    got = has_one_of(pa.chunked_array(chunks, pa.uint64()), [wanted, 1])
    assert got.tolist() == [value in (wanted, 1) for value in one[cut:] + other[cut:]]


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abcd")))
def test_has_one_of__of_names(names, wanted):
    column = pa.chunked_array([pa.array(names, pa.string()).dictionary_encode()])
    assert has_one_of(column, wanted).tolist() == [name in wanted for name in names]


@pytest.mark.parametrize(
    ("cut", "expected"), [(5, []), (7, ["7 bytes were counted as cut, but the texts lost 5"])]
)
def test_ledger__holds_what_was_cut_against_what_was_counted(cut, expected):
    rows = pa.table({"cut_bytes": pa.array([None, 2, 3], pa.uint64())})
    figures = {"web": Counter(cut_bytes=cut - 1), "books": Counter(cut_bytes=1)}
    assert cut_faults(figures, rows) == expected


def test_cut_columns__count_every_piece_of_a_document(tmp_path):
    ids = pa.array([1 << 32, (1 << 32) + 2, (1 << 32) + 2, (1 << 32) + 2], pa.uint64())
    save_parquet(tmp_path / "cuts", pa.table({"id": ids}))
    found = cut_columns(Cut([], [tmp_path / "cuts"], []), np.array([9, 9, 9], "u8"))
    assert found["cuts"].to_pylist() == [1, None, 3]


# Two texts side by side.

TEXTS = st.lists(st.sampled_from(["mill", "grain", "漢字", "a", "flour,", "\u202ex"]), max_size=30)


@given(TEXTS, TEXTS)
def test_passages__have_every_difference(one, other):
    texts = " ".join(one), " ".join(other)
    left, right = map(Words.of, texts)
    assert "".join(left.words) == texts[0].replace(" ", "")
    found = passages(left, right)
    assert bool(found) == (left.words != right.words)
    rest = []
    for words, k in ((left, 0), (right, 1)):
        gone = set().union(*(passage.apart[k] for passage in found))
        rest.append([word for place, word in enumerate(words.words) if place not in gone])
    assert rest[0] == rest[1]


@given(TEXTS, TEXTS)
def test_shared_words__are_paired_off_one_by_one(one, other):
    left, right = Words.of(" ".join(one)), Words.of(" ".join(other))
    unpaired, both = list(right.words), 0
    for word in left.words:
        if word in unpaired:
            unpaired.remove(word)
            both += 1
    assert shared_words(left, right) == (both, len(left.words), len(right.words))
    same = first_difference(left.words, right.words)
    assert left.words[:same] == right.words[:same]


@given(TEXTS, TEXTS, st.integers(43, 120))
def test_side_by_side__fits_the_width(one, other, width):
    lines = side_by_side(("one", "other"), (" ".join(one), " ".join(other)), width)
    assert max(map(cells, lines[:-1])) <= width
    assert not any("\u202e" in line for line in lines)


WORDS = st.lists(st.tuples(st.text("ab漢", min_size=1, max_size=9), st.booleans()))


@given(WORDS, st.integers(3, 9))
def test_wrapped__has_all_words_in_lines_that_fit(words, width):
    lines = wrapped(words, width)
    assert "".join(lines).replace(" ", "") == "".join(word for word, _ in words)
    assert all(cells(line) <= width for line in lines)


def test_text_part__gives_a_text_by_its_row(folder, whole):
    path = folder / "results/text/00000.arrow"
    texts = [t for batch in TextPart(path, ["text"]).batches() for t in batch["text"].to_pylist()]
    assert [TextPart(path, ["text"]).text(row) for row in range(len(texts))] == texts
    with pytest.raises(IndexError, match=f"has {len(texts)} rows"):
        TextPart(path, ["text"]).text(len(texts))


def test_why__ends_without_a_word_when_nobody_reads_on(here, monkeypatch):
    def closed(line: str, err: bool) -> None:
        raise BrokenPipeError(errno.EPIPE, "closed")

    monkeypatch.setattr("click.echo", closed)
    done = called("5")
    assert (done.exit_code, done.stderr) == (1, "")


REASONS = ("weight 0", "was added earlier", "priority", "longer", "id is lower")
"""What `why` says of each column that documents are compared by, in the order of them."""


@given(
    st.lists(
        st.fixed_dictionaries({
            "weight": st.sampled_from([0, 1]), "fate": st.sampled_from(["kept", "too_short"]),
            "generation": st.integers(1, 2), "priority": st.sampled_from([None, 1, 2]),
            "text_bytes": st.integers(1, 2),
        }),
        min_size=2, max_size=2,
    )
)  # fmt: skip
def test_why__names_the_first_that_differs(documents):
    def key(one: dict) -> tuple:
        unused = one["fate"] != "kept" or one["weight"] == 0
        rank = one["priority"] or 3
        return unused, one["generation"], rank, -one["text_bytes"], one["id"]

    def source_of(one: dict) -> Source:
        return Source(name=one["source"], files=[], weight=one["weight"], priority=one["priority"])

    for id, one in enumerate(documents):
        one |= {"id": id, "source": str(id), "file": str(id)}
    winner, other = sorted(documents, key=key)
    if other["fate"] == "kept":  # the others are no duplicates by their fate
        first = [a == b for a, b in zip(key(winner), key(other), strict=True)].index(False)
        results = SimpleNamespace(
            config=SimpleNamespace(
                dedup=SimpleNamespace(earlier_first=True, prefer=SimpleNamespace(field=None))
            ),
            sources={one["source"]: source_of(one) for one in documents},
            files={one["file"]: (Part(0, [], one["generation"]), None) for one in documents},
        )
        better, worse = (Facts(results, None, row) for row in (winner, other | {"fate": DUPLICATE}))
        assert REASONS[first] in better.comes_first_because(worse)


def test_story__of_a_winner_that_a_filter_dropped(tmp_path, monkeypatch):
    for source in ("better", "worse"):
        write_jsonl(tmp_path / f"{source}.jsonl", [{"text": document(n)} for n in range(3)])
    write_jsonl(tmp_path / "web.jsonl", [{"text": document(9, words=200)}])
    sources = [
        {"name": "worse", "files": ["worse.jsonl"], "weight": 0, "max_duplicate_fraction": 1},
        {"name": "better", "files": ["better.jsonl"], "weight": 0, "priority": 1},
        {"name": "web", "files": ["web.jsonl"]},
    ]
    strict = {"name": "too_short", "min_chars": 1000, "sources": {"worse": False}}
    mill(tmp_path, {"sources": sources, "filters": [{"name": "empty"}, strict],
                    "dedup": {"method": "exact", "candidates": "all"},
                    "splits": {"validation": 0, "test": 0}})  # fmt: skip
    monkeypatch.chdir(tmp_path)
    told = said("worse.jsonl:2")
    assert "ranks higher: its source better has priority 1, worse has none." in told
    assert "was itself dropped by the filter too_short." in told
