"""The oracle itself: small cases whose answers are written by hand, and one run of the mill."""

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from transformers import PreTrainedTokenizerFast
from workflow import document as text_of
from workflow import mill, small_corpus, write_jsonl

from qa import oracle
from qa.fuzz.configs import laid_over
from qa.fuzz.configs import whole as whole_config
from qa.oracle import dedup, fate, packing, plan, sketches
from qa.oracle.document import Document, Outcome, Part
from qa.oracle.finding import tree_differ
from qa.oracle.tokens import Loss, Tokens

LETTERS = {
    "minhash": {"permutations": 64, "shingle_chars": 1},
    "dedup": {"threshold": 0.5, "bands": 64, "rows": 1},
}


def resolved(contents: list[str], own: dict) -> list[tuple]:
    """(winner, stage, similarity) of each text; its shingles are its letters."""
    config = whole_config(laid_over(LETTERS, own))
    documents = [Document(k, "s", "f", k, text, text, []) for k, text in enumerate(contents)]
    for document in documents:
        document.cleaned, document.digest = document.text, document.text.encode()
        document.sketch = sketches.sketch(document.text, config["minhash"])
        document.takes_part, document.order = True, (document.id,)
    dedup.resolve(documents, config)
    return [(d.winner, d.stage, d.similarity) for d in documents]


def test_oracle_dedup__dropped_only_for_a_kept_one():
    # The letters of neighbours are 3 of 5 alike, those of the ends 2 of 6.
    chain = ["abcd", "bcde", "cdef", "abcd", "xyz"]
    alone, copy = (None, None, None), (0, "identical", 1.0)
    near = (0, "shingles", 0.6)
    kept = {"dedup": {"resolve": "kept"}}
    assert resolved(chain, kept) == [alone, near, alone, copy, alone]
    component = {"dedup": {"resolve": "component"}}
    assert resolved(chain, component) == [alone, near, (0, "chain", None), copy, alone]


def test_oracle_dedup__other_methods():
    alone, copy = (None, None, None), (0, "identical", 1.0)
    texts_ = ["abcd", "abcde", "abcd", "xyz", "", ""]
    no_shingle = (4, "identical", 1.0)
    assert resolved(texts_, {"dedup": {"method": "exact"}}) == [
        alone, alone, copy, alone, alone, no_shingle,
    ]  # fmt: skip
    sketch = {"dedup": {"method": "sketch", "resolve": "component"}}
    band = (0, "band", None)
    assert resolved(texts_, sketch) == [alone, band, band, alone, alone, no_shingle]


def test_oracle_dedup__a_text_is_paired_with_64_of_many():
    # All share their only band, and have all values of their sketches equal.
    config = whole_config({"minhash": {"permutations": 1}, "dedup": {"bands": 1, "rows": 1}})
    documents = [Document(k, "s", "f", k, str(k), str(k), []) for k in range(70)]
    for document in documents:
        document.takes_part = True
        document.digest, document.sketch, document.order = b"%d" % document.id, (7,), (document.id,)
    pairs = dedup.similar_enough_pairs(dedup.units_of(documents, config), config)
    assert [better for better, worse in pairs if worse == 69] == list(range(64))
    assert sum(worse == 64 for _, worse in pairs) == 64


def test_oracle_fate__contaminated():
    outcome = Outcome(whole_config({}), parts=[Part([])])
    origins = ["validation", "train", "train", "train", "test"]
    words = ["a", "a", "b", "c", "b"]
    for k, (split, word) in enumerate(zip(origins, words, strict=True)):
        document = Document(k, "s", "f", k, word, word, [], digest=word.encode(), split=split)
        outcome.parts[0].documents.append(document)
    outcome.evaluation = {b"c", b"b"}
    fate.decontaminate(outcome)
    told = [document.held_out_by for document in outcome.documents()]
    assert told == [None, "validation", "test", "evaluation", None]


def test_oracle_fate__keyed_hashes_spread_evenly():
    shares = [fate.fraction(fate.keyed_hash(42, "split", id_)) for id_ in range(2000)]
    assert abs(sum(share < 0.25 for share in shares) - 500) < 60
    assert fate.copies_of(7, "train", 2, 42) == 2
    assert fate.copies_of(7, "validation", 2, 42) == 1


def test_oracle_fate__copies_are_evenly_apart():
    keys = [fate.order_key(7, copy, 2, 42) for copy in range(2)]
    assert (keys[1] - keys[0]) % 2**64 == (2**64 - 1) // 2


def test_oracle__refuses_bands_that_datasketch_can_not_choose(tmp_path):
    dedup_ = {"method": "sketch", "resolve": "component", "bands": "auto", "rows": "auto"}
    config = whole_config({"minhash": {"permutations": 8}, "dedup": dedup_})
    assert "bands" in oracle.expected(tmp_path, config, tmp_path).refused


def test_oracle_finding__zeros_may_be_absent():
    figures = {"a": {"documents": 0}, "b": {"documents": 1}}
    assert list(tree_differ("f", figures, {"b": {"documents": 1}})) == []
    assert list(tree_differ("f", {}, figures)) == ["f: b.documents: None, expected 1"]


def test_oracle_plan__parts():
    files = [plan.InputFile("s", str(size), size) for size in (5, 4, 2, 20, 1)]
    parts = plan.plan_parts(files, 10)
    assert [[file.expected_bytes for file in part] for part in parts] == [[5, 4], [2], [20], [1]]


def test_oracle_packing__best_fit_by_hand():
    # Documents at 0-3, 3-5, 5-14 (cut into 5-10, 9-14), 14-16; rows of 5 tokens.
    rows = packing.rows_of([3, 2, 9, 2], 4, seed=42)
    assert sorted(rows) == [[(0, 3), (3, 5)], [(5, 10)], [(9, 14)], [(14, 16)]]
    assert rows == sorted(rows, key=lambda row: fate.keyed_hash(42, "pack", row[0][0]))
    # 4 leaves 1, 3 leaves 2: each of the last two goes where it leaves least.
    assert sorted(packing.rows_of([3, 4, 1, 2], 4, 0)) == [[(0, 3), (8, 10)], [(3, 7), (7, 8)]]
    assert packing.rows_of([], 4, 0) == []


def word_tokenizer(folder: Path) -> None:
    """A tokenizer that knows two words and lowers what it reads."""
    vocabulary = {"[UNK]": 0, "a": 1, "b": 2, "<eos>": 3}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = Lowercase(), Whitespace()
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>")
    wrapped.save_pretrained(folder)


def test_oracle_tokens__lost_characters(tmp_path):
    word_tokenizer(tmp_path)
    tokens = Tokens(tmp_path, whole_config({}))
    assert (tokens.vocabulary, tokens.end_of_text, tokens.unknown) == (4, 3, {0})
    assert tokens.ids("A c b") == [1, 0, 2]
    # "a b" comes back: of "A c b" that is A, c and a space too little, of "a c b" c and a space.
    assert tokens.loss("A c b") == Loss(characters=5, lost=2, unknown=1, without_token=0)
    assert tokens.loss(" ") == Loss(characters=1, lost=1, unknown=0, without_token=1)


@pytest.fixture(scope="module")
def milled(tmp_path_factory):
    """A run with weights, held-out texts, tables, joined files and packed rows, and what it has to
    be."""
    folder = tmp_path_factory.mktemp("milled")
    config = small_corpus(folder)
    write_jsonl(folder / "evaluation.jsonl", [{"text": text_of(n)} for n in range(1000, 1020)])
    one, two, _ = config["sources"]
    one["weight"], two["weight"] = 0, 2
    config["sources"].append(
        {"name": "evaluation", "files": ["evaluation.jsonl"], "held_out": True}
    )
    config["output"] |= {"format": "parquet", "join": True, "pack": [64, 2048]}
    mill(folder, config)
    return folder, oracle.expected(folder, whole_config(config), folder / "results/tokenizer")


def test_oracle__mill_does_what_the_documentation_says(milled):
    folder, outcome = milled
    assert oracle.differences(folder, outcome) == []
    assert oracle.counts(outcome)["records"] == 620


def test_oracle__sees_a_changed_shard(milled, tmp_path):
    folder, outcome = milled
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    shard = tmp_path / "results/tokens/train/00000.bin"
    shard.write_bytes(shard.read_bytes()[:-1] + b"\xff")
    named = {line.split(":")[0] for line in oracle.differences(tmp_path, outcome)}
    assert {"results/tokens/train/00000.bin", "results/manifest.json"} <= named


def test_oracle__sees_a_document_missing_in_packed_rows(milled, tmp_path):
    folder, outcome = milled
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "results/tokens/train/pack-2048.npy"
    pieces = np.load(path)
    pieces[0, 1] -= 1
    np.save(path, pieces)
    told = [line for line in oracle.differences(tmp_path, outcome) if "pack-2048.npy" in line]
    assert any("other copies than the placements: 1 differ" in line for line in told)
    assert any(": row 0: " in line for line in told)


def test_oracle__sees_a_copy_that_the_ledger_does_not_have(milled, tmp_path):
    folder, outcome = milled
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    shard = tmp_path / "results/placements/train/00000.parquet"
    table = pq.read_table(shard)
    pq.write_table(
        table.set_column(1, table.field("copy"), pc.add(table["copy"], pa.scalar(1, pa.uint16()))),
        shard,
    )
    told = "\n".join(oracle.differences(tmp_path, outcome))
    assert "results/placements/train: other copies than the ledger: " in told
    assert "results/placements/train: other copies than results/corpus: " in told


def test_oracle__refuses_malformed_records(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text":"a"}\n\n')
    sources = [{"name": "a", "files": ["*.jsonl"], "max_malformed_fraction": 0.4}]
    outcome = oracle.expected(tmp_path, whole_config({"sources": sources}), tmp_path)
    assert "malformed" in outcome.refused
    assert oracle.differences(tmp_path, outcome) == []
