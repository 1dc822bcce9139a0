"""Tokenizers of a few hundred tokens, of the kinds that are met: with and without losses."""

import json
import random
import string
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from qa.fuzz import texts

END = "<|endoftext|>"


def _byte_level(normalizer=None):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return tokenizer, trainers.BpeTrainer, {"initial_alphabet": sorted(alphabet)}, [END, "<think>"]


def _metaspace():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    tokenizer.decoder = decoders.Sequence([*steps, decoders.Strip(" ", 1, 0)])
    fallback = [f"<0x{byte:02X}>" for byte in range(256)]
    return tokenizer, trainers.BpeTrainer, {}, ["<unk>", END, *fallback]


def _wordpiece():
    """With a vocabulary by hand: its trainer orders the alphabet by chance."""
    pieces = sorted({*string.ascii_lowercase, *texts.SYLLABLES})
    special = ["[UNK]", "[SEP]", END]
    words = [*special, *pieces, *(f"##{piece}" for piece in pieces), *string.punctuation]
    vocabulary = {token: number for number, token in enumerate(words)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.add_special_tokens(special)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    return tokenizer, None, {}, special


def _without_fallback():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer, trainers.BpeTrainer, {}, ["<unk>", END]


KINDS = {
    "byte-level": _byte_level,
    "byte-level NFC": lambda: _byte_level(normalizers.NFC()),
    "metaspace": _metaspace,
    "wordpiece": _wordpiece,
    "without fallback": _without_fallback,
}


def write(random: random.Random, folder: Path, kind: str) -> None:
    """A tokenizer folder as AutoTokenizer loads it, trained on a little prose."""
    tokenizer, trainer, options, special = KINDS[kind]()
    if trainer:
        learned = [texts.sentence(random) for _ in range(100)]
        size = len(special) + random.choice([300, 400])
        asked = {"vocab_size": size, "special_tokens": special, "show_progress": False} | options
        tokenizer.train_from_iterator(learned, trainer(**asked))
    if kind == "metaspace":  # bytes of the fallback are tokens, but not special ones
        definition = json.loads(tokenizer.to_str())
        definition["added_tokens"] = definition["added_tokens"][:2]
        tokenizer = Tokenizer.from_str(json.dumps(definition))
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    setting = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": END,
        "clean_up_tokenization_spaces": False,
    }
    if special[0] != END:
        setting["unk_token"] = special[0]
    (folder / "tokenizer_config.json").write_text(json.dumps(setting), "utf-8")
