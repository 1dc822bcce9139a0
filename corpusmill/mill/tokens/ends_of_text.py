"""Find the token that ends documents from a tokenizer's small files, before it is loaded.

In a chat tokenizer, `eos_token` ends a turn. Base models are trained with another token after every
document. If a tokenizer has both, the user has to choose.
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
"""Tokens that end the documents in the training text of base models."""

MOST_SPECIAL = 10_000
"""Maximum number of special tokens in a small file. The time that transformers takes grows with the
square of this number."""
MOST_DECODED = 30_000
"""Maximum number of members of added_tokens_decoder."""

FILES = ("tokenizer_config.json", "special_tokens_map.json")
DEFINITION = "tokenizer.json"


class Named(NamedTuple):
    """The tokens that a tokenizer's files name; its library may know more."""

    eos_token: str | None
    special: list[str]


class Told(NamedTuple):
    """The facts about a tokenizer that are known before it is loaded."""

    end_of_text: str | None
    vocabulary: int | None


class _Added(msgspec.Struct):
    content: str
    special: bool = False


class _Definition(msgspec.Struct):
    """The members of tokenizer.json that are needed here, without the vocabulary."""

    added_tokens: list[_Added] = []


def named_in(folder: Path) -> Named:
    """Return the tokens that the files of a local tokenizer name.

    Raise ValueError for a file that cannot be read or that names another file.
    """
    refuse_named_files_below(folder)
    mosts = dict.fromkeys(FILES, MOST_SMALL_BYTES) | {DEFINITION: MOST_BYTES}
    files = {folder / name: most for name, most in mosts.items()}
    return named_by(
        {path: whole_file(path, most) for path, most in files.items() if path.is_file()}
    )


def named_by(files: dict[Path, bytes]) -> Named:
    """Return the tokens that files name; the first eos_token counts.

    files: some of FILES and DEFINITION.
    """
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
                f"tokenizer.source: {path} is not a valid tokenizer file ({error}). "
                "Copy the tokenizer again."
            ) from error
    return Named(eos, list(dict.fromkeys(special)))


def _refuse_many(path: Path, most: int, found: int, what: str) -> None:
    if found > most:
        raise ValueError(
            f"tokenizer.source: {path}: expected at most {most:,} {what}, found {found:,}. "
            "Give another tokenizer."
        )


def content(token: Any) -> str | None:
    """Return the text of a token, which files write as text or as an object with it."""
    text = token.get("content") if isinstance(token, dict) else token
    return text if isinstance(text, str) else None


def special_in(members: dict[str, Any]) -> Iterator[str]:
    """Yield the special tokens of tokenizer_config.json or special_tokens_map.json."""
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
    """Return the likely ends of text: a usual one and the eos_token, if any."""
    usual = [token for token in USUAL if token in named.special]
    ends = [named.eos_token] if named.eos_token in USUAL or not usual else [usual[0]]
    return [end for end in dict.fromkeys([*ends, named.eos_token]) if end is not None]


def refuse_guess(source: str, eos_token: str, special: Collection[str]) -> None:
    """Raise ValueError if `auto` would take the eos_token but there is a usual end of text too."""
    usual = [token for token in USUAL if token in special]
    if eos_token in USUAL or not usual:
        return
    others = " or ".join(usual)
    raise ValueError(
        f"tokenizer.end_of_text: auto would end every document with {eos_token}, the eos_token of "
        f"{source}. It seems to end chat turns, as the tokenizer also has {others}. Set "
        f"end_of_text to {others}, the token of base models, or to {eos_token}."
    )


def refuse_no_special(source: str, end_of_text: str, special: Collection[str]) -> None:
    if end_of_text not in special:
        raise ValueError(
            f"tokenizer.end_of_text: {end_of_text} is not a special token of {source}. It has: "
            f"{', '.join(special) or 'none'}."
        )
