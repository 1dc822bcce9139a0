"""Write results/tokenizer: a tokenizer, loaded or trained once, and its facts for later steps."""

import logging
import re
from collections.abc import Container, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from corpusmill.mill.storage.files import replacing_folder, save_plain_json
from corpusmill.mill.storage.untrusted import load_plain_json
from corpusmill.mill.tokens.bounded import Bounds, first_line, in_bounded_process, is_panic
from corpusmill.mill.tokens.ends_of_text import DEFINITION, refuse_guess
from corpusmill.mill.tokens.id_bytes import UNCERTAIN, IdBytes, id_bytes, steps
from corpusmill.mill.tokens.losses import lost_characters
from corpusmill.mill.tokens.probes import PLAIN, PROBES, framed, refuse_useless
from corpusmill.mill.tokens.set_up_before import Asked, set_up
from corpusmill.mill.tokens.tokenizers import (
    BYTES_FILE,
    PLAIN_FILE,
    SETTING_FILE,
    LightReference,
    TokenizerFacts,
    decoded,
    definition_of,
    first_difference,
    gigatoken_encoder,
    gives_back,
    load_reference,
    plain_definition,
    reference_ids,
)
from corpusmill.mill.tokens.vocabulary import MOST_IDS

MOST_CPU_SECONDS = 60
"""Time limit for examining a tokenizer, in CPU seconds. A tokenizer with 150,000 ids takes 3
seconds."""

LONGEST_RUN = 10_000
"""Maximum length, in characters, of a word or a run of white space to train on. The training time
grows with its square: hours for millions of characters."""

LONG_RUN = re.compile(rf"(?<!\S)\S{{{LONGEST_RUN + 1},}}|(?<!\s)\s{{{LONGEST_RUN + 1},}}")


def chosen_engine(reference: Any, wanted: str, probes: list[str], definition: bytes | None) -> str:
    """Return gigatoken if it loads the tokenizer and gives the reference's ids for the probes.

    definition: from definition_of.
    """
    if wanted == "reference":
        return wanted
    try:
        encode = gigatoken_encoder(plain_definition(definition))
        difference = first_difference(reference, encode, probes)
    except BaseException as error:  # for an unsupported tokenizer it raises any class
        if not (isinstance(error, Exception) or is_panic(error)):
            raise
        difference = f"it cannot load this tokenizer ({first_line(error)})"
    if difference is None:
        return "gigatoken"
    if wanted == "gigatoken":
        raise ValueError(
            f"tokenizer.engine: gigatoken does not give the reference's ids: {difference}. "
            "Set tokenizer.engine to auto or reference."
        )
    logging.warning("gigatoken is not used, so encoding is slower: %s", difference)
    return "reference"


def end_of_text_of(reference: Any, wanted: str, vocabulary: dict[str, int]) -> tuple[str, int]:
    """Return the token that ends documents, and its id."""
    special = special_tokens(reference)
    token = reference.eos_token if wanted == "auto" else wanted
    if token is None:
        raise ValueError(
            "tokenizer.end_of_text: this tokenizer names no eos_token. Name one of its tokens: "
            f"{', '.join(special) or 'it has no special tokens'}."
        )
    id = vocabulary.get(token)
    if id is None:
        raise ValueError(
            f"tokenizer.end_of_text: {token} is not a token of this tokenizer. "
            f"Its special tokens: {', '.join(special)}."
        )
    if token not in special:
        raise ValueError(
            f"tokenizer.end_of_text: {token} is not a special token, so a text could contain it. "
            f"Special tokens: {', '.join(special)}."
        )
    if wanted == "auto":
        refuse_guess("this tokenizer", token, special)
    return token, id


def special_tokens(reference: Any) -> list[str]:
    """Return the special tokens: those that transformers names, and those only marked so."""
    added = getattr(reference, "added_tokens_decoder", {}).values()
    marked = [token.content for token in added if token.special]
    return list(dict.fromkeys([*map(str, reference.all_special_tokens), *marked]))


def unknown_ids(
    reference: Any, model: dict, vocabulary: dict[str, int], end_of_text: int
) -> list[int]:
    """Return the ids of unknown tokens, of the model and of transformers.

    model: of tokenizer.json. The end-of-text token does not count, though GPT-2 names it.
    """
    names = {model.get("unk_token"), reference.unk_token} - {None}
    found = {model.get("unk_id"), *(vocabulary.get(str(name)) for name in names)}
    return sorted(id for id in found if id is not None and id != end_of_text)


def normalizer_steps(definition: dict) -> list[str]:
    """Return the steps of the tokenizer's normalizer, without those its decoder undoes."""
    told = []
    for step in steps(definition.get("normalizer"), "normalizers"):
        if "▁" in (step.get("prepend"), step.get("content")):
            continue
        flags = [key for key, value in step.items() if value is True]
        told.append(step["type"] + (f" ({', '.join(flags)})" if flags else ""))
    return told


def lossy_tokens(reference: Any, definition: dict) -> dict[str, int]:
    """Return the added tokens that remove neighbouring text, where a plain word would not."""
    words = [token for token in definition.get("added_tokens", []) if not token["special"]]
    texts = [framed("x"), *(framed(token["content"]) for token in words)]
    back = [
        gives_back(reference, ids, text)
        for text, ids in zip(texts, reference_ids(reference, texts), strict=True)
    ]
    if not back[0]:
        return {}
    losing = [token for token, whole in zip(words, back[1:], strict=True) if not whole]
    return {token["content"]: token["id"] for token in losing}


def is_lossless(reference: Any, lossy: Container[int]) -> bool:
    """Say whether PROBES decode to themselves, except those with lossy tokens."""
    return all(
        gives_back(reference, ids, probe) or any(id in lossy for id in ids)
        for probe, ids in zip(PROBES, reference_ids(reference, PROBES), strict=True)
    )


def keep_tokenizer(
    folder: Path, source: str, end_of_text: str, engine: str, name: str | None = None
) -> TokenizerFacts:
    """Load a tokenizer, determine its facts, and save both to `folder`, atomically.

    name: name to record if `source` is a path that has no meaning later.
    """
    name = name or source
    with replacing_folder(folder) as temporary:
        kept = in_bounded_process(
            name,
            Bounds(MOST_CPU_SECONDS),
            lambda: _keep_tokenizer(temporary, source, end_of_text, engine, name)._asdict(),
        )
    return TokenizerFacts(**kept)


def _keep_tokenizer(
    folder: Path, source: str, end_of_text: str, engine: str, name: str
) -> TokenizerFacts:
    reference = load_reference(source)
    # get_vocab builds a new dict at each call: a tenth of a second for a large vocabulary.
    words = reference.get_vocab()
    # A vocabulary with gaps has ids beyond its length.
    vocabulary = max(len(reference), max(words.values()) + 1)
    if vocabulary > MOST_IDS:  # first, as writing the definition goes through all ids
        raise ValueError(
            f"tokenizer.source: expected {MOST_IDS:,} ids at most, {name} has {vocabulary:,}. "
            "Give another tokenizer."
        )
    written = definition_of(reference)
    definition = msgspec.json.decode(written) if written else {}
    token, id = end_of_text_of(reference, end_of_text, words)
    if reference.eos_token != token:
        reference.eos_token = token  # the kept tokenizer must name the token of the shards
    unknown = unknown_ids(reference, definition.get("model", {}), words, id)
    refuse_useless(name, reference_ids(reference, PLAIN), unknown)
    reference.save_pretrained(folder)
    forget_the_machine(folder / "tokenizer_config.json")
    probes = PROBES + [framed(one["content"]) for one in definition.get("added_tokens", [])]
    lossy = lossy_tokens(reference, definition)
    setting = TokenizerFacts(
        source=name,
        vocabulary=vocabulary,
        end_of_text=token,
        end_of_text_id=id,
        dtype="uint16" if vocabulary <= 1 << 16 else "uint32",
        engine=chosen_engine(reference, engine, probes, written),
        light=_is_light(reference, folder, probes),
        lossless=is_lossless(reference, lossy.values()),
        lossy_tokens=lossy,
        normalizer=normalizer_steps(definition),
        unknown_ids=unknown,
        added_bytes=None,
    )
    if setting.engine == "gigatoken":
        (folder / PLAIN_FILE).write_text(plain_definition(written), "utf-8")
    added = keep_id_bytes(folder, setting, reference, definition, probes)
    setting = setting._replace(added_bytes=added)
    save_plain_json(folder / SETTING_FILE, setting._asdict())
    return setting


def hidden_loss(reference: Any, known: IdBytes, texts: list[str], unknown: list[int]) -> str | None:
    """Return the first text that loses something although the bytes of its ids do not show it."""
    for text, ids in zip(texts, reference_ids(reference, texts), strict=True):
        sizes = known.sizes[ids].astype(np.int64)
        whole = (sizes != UNCERTAIN).all() and sizes.sum() == len(text.encode()) + known.added
        if whole and lost_characters(reference, ids, text, unknown):
            return text
    return None


def keep_id_bytes(
    folder: Path, setting: TokenizerFacts, reference: Any, definition: dict, probes: list[str]
) -> int | None:
    """Write the bytes of each id, if they are certain; return the bytes added before a text."""
    # Without `light`, transformers may do anything beside the definition.
    known = setting.light and id_bytes(
        definition, setting.vocabulary, setting.end_of_text_id, setting.unknown_ids
    )
    if not known:
        return None
    hidden = hidden_loss(reference, known, probes, setting.unknown_ids)
    assert hidden is None, f"the bytes of its ids do not show that {hidden!r} loses characters"
    np.save(folder / BYTES_FILE, known.sizes)
    return known.added


def tell(setting: TokenizerFacts) -> None:
    """Log what users of this tokenizer should know."""
    if setting.normalizer:
        steps = ", ".join(setting.normalizer)
        logging.info("the tokenizer's own normalizer changes texts: %s", steps)
    if setting.lossy_tokens:
        names = ", ".join(map(repr, setting.lossy_tokens))
        logging.warning("these tokens change the text beside them: %s", names)
    if setting.added_bytes is None:
        logging.info("every document is decoded to find losses, so encoding is slower")


def forget_the_machine(config: Path) -> None:
    """Remove members of tokenizer_config.json about where and how it was loaded."""
    members = load_plain_json(config)
    # auto_map names Python code that is not kept, and was not run.
    for member in ("local_files_only", "is_local", "name_or_path", "cache_dir", "auto_map"):
        members.pop(member, None)
    save_plain_json(config, members)


def _is_light(reference: Any, folder: Path, probes: list[str]) -> bool:
    """Say whether LightReference equals the reference on the probes."""
    if not getattr(reference, "is_fast", False) or not (Path(folder) / "tokenizer.json").exists():
        return False
    light = LightReference(folder)
    expected = reference_ids(reference, probes)
    return reference_ids(light, probes) == expected and all(
        decoded(light, ids) == decoded(reference, ids) for ids in expected
    )


def without_long_runs(text: str) -> Iterator[str]:
    """Yield the text, split inside runs, with or without white space, beyond LONGEST_RUN."""
    at = 0
    for run in LONG_RUN.finditer(text) if len(text) > LONGEST_RUN else ():
        for end in range(run.start() + LONGEST_RUN, run.end(), LONGEST_RUN):
            yield text[at:end]
            at = end
    yield text[at:]


TRAINED_END = "<|endoftext|>"


def train_tokenizer(folder: Path, texts: Iterable[str], vocabulary: int) -> None:
    """Train a byte-level BPE on the texts and save it as transformers loads it."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[TRAINED_END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    pieces = chain.from_iterable(map(without_long_runs, texts))
    tokenizer.train_from_iterator(pieces, trainer)
    # As transformers would write it, without the half second that its import takes.
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A", pair="$A:0 $B:1", special_tokens=[]
    )
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / DEFINITION))
    save_plain_json(
        folder / "tokenizer_config.json",
        {
            "clean_up_tokenization_spaces": False,
            "eos_token": TRAINED_END,
            "tokenizer_class": "PreTrainedTokenizerFast",
        },
    )


class TokenizerChoice(NamedTuple):
    """The keys of config section `tokenizer` that choose a tokenizer."""

    source: str
    end_of_text: str
    engine: str
    train_vocabulary: int

    def train(self, folder: Path, texts: Iterable[str]) -> None:
        train_tokenizer(folder, texts, self.train_vocabulary)

    def keep(self, folder: Path, name: str) -> TokenizerFacts:
        """Write the folder of a tokenizer of this name, from the user's cache if it is there."""
        asked = Asked(self.end_of_text, self.engine, name)

        def make() -> bool:
            made = keep_tokenizer(folder, self.source, self.end_of_text, self.engine, name)
            # If auto does not choose gigatoken, each run should say why.
            return self.engine == made.engine or made.engine == "gigatoken"

        set_up(self.source, folder, asked, make)
        setting = TokenizerFacts.load(folder)
        tell(setting)
        return setting
