"""What is lost in tokens is counted, by the ids alone where they say it, as if all were decoded."""

import json
from pathlib import Path

import naive
import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizer_kinds import EXACT, LOSSY

from corpusmill.mill.account.accounts import LOSS_SUMS
from corpusmill.mill.shuffle.text_shards import COLUMNS
from corpusmill.mill.storage.files import save_json
from corpusmill.mill.tokens.id_bytes import UNCERTAIN, IdBytes, byte_alphabet, id_bytes
from corpusmill.mill.tokens.losses import LossCounter, too_many_losses
from corpusmill.mill.tokens.token_shards import with_ends
from corpusmill.mill.tokens.tokenizer_folder import hidden_loss, keep_tokenizer
from corpusmill.mill.tokens.tokenizers import (
    BYTES_FILE,
    TokenizerFacts,
    decoded,
    encoder_of,
    load_kept,
    normalized,
    reference_ids,
)

PIECES = [
    *("<tag>", "<end>", "<both>", "word", " word ", " ", "\t", "\n", "  ", "▁", "<0x41>", "<unk>"),
    *("\u0958", "e\u0301", "\u0338", "é", "ﬁ", "水", "A", "miller", "<|endoftext|>"),
]
pieces = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=8).map("".join)


@pytest.fixture(scope="module", params=[*EXACT, *LOSSY])
def kept(request, tmp_path_factory) -> tuple[Path, TokenizerFacts]:
    folder = tmp_path_factory.mktemp("kept")
    source = (EXACT | LOSSY)[request.param](tmp_path_factory.mktemp("given"))
    return folder, keep_tokenizer(folder, source, "auto", "auto")


def table(texts: list[str], sources: list[str] | None = None) -> pa.Table:
    rows = range(len(texts))
    columns = [texts, rows, [0] * len(texts), sources or ["s"] * len(texts)]
    return pa.table(columns, COLUMNS)


def counted(kept, texts: list[str], counter: LossCounter | None = None) -> dict:
    folder, setting = kept
    documents = encoder_of(folder, setting)([text.encode() for text in texts])
    tokens = with_ends(documents, setting.end_of_text_id, setting.dtype)
    lengths = np.array([ids.size + 1 for ids in documents], np.int64)
    counter = counter or LossCounter(folder, setting)
    found = counter.count(table(texts), tokens, lengths)
    return {name: numbers.tolist() for name, numbers in found.items()}


def by_decoding(kept, texts: list[str]) -> dict:
    folder, setting = kept
    reference = load_kept(folder, setting)
    found = {name: [] for name in LOSS_SUMS}
    for text, ids in zip(texts, reference_ids(reference, texts), strict=True):
        known = [id for id in ids if id not in setting.unknown_ids]
        lost = naive.lost_characters(text, normalized(reference, text), decoded(reference, known))
        numbers = (len(text), lost, len(ids) - len(known), int(not ids))
        for name, number in zip(LOSS_SUMS, numbers, strict=True):
            found[name].append(number)
    return found


@pytest.mark.some(4)
@examples(150)
@given(texts=st.lists(pieces, max_size=5))
@example(texts=[])
@example(texts=["", "a", " a", "\ta <tag> b"])
@example(texts=["a \t<tag>b c<end>\n d", "  <both>  ", "a▁▁b", "水車"])
@example(texts=["<tag>\u0338 e\u0301", "\u0958 " * 3 + " \t<tag>"])
def test_loss_counter__equals_decoding_everything(kept, texts):
    assert counted(kept, texts) == by_decoding(kept, texts)


@pytest.mark.some(4)
@pytest.mark.parametrize("kind", EXACT)
def test_loss_counter__of_plain_documents_decodes_nothing(kind, tmp_path, monkeypatch):
    source = EXACT[kind](tmp_path / "given")
    kept = tmp_path / "kept", keep_tokenizer(tmp_path / "kept", source, "auto", "auto")
    monkeypatch.setattr("corpusmill.mill.tokens.losses.load_kept", None)
    texts = ["Hello, world!", "the miller  opened\n\n\tGröße 水車 é 😀 <|endoftext|>"]
    assert counted(kept, texts)["lost_characters"] == [0, 0]


def test_loss_counter__a_space_in_front_does_not_make_up_for_one_that_was_swallowed(tmp_path):
    source = EXACT["byte level, prefix, stripping"](tmp_path / "given")
    kept = tmp_path / "kept", keep_tokenizer(tmp_path / "kept", source, "auto", "auto")
    # Four bytes are taken away, four spaces put in: before the text and after each token.
    assert counted(kept, ["a\t<tag>b\t<tag>c\t<tag>d"])["lost_characters"] == [3]


def test_loss_counter__looks_at_ids_whose_bytes_are_not_known(tmp_path):
    source = EXACT["byte level, stripping"](tmp_path / "given")
    kept = tmp_path / "kept", keep_tokenizer(tmp_path / "kept", source, "auto", "auto")
    # The token takes away as many spaces as make the sum of all sizes that of the text.
    spaces = UNCERTAIN - len("<tag>")
    assert counted(kept, ["a" + " " * spaces + "<tag>"])["lost_characters"] == [spaces]


def test_loss_counter__keeps_three_examples_of_each_source(tmp_path):
    source = LOSSY["word piece"](tmp_path / "given")
    kept = tmp_path / "kept", keep_tokenizer(tmp_path / "kept", source, "auto", "auto")
    counter = LossCounter(*kept)
    counted(kept, ["the miller", *["the miller opened the 水車 before sunrise"] * 5], counter)
    found = counter.examples["s"]
    assert [one["id"] for one in found] == [1, 2, 3]
    assert "水" in found[0]["text"]
    assert found[0]["back"] == "miller opened the [UNK] [UNK] before sunrise"


@pytest.mark.some(3)
@pytest.mark.parametrize("kind", LOSSY)
def test_keep_tokenizer__has_no_bytes_of_ids_where_they_are_not_fixed(kind, tmp_path):
    setting = keep_tokenizer(tmp_path / "kept", LOSSY[kind](tmp_path / "given"), "auto", "auto")
    assert setting.added_bytes is None
    assert not (tmp_path / "kept" / BYTES_FILE).exists()


def test_byte_alphabet__is_the_one_of_the_library():
    from tokenizers import decoders, pre_tokenizers

    alphabet = byte_alphabet()
    assert set(alphabet) == set(pre_tokenizers.ByteLevel.alphabet())
    spelled = {byte: character for character, byte in alphabet.items()}
    for text in map(chr, range(0x250)):
        tokens = [spelled[byte] for byte in text.encode()]
        assert decoders.ByteLevel().decode(tokens) == text


CHANGES = {
    "normalizer": [{"type": "Lowercase"}, {"type": "NFKC"}, {"type": "Strip"}],
    "pre_tokenizer": [
        None,
        {"type": "Whitespace"},
        {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"String": " "}, "behavior": "Removed"},
            {"type": "ByteLevel", "add_prefix_space": False},
        ]},
    ],
    "decoder": [None, {"type": "Fuse"}],
}  # fmt: skip


@pytest.mark.parametrize(("part", "value"), [(k, v) for k, vs in CHANGES.items() for v in vs])
def test_id_bytes__are_not_told_of_what_is_not_surely_fixed(part, value, tmp_path):
    definition = json.loads(Path(EXACT["byte level"](tmp_path), "tokenizer.json").read_text())
    assert id_bytes(definition, 400, 0, []) is not None
    assert id_bytes(definition | {part: value}, 400, 0, []) is None


def test_id_bytes__an_alphabet_with_a_gap_is_not_enough(tmp_path):
    definition = json.loads(Path(EXACT["byte level"](tmp_path), "tokenizer.json").read_text())
    del definition["model"]["vocab"]["ÿ"]
    assert id_bytes(definition, 400, 0, []) is None


def test_id_bytes__tokens_that_take_white_space_are_uncertain(tmp_path):
    source = EXACT["byte level, stripping"](tmp_path / "given")
    setting = keep_tokenizer(tmp_path / "kept", source, "auto", "auto")
    sizes = np.load(tmp_path / "kept" / BYTES_FILE)
    assert sizes.dtype == np.uint16
    assert [sizes[id] for id in setting.lossy_tokens.values()] == [UNCERTAIN] * 3
    assert sizes[setting.end_of_text_id] == 0


@pytest.mark.parametrize(("swallowed", "hidden"), [(2, True), (0, False)])
def test_hidden_loss__finds_a_table_that_is_wrong(swallowed, hidden, tmp_path):
    source = EXACT["byte level, stripping"](tmp_path / "given")
    setting = keep_tokenizer(tmp_path / "kept", source, "auto", "auto")
    sizes = np.load(tmp_path / "kept" / BYTES_FILE)
    sizes[setting.lossy_tokens["<tag>"]] = len("<tag>") + swallowed
    reference, text = load_kept(tmp_path / "kept", setting), "a  <tag>b"
    found = hidden_loss(reference, IdBytes(sizes, 0), ["a", text], [])
    assert found == (text if hidden else None)


def facts(path: Path, lost: dict, **by_source: tuple[int, int]) -> Path:
    figures = {
        source: dict.fromkeys(LOSS_SUMS, 0) | {"characters": of, "lost_characters": lost}
        for source, (lost, of) in by_source.items()
    }
    save_json(path, {"by_source": figures, "lost": lost})
    return path


@pytest.mark.parametrize(("lost", "told"), [(0, False), (10, False), (11, True)])
def test_too_many_losses__are_of_all_shards_of_a_source(lost, told, tmp_path):
    whole = facts(tmp_path / "0.json", {}, web=(0, 4000), books=(0, 9))
    one = facts(tmp_path / "1.json", {}, web=(lost, 6000))
    assert bool(too_many_losses([whole, one], 0.001)) is told
    assert not too_many_losses([whole, one], 1)


def test_too_many_losses__show_three_examples(tmp_path):
    lost = {"web": [{"id": n, "text": "a水b", "back": "ab"} for n in (7, 8)]}
    shards = [facts(tmp_path / f"{n}.json", lost, web=(2, 100)) for n in range(2)]
    assert too_many_losses(shards, 0.001) == [
        "source web: 4 of 200 characters are lost in tokenization (2.00%), "
        "but tokenizer.max_lost_fraction allows only 0.10%",
        *[f"  document {id}: 'a水b' comes back as 'ab'" for id in (7, 8, 7)],
    ]
