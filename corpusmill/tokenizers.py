"""Tokenizers: loaded once by transformers, kept beside the run, encoded with the fastest engine.

The reference for every id is `tokenizer(text, add_special_tokens=False,
split_special_tokens=True)` of transformers: a special token's string inside a text is text.
"""

import logging
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from corpusmill.files import load_json, replacing, save_json

SETTING_FILE = "corpusmill.json"
PLAIN_FILE = "corpusmill-plain.json"

PROBES = [
    "",
    " ",
    "\n\n \t x\r\n",
    "Hello, world! It's 2026; they'll pay $1,234.56 (~3e-4).",
    "def f(x):\n    return x ** 2  # square\n\n\n\tif x: pass",
    "<|endoftext|> <|im_end|> <|im_start|> <s> </s> [CLS] <think>text</think>",
    "Größe, naïve café, coöperate — “quotes” … ½ ﬁ Ǆ",
    unicodedata.normalize("NFD", "Größe, naïve café; Việt Nam; がぎぐ; 한국어"),
    "Ελληνικά: ΑΣ ΣΑΣ. Русский текст, ещё. עברית العربية हिन्दी ไทย",
    "漢字かな交じり文、全角　スペース。中文没有空格的句子。한국어 문장입니다.",
    "👩‍👩‍👧‍👦 🏳️‍🌈 e\u0301\u200b\u00a0\ufeff\u2028 \U0001f600\U00020000 \x00\x07",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 0000000000000000000000000 ////",
]
"""Texts on which two engines that differ are likely to differ."""


class Setting(NamedTuple):
    """What encode and verify must know of a tokenizer; stored as corpusmill.json beside it."""

    source: str
    vocabulary: int  # len(tokenizer), or more if ids have gaps: every id is below
    end_of_text: str
    end_of_text_id: int
    dtype: str  # uint16 or uint32
    engine: str  # gigatoken or reference
    light: bool  # jobs may use LightReference
    lossless: bool  # decoding gives the text back

    @classmethod
    def load(cls, folder: Path) -> "Setting":
        return cls(**load_json(Path(folder) / SETTING_FILE))


def load_reference(source: str):
    """The transformers tokenizer of a local folder or hub id."""
    from transformers import AutoTokenizer
    from transformers.utils import logging as transformers_logging

    transformers_logging.set_verbosity_error()  # no word about texts beyond a model's context
    try:
        return AutoTokenizer.from_pretrained(source)
    except (OSError, ValueError, ImportError) as error:
        raise ValueError(
            f"tokenizer.source: transformers cannot load {source} "
            f"({str(error).splitlines()[0]}). Give a folder with tokenizer.json, a hub id that "
            "this machine can reach, or train."
        ) from error


class LightReference:
    """What jobs use of a fast transformers tokenizer, without the second it takes to load.

    It makes the calls to the `tokenizers` library that transformers makes. keep_tokenizer has
    compared the two on PROBES before any job uses this.
    """

    is_fast = True

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        self.backend_tokenizer = Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))
        self.backend_tokenizer.no_truncation()
        self.backend_tokenizer.no_padding()

    def __call__(
        self, texts: list[str], add_special_tokens: bool, split_special_tokens: bool
    ) -> dict[str, list[list[int]]]:
        self.backend_tokenizer.encode_special_tokens = split_special_tokens
        encoded = self.backend_tokenizer.encode_batch(texts, add_special_tokens=add_special_tokens)
        return {"input_ids": [one.ids for one in encoded]}

    def decode(
        self, ids: list[int], skip_special_tokens: bool, clean_up_tokenization_spaces: bool
    ) -> str:
        del clean_up_tokenization_spaces  # transformers does it afterwards; here nobody asks for it
        return self.backend_tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)


def load_kept(folder: Path, setting: Setting):
    """The reference tokenizer of the run, as light as it comes."""
    return LightReference(folder) if setting.light else load_reference(str(folder))


def reference_ids(reference, texts: list[str]) -> list[list[int]]:
    if not texts:
        return []
    return reference(texts, add_special_tokens=False, split_special_tokens=True)["input_ids"]


def plain_definition(reference) -> str:
    """tokenizer.json without its special added tokens: their strings then are plain text."""
    if not getattr(reference, "is_fast", False):
        raise ValueError("it has no tokenizer.json")
    written = reference.backend_tokenizer.to_str().encode("utf-8")
    members = msgspec.json.decode(written, type=dict[str, msgspec.Raw])
    added = msgspec.json.decode(members["added_tokens"])
    plain = msgspec.json.encode([token for token in added if not token["special"]])
    members["added_tokens"] = msgspec.Raw(plain)
    for name in ("post_processor", "truncation", "padding"):
        members[name] = msgspec.Raw(b"null")
    return msgspec.json.encode(members).decode("utf-8")


def normalized(reference, text: str) -> str:
    """A text as the tokenizer itself normalises it before it splits it."""
    if not getattr(reference, "is_fast", False) or not reference.backend_tokenizer.normalizer:
        return text
    return reference.backend_tokenizer.normalizer.normalize_str(text)


def decoded(reference, ids) -> str:
    return reference.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)


def gives_back(reference, ids, text: str) -> bool:
    """Whether ids decode to the text, or to what the tokenizer normalises it to."""
    return decoded(reference, ids) in (text, normalized(reference, text))


Encoder = Callable[[list[bytes]], list[np.ndarray]]
"""Texts in UTF-8 to the ids of each, uint32."""


def reference_encoder(reference) -> Encoder:
    def encode(texts: list[bytes]) -> list[np.ndarray]:
        found = reference_ids(reference, [text.decode() for text in texts])
        return [np.array(ids, np.uint32) for ids in found]

    return encode


def gigatoken_encoder(definition: str) -> Encoder:
    """definition: what `plain_definition` makes of the reference."""
    import gigatoken

    # Text by text: encode_batch is no faster on one core, imports awkward for its result, and has
    # texts and ids in large buffers that are made anew for every batch.
    ids_of = gigatoken.Tokenizer.from_json(definition).backend.encode
    return lambda texts: [ids_of(text) for text in texts]


def first_difference(reference, encode: Encoder, texts: list[str]) -> str | None:
    """The first text whose ids are not the reference's, in words; None if all are equal."""
    found = encode([text.encode() for text in texts])
    for i, expected in enumerate(reference_ids(reference, texts)):
        got = found[i].tolist()
        if got != expected:
            place = next(
                (k for k, (x, y) in enumerate(zip(got, expected, strict=False)) if x != y),
                min(len(got), len(expected)),
            )
            return (
                f"text {i} ({texts[i][:60]!r}): id {place} is {got[place : place + 3]}, "
                f"the reference has {expected[place : place + 3]}"
            )
    return None


def encoder_of(folder: Path, setting: Setting) -> Encoder:
    if setting.engine == "gigatoken":
        return gigatoken_encoder((Path(folder) / PLAIN_FILE).read_text("utf-8"))
    return reference_encoder(load_kept(folder, setting))


def chosen_engine(reference, wanted: str) -> str:
    """gigatoken where it loads the tokenizer and gives the reference's ids for PROBES."""
    if wanted == "reference":
        return wanted
    try:
        encode = gigatoken_encoder(plain_definition(reference))
        difference = first_difference(reference, encode, PROBES)
    except (ValueError, RuntimeError, KeyError, TypeError, NotImplementedError) as error:
        difference = f"it cannot load this tokenizer ({error})"
    if difference is None:
        return "gigatoken"
    if wanted == "gigatoken":
        raise ValueError(
            f"tokenizer.engine: gigatoken does not give the reference's ids: {difference}. "
            "Set tokenizer.engine to auto or reference."
        )
    logging.warning("gigatoken is not used, encoding is slower: %s", difference)
    return "reference"


def end_of_text_of(reference, wanted: str) -> tuple[str, int]:
    """The token that ends documents, and its id."""
    token = reference.eos_token if wanted == "auto" else wanted
    if token is None:
        raise ValueError(
            "tokenizer.end_of_text: this tokenizer names no eos_token. Name one of its tokens: "
            f"{', '.join(map(str, reference.all_special_tokens)) or 'it has no special tokens'}."
        )
    id = reference.get_vocab().get(token)
    if id is None:
        raise ValueError(
            f"tokenizer.end_of_text: {token} is no token of this tokenizer. "
            f"Its special tokens: {', '.join(map(str, reference.all_special_tokens))}."
        )
    if token not in reference.all_special_tokens:
        raise ValueError(
            f"tokenizer.end_of_text: {token} is not a special token, so a text could contain it. "
            f"Special tokens: {', '.join(map(str, reference.all_special_tokens))}."
        )
    return token, id


def keep_tokenizer(
    folder: Path, source: str, end_of_text: str, engine: str, name: str | None = None
) -> Setting:
    """Load a tokenizer, find out what later steps must know, and save both to `folder`.

    name: what to call it, when `source` is a path that means nothing later.
    """
    reference = load_reference(source)
    token, id = end_of_text_of(reference, end_of_text)
    reference.save_pretrained(folder)
    # A vocabulary with gaps has ids beyond its length.
    vocabulary = max(len(reference), max(reference.get_vocab().values()) + 1)
    setting = Setting(
        source=name or source,
        vocabulary=vocabulary,
        end_of_text=token,
        end_of_text_id=id,
        dtype="uint16" if vocabulary <= 1 << 16 else "uint32",
        engine=chosen_engine(reference, engine),
        light=_is_light(reference, folder),
        lossless=all(
            gives_back(reference, ids, probe)
            for probe, ids in zip(PROBES, reference_ids(reference, PROBES), strict=True)
        ),
    )
    if setting.engine == "gigatoken":
        with replacing(Path(folder) / PLAIN_FILE) as temporary:
            temporary.write_text(plain_definition(reference), "utf-8")
    save_json(Path(folder) / SETTING_FILE, setting._asdict())
    return setting


def _is_light(reference, folder: Path) -> bool:
    """Whether LightReference does just what the reference does on PROBES."""
    if not getattr(reference, "is_fast", False) or not (Path(folder) / "tokenizer.json").exists():
        return False
    light = LightReference(folder)
    expected = reference_ids(reference, PROBES)
    return reference_ids(light, PROBES) == expected and all(
        decoded(light, ids) == decoded(reference, ids) for ids in expected
    )


def train_tokenizer(folder: Path, texts: Iterable[str], vocabulary: int) -> None:
    """Train a byte-level BPE on the texts and save it as transformers loads it."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|endoftext|>",
        clean_up_tokenization_spaces=False,
    )
    fast.save_pretrained(folder)
