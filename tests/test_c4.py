"""C4's rules against their plain twin; what is cut, its record and its account."""

import json

import naive_filters
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from workflow import document, mill, write_jsonl

from corpusmill.kernels.c4 import count_sentences
from corpusmill.mill.filters.configured import ConfiguredFilter
from corpusmill.mill.filters.documents import Documents
from corpusmill.mill.filters.edits import without
from corpusmill.mill.filters.registry import filter_class
from corpusmill.mill.read.text_column import TextColumn, string_array

PIECES = [
    *(
        "a",
        "word word word.",
        "b c",
        "\n",
        "\n",
        "\r\n",
        "\r",
        "\u2028",
        " ",
        "\t",
        ".",
        "...",
        "!",
    ),
    *(
        '"',
        "?",
        "[1]",
        "[",
        "]",
        "[edit]",
        "[citation needed]",
        "[٣]",
        "[]",
        "lorem ipsum",
        "Lorem",
    ),
    *(
        " ipsum",
        "javascript",
        "JavaScript",
        "java",
        "coo\u212a",
        "coo\u212aie policy",
        "uses cookies",
    ),
    *("Terms of Use", "{", "privacy policy", "é", "漢字。", "x" * 12, "İ", "\x85", "\x1c"),
]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=2), max_size=30).map("".join)
DEFAULTS = {"needs_end_mark": True, "end_marks": ".?!\"'",
            "min_words_per_line": 3, "max_word_chars": 10,
            "cuts_citations": True, "cuts_javascript": True, "cuts_policies": True,
            "paragraph_chars": 6}  # fmt: skip
RULES = list(filter_class({"name": "c4"}).edits)


def sentences(line: str) -> int:
    return count_sentences(np.frombuffer(line.encode(), np.uint8), 0, len(line.encode()))


def joined(lines: list[str]) -> str:
    return "\n".join(map(str.strip, lines)).strip()


def edited(texts: list[str], needs: dict) -> tuple[list[dict], list[str], list[tuple]]:
    """Values and rest of each text; (row, what was cut, why) of all."""
    column = TextColumn.of(string_array([text.encode() for text in texts]))
    documents = Documents(column, pa.record_batch({"text": pa.nulls(len(texts))}), [])
    filter = ConfiguredFilter({"name": "c4", **needs}).measurer()
    found, cuts = filter.measure_and_edit(documents)
    values = [{key: found[key][row].item() for key in found} for row in range(len(texts))]
    data, pieces = column.data.tobytes(), []
    for row, start, stop, rule in zip(*(part.tolist() for part in cuts), strict=True):
        assert column.offsets[row] <= start < stop <= column.offsets[row + 1]
        pieces.append((row, data[start:stop].decode(), RULES[rule - 1]))
    return values, without(column, cuts).array().to_pylist(), pieces


@examples(600)
@given(st.lists(texts, max_size=3), st.fixed_dictionaries({
    "needs_end_mark": st.booleans(), "min_words_per_line": st.integers(0, 3),
    "max_word_chars": st.sampled_from([3, 10]), "cuts_citations": st.booleans(),
    "cuts_javascript": st.booleans(), "cuts_policies": st.booleans(),
    "paragraph_chars": st.integers(0, 9), "end_marks": st.sampled_from([".?!\"'", '.?!"', "。é."]),
}))  # fmt: skip
def test_c4__measures_and_cuts_what_its_twin_does(texts, needs):
    values, rest, pieces = edited(texts, needs)
    for row, text in enumerate(texts):
        expected, kept = naive_filters.c4(text, needs, sentences)
        assert values[row] == expected
        # Ends of lines that stay are what they were, but for a carriage return before a newline.
        assert joined(rest[row].splitlines()) == joined(kept)
        assert len(rest[row]) + sum(len(cut) for of, cut, _ in pieces if of == row) == len(text)


def test_c4__takes_other_end_marks():
    lines = ["He said 'these four words'", "These are four words.", "漢 漢 漢 漢。"]
    for marks, stay in ((".'", [0, 1]), ('.?!"', [1]), ("。", [2])):
        _, (rest,), _ = edited(["\n".join(lines)], DEFAULTS | {"end_marks": marks})
        assert rest.strip() == "\n".join(lines[n] for n in stay)


def test_c4__refuses_no_end_marks():
    (fault,) = ConfiguredFilter({"name": "c4", "end_marks": ""}).decider().faults()
    assert fault == "c4: end_marks is empty. List some characters, or set needs_end_mark to false."
    assert not list(
        ConfiguredFilter({"name": "c4", "end_marks": "", "needs_end_mark": False})
        .decider()
        .faults()
    )


def test_c4__says_why():
    text = "Too short.\n  This line stays as it is[3].\t\nThis one has no mark\nA long" + "g" * 20
    text += " word here.\nEnable JavaScript for this page.\nRead our privacy policy here.\n"
    _, (rest,), pieces = edited([text], DEFAULTS)
    assert rest == "This line stays as it is."
    assert [(cut, why) for _, cut, why in pieces] == [
        ("Too short.\n", "few_words"), ("  ", "white_space"), ("[3]", "citation"),
        ("\t", "white_space"), ("\n", "white_space"), ("This one has no mark\n", "no_end_mark"),
        ("A longgggggggggggggggggggg word here.\n", "long_word"),
        ("Enable JavaScript for this page.\n", "javascript"),
        ("Read our privacy policy here.\n", "policy"),
    ]  # fmt: skip


def test_c4__has_the_rule_of_mc4_on_request():
    long, short = "x" * 200, "x" * 199
    texts = ["\n".join(lines) for lines in ([long] * 3, [long, short, long], [long] * 2)]
    values, _, _ = edited(texts, {})
    assert [one["c4_paragraphs"] for one in values] == [3, 2, 2]
    filter = ConfiguredFilter({"name": "c4", "min_paragraphs": 3, "min_sentences": None}).decider()
    columns = {name: np.array([one[name] for one in values]) for name in values[0]}
    columns["text_bytes"] = np.ones(3)
    assert filter.beyond(columns).tolist() == [0, 4, 4]
    assert ConfiguredFilter({"name": "c4"}).decider().min_paragraphs is None


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run whose filter cuts, but out of one source."""
    folder = tmp_path_factory.mktemp("c4")
    body = "\n".join(f"This is sentence number {n} of it." for n in range(5))
    for source in ("web", "code"):
        records = [
            {"text": f"{document(n)}.\nmenu\n{source} {body}\nRead our privacy policy now.\n"}
            for n in (range(20) if source == "web" else range(20, 40))
        ]
        records += [{"text": "void main() { run(); }."}, {"text": "menu\nhome"}]
        write_jsonl(folder / f"{source}.jsonl", records)
    config = {
        "sources": [{"name": one, "files": [f"{one}.jsonl"]} for one in ("web", "code")],
        "filters": [
            {"name": "empty"},
            {"name": "c4", "needs_end_mark": False, "sources": {"code": False}},
            {"name": "few", "use": "c4", "min_words_per_line": 0, "min_sentences": 2},
        ],
        "tokenizer": {"source": "train", "train_vocabulary": 300},
        "splits": {"validation": 0.2, "test": 0},
    }
    mill(folder, config)
    return folder


def test_cuts__are_recorded_and_balance(run):
    summary = json.loads((run / "results/summary.json").read_text())
    assert summary["balanced"] is True
    edits, record = summary["edits"], pq.read_table(run / "results/edited/00000.parquet")
    assert edits["c4.policy"]["spans"] == 20
    assert edits["few.policy"]["spans"] == 20  # of code, which the first one leaves alone
    assert record.num_rows == sum(one["spans"] for one in edits.values())
    cut = sum(row["end"] - row["start"] for row in record.to_pylist())
    assert summary["bytes"]["cut"] == cut == sum(one["bytes"] for one in edits.values())
    assert summary["bytes"]["in"] == cut + summary["bytes"]["kept"] + sum(
        summary["bytes"]["dropped"].values()
    )
    assert "cut by c4.policy: 20" in (run / "results/summary.txt").read_text()


def test_cuts__leave_what_the_shards_hold(run):
    from corpusmill.mill.read.parts import TextPart

    before, after = (
        [
            text
            for batch in TextPart(run / f"results/{of}/00000.arrow", ["text"]).batches()
            for text in batch.column("text").to_pylist()
        ]
        for of in ("text", "edited")
    )
    record = pq.read_table(run / "results/edited/00000.parquet").to_pylist()
    for row, (text, rest) in enumerate(zip(before, after, strict=True)):
        data = text.encode()
        for name in ("c4", "few"):
            mine = [cut for cut in record if cut["id"] == row and cut["filter"] == name]
            edges = [0, *(edge for cut in mine for edge in (cut["start"], cut["end"])), len(data)]
            data = b"".join(data[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True))
        assert data.decode() == rest
    rows = pq.read_table(run / "results/ledger/00000.parquet").to_pylist()
    reasons = {row["reason"] for row in rows if row["fate"] == "c4"}
    assert reasons == {"curly_lines 1 above max_curly_lines 0"}
    assert {row["source"]: row["reason"] for row in rows if row["fate"] == "empty"} == {
        "web": "c4 cut the last of it: few_words",
        "code": "few cut the last of it: no_end_mark",
    }
