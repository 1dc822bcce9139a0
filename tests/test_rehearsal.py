"""The eye test: what it counts is what is there, and what it finds wrong is wrong."""

import hashlib
import json
import math
import shutil
from collections import Counter

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from stream_corpus import END, read_manifest, tokens_of, write_corpus, write_manifest
from workflow import document, mill, write_jsonl

from corpusmill.cli.main import main
from corpusmill.reader import Corpus
from corpusmill.tools.why.eye_test.drawing import drawn
from corpusmill.tools.why.eye_test.figures import figures_of


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("milled")
    texts = [{"text": f"{document(k)} <|endoftext|> caf\u00e9 \x07"} for k in range(120)]
    write_jsonl(folder / "raw.jsonl", texts)
    mill(folder, {
        "sources": [{"name": "web", "files": ["raw.jsonl"]}],
        "splits": {"validation": 0.1, "test": 0},
        "tokenizer": {"source": "train", "train_vocabulary": 400},
    })  # fmt: skip
    return folder / "results"


@given(
    sizes=st.lists(st.lists(st.integers(1, 40), max_size=5), min_size=1, max_size=4),
    share=st.sampled_from([0.01, 0.5, 0.99]),
)
def test_figures__are_those_of_a_plain_count(sizes, share, tmp_path_factory):
    results = write_corpus(tmp_path_factory.mktemp("c"), {"train": sizes}, ids=100)
    split, told = Corpus(results).split("train"), []
    figures = figures_of(split, told.append)
    tokens, lengths = tokens_of(results), sorted(size for shard in sizes for size in shard)
    assert {id: n for id, n in enumerate(figures.counts.tolist()) if n} == Counter(tokens)
    assert (figures.without_end, figures.ends_inside) == (0, 0)
    assert sum(told) == len(tokens)
    if tokens:
        shares = [n / len(tokens) for n in Counter(tokens).values()]
        assert figures.entropy == pytest.approx(-sum(s * math.log(s) for s in shares))
        assert figures.length_at(share) == lengths[math.ceil(share * len(lengths)) - 1]


def rewritten(results, ids: list[int]) -> Corpus:
    """The corpus with other ids in its only shard, and a manifest that believes them."""
    path = results / "tokens/train/00000.bin"
    np.array(ids, "<u2").tofile(path)
    manifest = read_manifest(results)
    for one in manifest["files"]:
        if one["path"].endswith("00000.bin"):
            one["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    write_manifest(results, manifest)
    return Corpus(results)


def test_figures__see_ends_that_are_missing_or_too_many(tmp_path):
    results = write_corpus(tmp_path, {"train": [[3, 4]]}, ids=9)
    figures = figures_of(rewritten(results, [1, END, 2, 3, 4, 5, END]).split("train"), len_of)
    assert (figures.without_end, figures.ends_inside) == (1, 1)


def len_of(count: int) -> None:
    pass


def test_figures__refuse_an_id_beyond_the_vocabulary(tmp_path):
    results = write_corpus(tmp_path, {"train": [[3, 4]]}, ids=9)
    corpus = rewritten(results, [1, 2, END, 3, 9, 5, END])
    with pytest.raises(ValueError, match=r"00000.bin: expected ids below 9, .*, found 9"):
        figures_of(corpus.split("train"), len_of)


def test_drawn__has_each_sample_once(tmp_path):
    split = Corpus(write_corpus(tmp_path, {"train": [[50, 60], [300]]})).split("train")
    tried = drawn(split, 7, seed=3)
    assert (tried.samples, tried.checked, tried.repeated) == (409 // 7, 409 // 7, 0)
    assert tried.shifted == tried.read == 409 // 7
    assert tried.tokens_per_second > 0


def test_drawn__notices_a_sampler_that_repeats(tmp_path, monkeypatch):
    split = Corpus(write_corpus(tmp_path, {"train": [[50, 60], [300]]})).split("train")
    monkeypatch.setattr(
        "corpusmill.tools.why.eye_test.drawing.Shuffled.numbers",
        lambda self, epoch, places: places // 2,
    )
    assert drawn(split, 7, seed=3).repeated == 409 // 7 // 2


def test_eye_test__tells_of_each_split(results):
    done = CliRunner().invoke(main, ["eye-test", str(results), "--length", "32", "--samples", "2"])
    assert done.exit_code == 0, done.output
    tokens, lines = tokens_of(results), done.output.splitlines()
    assert lines[0].startswith(f"train: {len(tokens):,} tokens, ")
    facts = json.loads((results / "tokenizer/corpusmill.json").read_text())
    ends = tokens.count(facts["end_of_text_id"])
    assert f"  special    ⟦<|endoftext|>⟧ {ends:,}" in lines
    assert f"near ln({facts['vocabulary']})" in done.output
    assert sum(line.startswith("--- train, sample ") for line in lines) == 2
    assert any(line.startswith("validation: ") for line in lines)


def test_eye_test__names_special_tokens_and_shows_control_characters(results):
    done = CliRunner().invoke(main, ["eye-test", str(results), "--length", "600"])
    # A text that only looks like the token stays what it is.
    assert "<|endoftext|> caf\u00e9 \\x07⟦<|endoftext|>⟧" in done.output


def test_eye_test__names_the_document_that_a_sample_begins_in(results):
    asked = ["eye-test", str(results), "--length", "8", "--samples", "1"]
    shown = CliRunner().invoke(main, asked).output
    first = Corpus(results).split("train").placement(0)
    assert (
        f"sample 0 of {(len(tokens_of(results)) - 1) // 8:,}: document {first['id']} of web"
        in shown
    )


def test_eye_test__for_programs(results):
    done = CliRunner().invoke(main, ["eye-test", str(results), "--json"])
    objects = [json.loads(line) for line in done.output.splitlines() if line.startswith("{")]
    assert [one["split"] for one in objects] == ["train", "validation"]
    assert objects[0]["tokens"] == len(tokens_of(results))
    assert objects[0]["ids"] == len({*tokens_of(results)})
    assert objects[0]["sampler"]["repeated"] == objects[0]["unknown"] == 0
    assert objects[0]["faults"] == []


def test_eye_test__fails_where_documents_do_not_end(results, tmp_path):
    copy = shutil.copytree(results, tmp_path / "results")
    tokens = tokens_of(copy)
    rewritten(copy, [*tokens[:-1], 5])
    done = CliRunner().invoke(main, ["eye-test", str(copy)])
    assert done.exit_code == 1
    assert "train: 1 documents do not end with the end-of-text token" in done.output


def test_eye_test__of_no_corpus_is_a_sentence(tmp_path):
    done = CliRunner().invoke(main, ["eye-test", str(tmp_path)])
    assert (done.exit_code, "no such file" in done.output) == (1, True)
