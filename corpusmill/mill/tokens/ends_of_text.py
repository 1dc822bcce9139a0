"""Which token ends documents, as the small files of a tokenizer tell it, before it is loaded.

A chat tokenizer names as its `eos_token` the token that ends a turn. A base model was trained with
another one behind every document. Where a tokenizer has both, nobody but the user knows.
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from corpusmill.mill.storage.untrusted import MOST_BYTES, whole_file
from corpusmill.mill.tokens.named_files import (
    MOST_SMALL_BYTES,
    refuse_named_files,
    refuse_named_files_below,
)

USUAL = ("<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>", "[EOS]", "<EOS_TOKEN>",
         "<｜end▁of▁sentence｜>")  # fmt: skip
"""Tokens behind the documents that base models were trained on."""

MOST_SPECIAL = 10_000
"""Of a small file. transformers takes a time that goes with their square."""
MOST_DECODED = 30_000
"""Members of added_tokens_decoder."""

FILES = ("tokenizer_config.json", "special_tokens_map.json")
DEFINITION = "tokenizer.json"


class Named(NamedTuple):
    """What the files of a tokenizer say; there may be more that only its library knows."""

    eos_token: str | None
    special: list[str]


class Told(NamedTuple):
    """What is known of a tokenizer before it is loaded."""

    end_of_text: str | None
    vocabulary: int | None


class _Added(msgspec.Struct):
    content: str
    special: bool = False


class _Definition(msgspec.Struct):
    """As much of tokenizer.json as is asked here; the vocabulary is skipped."""

    added_tokens: list[_Added] = []


def named_in(folder: Path) -> Named:
    """What the files of a local tokenizer say. ValueError for one that cannot be read, or names
    another file."""
    refuse_named_files_below(folder)
    mosts = dict.fromkeys(FILES, MOST_SMALL_BYTES) | {DEFINITION: MOST_BYTES}
    files = {folder / name: most for name, most in mosts.items()}
    return named_by(
        {path: whole_file(path, most) for path, most in files.items() if path.is_file()}
    )


def named_by(files: dict[Path, bytes]) -> Named:
    """files: some of FILES and DEFINITION, the first that names an eos_token counts."""
    eos: str | None = None
    special: list[str] = []
    for path, written in files.items():
        try:
            if path.name == DEFINITION:
                added = msgspec.json.decode(written, type=_Definition).added_tokens
                special += [token.content for token in added if token.special]
            else:
                members = msgspec.json.decode(written, type=dict[str, Any])
                refuse_named_files(path, members)
                eos = eos or content(members.get("eos_token"))
                found = list(special_in(members))
                decoded = members.get("added_tokens_decoder")
                count = len(decoded) if isinstance(decoded, dict) else 0
                _refuse_many(path, MOST_SPECIAL, len(found), "special tokens")
                _refuse_many(path, MOST_DECODED, count, "added tokens")
                special += found
        except (msgspec.DecodeError, RecursionError) as error:
            raise ValueError(
                f"tokenizer.source: {path} is not what a tokenizer has there ({error}). "
                "Copy the tokenizer again."
            ) from error
    return Named(eos, list(dict.fromkeys(special)))


def _refuse_many(path: Path, most: int, found: int, what: str) -> None:
    if found > most:
        raise ValueError(
            f"tokenizer.source: {path}: expected {most:,} {what} at most, found {found:,}. "
            "Give another tokenizer."
        )


def content(token: Any) -> str | None:
    """A token as the files write it: its text, or an object that has it."""
    text = token.get("content") if isinstance(token, dict) else token
    return text if isinstance(text, str) else None


def special_in(members: dict[str, Any]) -> Iterator[str]:
    """The special tokens of tokenizer_config.json or special_tokens_map.json."""
    tokens = [value for name, value in members.items() if name.endswith("_token")]
    for name in ("additional_special_tokens", "extra_special_tokens"):
        more = members.get(name)
        more = list(more.values()) if isinstance(more, dict) else more
        tokens += more if isinstance(more, list) else []
    added = members.get("added_tokens_decoder")
    for token in added.values() if isinstance(added, dict) else []:
        if isinstance(token, dict) and token.get("special") is True:
            tokens.append(token)
    return (text for token in tokens if (text := content(token)))


def likely_ends(named: Named) -> list[str]:
    """A usual end of text and the eos_token, each once, of those that there are."""
    usual = [token for token in USUAL if token in named.special]
    ends = [named.eos_token] if named.eos_token in USUAL or not usual else [usual[0]]
    return [end for end in dict.fromkeys([*ends, named.eos_token]) if end is not None]


def refuse_guess(source: str, eos_token: str, special: Collection[str]) -> None:
    """ValueError if `auto` took the eos_token though the tokenizer has a usual end of text too."""
    usual = [token for token in USUAL if token in special]
    if eos_token in USUAL or not usual:
        return
    others = " or ".join(usual)
    raise ValueError(
        f"tokenizer.end_of_text: auto would end every document with {eos_token}, the eos_token of "
        f"{source}, which looks like the end of a chat turn, as there is {others} too. Set "
        f"end_of_text to {others}, as base models have it, or to {eos_token}."
    )


def refuse_no_special(source: str, end_of_text: str, special: Collection[str]) -> None:
    if end_of_text not in special:
        raise ValueError(
            f"tokenizer.end_of_text: {end_of_text} is no special token of {source}. It has: "
            f"{', '.join(special) or 'none'}."
        )
