"""Small tokenizers of every kind, made here: harmless ones, and such as destroy text."""

import json
from pathlib import Path

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)

SAMPLE = [
    "the miller opened the sluice before sunrise, and the wheel began to turn. ",
    "def f(x):\n    return x + 1  # one more\n\n\tx = 1\n",
    "Hello, world! It's 2026; they'll pay $1,234.56 for café and Größe. ",
    "The miller opened the sluice.\nThe Miller",
] * 9
END = "<|endoftext|>"


def saved(folder: Path, tokenizer: Tokenizer, **options) -> str:
    """A tokenizer built with `tokenizers`, saved as transformers loads it."""
    from transformers import PreTrainedTokenizerFast

    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **options).save_pretrained(folder)
    return str(folder)


def config_only(folder: Path) -> str:
    """transformers makes a tokenizer of it that has one token and gives no text an id."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {"tokenizer_class": "GPT2Tokenizer", "eos_token": END}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return str(folder)


def trained(tokenizer: Tokenizer, kind=trainers.BpeTrainer, **options) -> Tokenizer:
    wanted = {"vocab_size": 400, "special_tokens": [END], "show_progress": False} | options
    tokenizer.train_from_iterator(SAMPLE, kind(**wanted))
    return tokenizer


def byte_level_tokenizer(prefix: bool = False, normalizer=None, added=()) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    tokenizer.decoder = decoders.ByteLevel()
    trained(tokenizer, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.add_tokens(list(added))
    return tokenizer


def byte_level(folder: Path, **how) -> str:
    return saved(folder, byte_level_tokenizer(**how), eos_token=END)


def chat(folder: Path, eos: str, *others: str) -> str:
    """A byte-level one that has END and these; others are marked as special and nobody's name."""
    tokenizer = byte_level_tokenizer()
    tokenizer.add_special_tokens([eos, *others])
    return saved(folder, tokenizer, eos_token=eos)


def lower_casing(folder: Path) -> str:
    normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    return byte_level(folder, normalizer=normalizer)


def metaspace(folder: Path, as_normalizer: bool = False, scheme: str = "first", added=()) -> str:
    """As Llama has: spaces are ▁, what is not in the vocabulary is spelled in bytes."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=True)
    trained(tokenizer, special_tokens=["<unk>", END])
    definition = json.loads(tokenizer.to_str())
    model, words = definition["model"], definition["model"]["vocab"]
    spelled = ["<unk>", END, *(f"<0x{byte:02X}>" for byte in range(256))]
    model["vocab"] = {
        token: id for id, token in enumerate([*spelled, *sorted(set(words) - set(spelled))])
    }
    tokenizer = Tokenizer.from_str(json.dumps(definition))
    last = [decoders.Strip(" ", 1, 0)] if scheme != "never" else []
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), *last]
    )
    if as_normalizer:
        tokenizer.pre_tokenizer = None
        steps = [normalizers.Replace(" ", "▁")]
        steps = [normalizers.Prepend("▁"), *steps] if scheme != "never" else steps
        tokenizer.normalizer = normalizers.Sequence(steps)
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=False)
    tokenizer.add_tokens(list(added))
    return saved(folder, tokenizer, eos_token=END, unk_token="<unk>")


def unigram(folder: Path) -> str:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trained(tokenizer, trainers.UnigramTrainer, special_tokens=["<unk>", END], unk_token="<unk>")
    return saved(folder, tokenizer, eos_token=END, unk_token="<unk>")


def word_piece(folder: Path) -> str:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trained(tokenizer, trainers.WordPieceTrainer, special_tokens=["[UNK]", "[SEP]"])
    return saved(folder, tokenizer, unk_token="[UNK]", eos_token="[SEP]")


def word_level(folder: Path) -> str:
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"\s+"), "isolated")
    tokenizer.decoder = decoders.Fuse()
    trained(tokenizer, trainers.WordLevelTrainer, special_tokens=["<unk>", END])
    return saved(folder, tokenizer, unk_token="<unk>", eos_token=END)


def without_bytes(folder: Path) -> str:
    """A BPE of the characters it has seen; others vanish without a trace."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return saved(folder, trained(tokenizer), eos_token=END)


STRIPPING = [
    AddedToken("<tag>", lstrip=True, special=False, normalized=False),
    AddedToken("<end>", rstrip=True, special=False, normalized=False),
    AddedToken("<both>", lstrip=True, rstrip=True, special=False, normalized=True),
    AddedToken("word", single_word=True, special=False, normalized=False),
]

EXACT = {
    "byte level": byte_level,
    "byte level, prefix": lambda folder: byte_level(folder, prefix=True),
    "byte level, NFC": lambda folder: byte_level(folder, normalizer=normalizers.NFC()),
    "byte level, stripping": lambda folder: byte_level(folder, added=STRIPPING),
    "byte level, prefix, stripping": lambda folder: byte_level(
        folder, prefix=True, added=STRIPPING
    ),
    "metaspace": metaspace,
    "metaspace, always": lambda folder: metaspace(folder, scheme="always", added=STRIPPING),
    "metaspace, never": lambda folder: metaspace(folder, scheme="never"),
    "metaspace, normalizer": lambda folder: metaspace(folder, as_normalizer=True),
    "metaspace, normalizer, never": lambda folder: metaspace(
        folder, as_normalizer=True, scheme="never", added=STRIPPING
    ),
}
"""Tokenizers whose every id stands for fixed bytes."""

LOSSY = {
    "lower-casing": lower_casing,
    "unigram": unigram,
    "word piece": word_piece,
    "word level": word_level,
    "without bytes": without_bytes,
}
