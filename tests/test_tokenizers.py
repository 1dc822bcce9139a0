"""Tokenizers: kept once, encoded by whichever engine gives the reference's ids."""

import os
import re
import time
from pathlib import Path

import numpy as np
import pytest
from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizer_kinds import EXACT, LOSSY, byte_level, metaspace, saved
from tokenizers import AddedToken

from corpusmill.mill.storage.files import writing
from corpusmill.mill.tokens import tokenizers
from corpusmill.mill.tokens.probes import PROBES
from corpusmill.mill.tokens.shard_checks import starts_with
from corpusmill.mill.tokens.tokenizer_folder import (
    LONGEST_RUN,
    chosen_engine,
    end_of_text_of,
    keep_tokenizer,
    tell,
    train_tokenizer,
    without_long_runs,
)
from corpusmill.mill.tokens.tokenizers import (
    SETTING_FILE,
    LightReference,
    TokenizerFacts,
    decoded,
    definition_of,
    encoder_of,
    first_difference,
    gigatoken_encoder,
    gives_back,
    load_kept,
    load_reference,
    plain_definition,
    reference_encoder,
    reference_ids,
)

LITERALS = ["<|endoftext|>", "<|im_end|>", "<think>", "</s>"]
texts = st.lists(
    st.lists(st.sampled_from(LITERALS) | st.text(max_size=8), max_size=4).map("".join), max_size=5
)


def gigatoken_of(reference):
    return gigatoken_encoder(plain_definition(definition_of(reference)))


@pytest.fixture(scope="module")
def tiny(tiny_tokenizer):
    return load_reference(str(tiny_tokenizer[0]))


@pytest.fixture(scope="module")
def tiny_gigatoken(tiny):
    return gigatoken_of(tiny)


@pytest.fixture(scope="module")
def tiny_light(tiny_tokenizer):
    return LightReference(tiny_tokenizer[0])


def utf8(texts: list[str]) -> list[bytes]:
    return [text.encode() for text in texts]


def rows(encoded) -> list[list[int]]:
    assert all(ids.dtype == np.uint32 for ids in encoded)
    return [ids.tolist() for ids in encoded]


def word_level(folder: Path, vocabulary: dict[str, int], **options) -> str:
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return saved(folder, tokenizer, unk_token="<unk>", **options)


WORDS = {"<unk>": 0, "<eos>": 1, "Hello": 2, "miller": 3, "x": 4}
OTHERS = {kind: LOSSY[kind] for kind in ("word level", "word piece", "unigram", "without bytes")}


def test_train_tokenizer__a_word_of_millions_of_characters_is_no_hang(tmp_path):
    begun = time.process_time()
    train_tokenizer(tmp_path, ["one two\n" + "x" * 1_000_000, " " * 1_000_000 + "three"], 300)
    assert time.process_time() - begun < 30
    assert load_reference(str(tmp_path)).tokenize("x" * 4096) == ["x" * 4096]


def test_without_long_runs__cuts_these_and_nothing_else():
    long, short = "x" * (2 * LONGEST_RUN + 1), "y" * LONGEST_RUN
    text = f"a {long} {short}\n{short} b" + "\n" * (LONGEST_RUN + 1) + long
    pieces = list(without_long_runs(text))
    assert "".join(pieces) == text
    assert max(len(run) for piece in pieces for run in re.findall(r"\S+|\s+", piece)) == LONGEST_RUN
    assert len(pieces) == 1 + 2 + 1 + 2
    for kept in ("", "a b", f"{short} {short}\n" * 3):
        assert list(without_long_runs(kept)) == [kept]


def test_keep_tokenizer__knows_what_later_steps_need(tiny_tokenizer, tiny):
    folder, setting = tiny_tokenizer
    assert setting == TokenizerFacts(
        source="train",
        vocabulary=len(tiny),
        end_of_text="<|endoftext|>",
        end_of_text_id=tiny.eos_token_id,
        dtype="uint16",
        engine="gigatoken",
        light=True,
        lossless=True,
        lossy_tokens={},
        normalizer=[],
        unknown_ids=[],
        added_bytes=0,
    )
    assert 257 <= setting.vocabulary <= 330
    assert TokenizerFacts.load(folder) == setting
    assert (folder / SETTING_FILE).is_file()


@pytest.mark.parametrize(("top", "dtype"), [(65535, "uint16"), (65536, "uint32")])
def test_keep_tokenizer__takes_the_smallest_dtype_that_fits(tmp_path, top, dtype):
    words = WORDS | {f"w{n}": n for n in range(5, top + 1)}
    source = word_level(tmp_path / "given", words, eos_token="<eos>")
    setting = keep_tokenizer(tmp_path / "kept", source, "auto", "reference")
    assert (setting.vocabulary, setting.dtype) == (top + 1, dtype)


def test_keep_tokenizer__every_id_is_below_the_vocabulary_and_fits_the_dtype(tmp_path):
    source = word_level(tmp_path / "given", WORDS | {"far": 70_000}, eos_token="<eos>")
    setting = keep_tokenizer(tmp_path / "kept", source, "auto", "reference")
    (ids,) = reference_ids(load_reference(source), ["far"])
    assert max(ids) < setting.vocabulary
    assert setting.dtype == "uint32"


@pytest.mark.parametrize("kind", OTHERS)
def test_keep_tokenizer__falls_back_where_gigatoken_cannot(kind, tmp_path):
    source = OTHERS[kind](tmp_path / "given")
    setting = keep_tokenizer(tmp_path / "kept", source, "auto", "auto")
    assert (setting.engine, setting.lossless) == ("reference", False)
    reference = load_reference(str(tmp_path / "kept"))
    assert first_difference(reference, encoder_of(tmp_path / "kept", setting), PROBES) is None


def test_keep_tokenizer__wanted_gigatoken_does_not_fall_back(tmp_path):
    source = OTHERS["word piece"](tmp_path / "given")
    with pytest.raises(ValueError, match=r"tokenizer\.engine: gigatoken does not give"):
        keep_tokenizer(tmp_path / "kept", source, "auto", "gigatoken")


@pytest.mark.some(4)
@pytest.mark.parametrize("kind", EXACT)
def test_keep_tokenizer__exact_ones_are_lossless(kind, tmp_path):
    setting = keep_tokenizer(tmp_path / "kept", EXACT[kind](tmp_path / "given"), "auto", "auto")
    assert (setting.lossless, setting.light) == (True, True)
    assert setting.added_bytes is not None


def test_keep_tokenizer__names_tokens_that_swallow_white_space(tmp_path, caplog):
    source = EXACT["byte level, stripping"](tmp_path / "given")
    setting = keep_tokenizer(tmp_path / "kept", source, "auto", "auto")
    assert list(setting.lossy_tokens) == ["<tag>", "<end>", "<both>"]
    assert set(setting.lossy_tokens.values()) <= set(range(setting.vocabulary))
    tell(setting)
    assert "these tokens change the text beside them: '<tag>', '<end>'" in caplog.text


def test_keep_tokenizer__is_lossless_though_a_probe_has_a_token_that_swallows(tmp_path):
    added = [AddedToken("<think>", lstrip=True, rstrip=True, special=False)]
    source = byte_level(tmp_path / "given", added=added)
    setting = keep_tokenizer(tmp_path / "kept", source, "auto", "auto")
    assert (setting.lossless, list(setting.lossy_tokens)) == (True, ["<think>"])


@pytest.mark.parametrize("kind", [kind for kind in EXACT if "stripping" in kind])
def test_keep_tokenizer__chooses_the_engine_by_its_own_tokens(kind, tmp_path):
    setting = keep_tokenizer(tmp_path / "kept", EXACT[kind](tmp_path / "given"), "auto", "auto")
    encode, reference = (
        encoder_of(tmp_path / "kept", setting),
        load_kept(tmp_path / "kept", setting),
    )
    beside = ["a <tag>\n<end> \tb<both>  c", "word sword words\nword", " <end><tag> "]
    assert first_difference(reference, encode, beside) is None


def test_keep_tokenizer__tells_what_the_normalizer_does(tmp_path, caplog):
    caplog.set_level("INFO")
    source = LOSSY["lower-casing"](tmp_path / "given")
    setting = keep_tokenizer(tmp_path / "kept", source, "auto", "auto")
    assert setting.normalizer == ["NFKC", "Lowercase"]
    tell(setting)
    assert "the tokenizer's own normalizer changes texts: NFKC, Lowercase" in caplog.text


@pytest.mark.parametrize("kind", ["byte level", "metaspace, normalizer"])
def test_keep_tokenizer__what_the_decoder_undoes_is_no_change(kind, tmp_path):
    setting = keep_tokenizer(tmp_path / "kept", EXACT[kind](tmp_path / "given"), "auto", "auto")
    assert setting.normalizer == []


def test_chosen_engine__reference_is_not_questioned(tiny):
    assert chosen_engine(tiny, "reference", PROBES, definition_of(tiny)) == "reference"
    for wanted in ("auto", "gigatoken"):
        assert chosen_engine(tiny, wanted, PROBES, definition_of(tiny)) == "gigatoken"


@examples(200)
@given(texts=texts)
@example(texts=PROBES)
@example(texts=[])
@example(texts=["", "", "a", ""])
def test_gigatoken_encoder__equals_reference(tiny, tiny_gigatoken, texts):
    assert rows(tiny_gigatoken(utf8(texts))) == reference_ids(tiny, texts)


@given(texts=texts)
@example(texts=PROBES)
def test_light_reference__equals_reference(tiny, tiny_light, texts):
    ids = reference_ids(tiny, texts)
    assert reference_ids(tiny_light, texts) == ids
    with_ends = [[*one, tiny.eos_token_id] for one in ids]
    assert [decoded(tiny_light, one) for one in with_ends] == [
        decoded(tiny, one) for one in with_ends
    ]


@pytest.mark.some(2)
@pytest.mark.parametrize("kind", OTHERS)
def test_load_kept__gives_the_ids_of_the_given_tokenizer(kind, tmp_path):
    source = OTHERS[kind](tmp_path / "given")
    setting = keep_tokenizer(tmp_path / "kept", source, "auto", "reference")
    kept = load_kept(tmp_path / "kept", setting)
    expected = reference_ids(load_reference(source), PROBES)
    assert reference_ids(kept, PROBES) == expected
    assert load_kept(tmp_path / "kept", setting._replace(light=False)).is_fast


@given(texts=texts)
def test_gives_back__any_text_of_a_byte_level_tokenizer(tiny, texts):
    for text, ids in zip(texts, reference_ids(tiny, texts), strict=True):
        assert gives_back(tiny, ids, text)
        assert decoded(tiny, ids) == text
        assert tiny.eos_token_id not in ids  # a literal end-of-text is text


@pytest.mark.parametrize("scheme", ["first", "always"])
@pytest.mark.parametrize("spaces", range(4))
def test_gives_back__a_text_that_begins_with_spaces(tmp_path, scheme, spaces):
    reference = load_reference(metaspace(tmp_path, scheme=scheme))
    text = " " * spaces + "the miller"
    (ids,) = reference_ids(reference, [text])
    assert gives_back(reference, ids, text)
    assert starts_with(reference, ids, text + " opened the sluice before sunrise")
    assert not gives_back(reference, ids, text[:-1])
    assert not gives_back(reference, ids, "   " + text)


def test_gives_back__a_text_with_the_sign_that_stands_for_a_space(tmp_path):
    reference = load_reference(metaspace(tmp_path))
    for text in ("a ▁ sign", "▁ ▁▁the miller", "▁"):
        (ids,) = reference_ids(reference, [text])
        assert gives_back(reference, ids, text)
        assert not gives_back(reference, ids, text.replace("▁", "_"))


def test_first_difference__says_text_and_place(tiny):
    def one_wrong(sample):
        encoded = reference_encoder(tiny)(sample)
        encoded[1][1] += 1
        return encoded

    assert first_difference(tiny, reference_encoder(tiny), ["abc", "xyz"]) is None
    got = first_difference(tiny, one_wrong, ["abc", "xyz"])
    assert got.startswith("text 1 ('xyz'): id 1 is [")


def test_first_difference__finds_a_text_cut_short(tiny):
    def cut(sample):
        return [ids[:-1] for ids in reference_encoder(tiny)(sample)]

    assert "id 2 is []" in first_difference(tiny, cut, ["q7z"])


@pytest.mark.parametrize(
    ("options", "wanted", "expected"),
    [
        ({}, "auto", r"this tokenizer names no eos_token"),
        ({"eos_token": "<eos>"}, "<end>", r"<end> is not a token of this tokenizer.*<eos>"),
        ({"eos_token": "<eos>"}, "Hello", r"Hello is not a special token, so a text could"),
    ],
)
def test_end_of_text_of__refuses_what_cannot_end_a_text(tmp_path, options, wanted, expected):
    reference = load_reference(word_level(tmp_path / "t", WORDS, **options))
    with pytest.raises(ValueError, match=rf"tokenizer\.end_of_text: .*{expected}"):
        end_of_text_of(reference, wanted, reference.get_vocab())


def test_keep_tokenizer__is_told_what_stands_in_the_shards(tmp_path):
    given = word_level(
        tmp_path / "given", WORDS, eos_token="<eos>", additional_special_tokens=["<end>"]
    )
    facts = keep_tokenizer(tmp_path / "kept", str(given), "<end>", "reference")
    kept = load_reference(str(tmp_path / "kept"))
    assert (kept.eos_token, kept.eos_token_id) == ("<end>", facts.end_of_text_id)


def test_end_of_text_of__is_the_eos_token_or_the_special_token_named(tmp_path):
    source = word_level(tmp_path / "t", WORDS, eos_token="<eos>")
    reference = load_reference(source)
    assert end_of_text_of(reference, "auto", reference.get_vocab()) == ("<eos>", 1)
    assert end_of_text_of(reference, "<unk>", reference.get_vocab()) == ("<unk>", 0)


def test_load_reference__of_an_empty_folder_says_what_to_give(tmp_path):
    with pytest.raises(ValueError, match=r"tokenizer\.source: transformers cannot load .*Give a"):
        load_reference(str(tmp_path))


@pytest.fixture(scope="module", params=[pytest.param("qwen3", marks=pytest.mark.whole), "gpt2"])
def real(request):
    """A real tokenizer: (its name, the reference)."""
    folder = Path(os.environ.get("CORPUSMILL_DATA") or "missing") / "tokenizers" / request.param
    if not folder.is_dir():
        pytest.skip(f"needs CORPUSMILL_DATA, a folder with tokenizers/{request.param}")
    return request.param, load_reference(str(folder))


def test_real_tokenizers__ids_are_the_published_ones(real):
    name, reference = real
    expected = {"qwen3": [9707, 11, 1879, 0], "gpt2": [15496, 11, 995, 0]}[name]
    for encode in (
        gigatoken_of(reference),
        reference_encoder(reference),
    ):
        assert rows(encode([b"Hello, world!"])) == [expected]


@pytest.mark.parametrize("literal", ["<|endoftext|>", "<|im_end|>"])
def test_real_tokenizers__a_literal_control_token_is_text(real, literal):
    _, reference = real
    (ids,) = rows(gigatoken_of(reference)(utf8([f"a {literal}b"])))
    assert not set(ids) & set(reference.all_special_ids)
    assert reference.decode(ids) == f"a {literal}b"


def test_real_tokenizers__an_added_token_that_is_not_special_stays_one(real):
    name, reference = real
    (ids,) = rows(gigatoken_of(reference)([b"<think>"]))
    assert ids == [151667] if name == "qwen3" else len(ids) > 1


def test_real_tokenizers__kept_ones_are_light_lossless_and_equal(real, tmp_path):
    _, reference = real
    setting = keep_tokenizer(tmp_path, reference.name_or_path, "<|endoftext|>", "auto")
    assert (setting.engine, setting.light, setting.lossless) == ("gigatoken", True, True)
    kept = load_kept(tmp_path, setting)
    assert reference_ids(kept, PROBES) == reference_ids(reference, PROBES)
    assert first_difference(reference, encoder_of(tmp_path, setting), PROBES) is None


def test_hold__is_of_a_file_until_it_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(tokenizers, "_HELD", {})
    first = keep_tokenizer(tmp_path / "a", byte_level(tmp_path / "given"), "auto", "auto")
    other = keep_tokenizer(tmp_path / "b", metaspace(tmp_path / "other"), "auto", "auto")
    fresh = load_kept(tmp_path / "b", other)
    tokenizers.hold(tmp_path / "a")
    assert len(tokenizers._HELD) == 1 + (first.engine == "gigatoken")
    held = load_kept(tmp_path / "a", first)
    assert held.backend_tokenizer in tokenizers._HELD.values()
    assert first_difference(held, encoder_of(tmp_path / "a", first), PROBES) is None
    again = load_kept(tmp_path / "b", other)
    assert reference_ids(again, PROBES) == reference_ids(fresh, PROBES)
    for name in ("tokenizer.json", tokenizers.PLAIN_FILE):
        changed = (tmp_path / "b" / name).read_bytes()
        before = (tmp_path / "a" / name).stat()
        with open(tmp_path / "a" / name, "r+b") as file:  # in place
            file.truncate(0)
            file.write(changed)
        os.utime(tmp_path / "a" / name, ns=(before.st_atime_ns, before.st_mtime_ns))
    changed = load_kept(tmp_path / "a", first)
    assert changed.backend_tokenizer not in tokenizers._HELD.values()
    assert reference_ids(changed, PROBES) == reference_ids(fresh, PROBES)
    encoder = encoder_of(tmp_path / "a", first._replace(engine=other.engine))
    assert first_difference(fresh, encoder, PROBES) is None


def test_hold__two_libraries_with_one_definition(tmp_path, monkeypatch):
    monkeypatch.setattr(tokenizers, "_HELD", {})
    setting = keep_tokenizer(tmp_path / "a", byte_level(tmp_path / "given"), "auto", "gigatoken")
    definition = tmp_path / "a" / tokenizers.PLAIN_FILE
    # As written by transformers, the two files differ at least in their layout.
    with writing(tmp_path / "a/tokenizer.json", kept=True) as file:
        file.write(definition.read_bytes())
    tokenizers.hold(tmp_path / "a")
    assert len(tokenizers._HELD) == 2
    reference = load_kept(tmp_path / "a", setting)
    assert first_difference(reference, encoder_of(tmp_path / "a", setting), PROBES) is None
