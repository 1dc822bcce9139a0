"""How many bytes of text each token id stands for, where a tokenizer's definition fixes it.

With it `encode` sees from the ids alone that nothing of a document is lost. That must never be
seen wrongly, so only two kinds of tokenizers are taken, of which a proof is short. The bytes of a
document's ids, one behind the other, are called its bytes.

- Nothing but a space in front is ever added to a document's bytes (`added`, 0 or 1). Whatever else
  may happen takes bytes away: a literal ▁ where spaces are ▁, a space that was already in front.
- So a document whose bytes are as many as its text's and `added` has lost nothing: a loss would
  have to be made up for, and there is nothing that could.
- Added tokens can take white space away and make the next piece begin with one more space. An id
  of which that could be so is UNCERTAIN; a document with one is looked at itself.
- A normalizer other than NFC is not taken, beside what stands for spaces. With NFC a document's
  bytes are the normalized text whatever their number, and that is no loss.
"""

import re
import unicodedata
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

UNCERTAIN = 65535

_SPELLED = re.compile("<0x[0-9A-F]{2}>")
_EVERY_BYTE = [f"<0x{byte:02X}>" for byte in range(256)]


class IdBytes(NamedTuple):
    """sizes: uint16 (vocabulary,), bytes of each id or UNCERTAIN. added: a space in front."""

    sizes: np.ndarray
    added: int


def steps(part: dict | None, inner: str) -> list[dict]:
    """The steps of a normalizer, a pre-tokenizer or a decoder, sequences unfolded."""
    if part is None:
        return []
    if part["type"] == "Sequence":
        return [step for one in part[inner] for step in steps(one, inner)]
    return [part]


def _types(found: list[dict]) -> list[str]:
    return [step["type"] for step in found]


def _is_replacing(step: dict, before: str, after: str) -> bool:
    return step["type"] == "Replace" and (step["pattern"], step["content"]) == (
        {"String": before},
        after,
    )


def _keeps_all(step: dict) -> bool:
    """Whether a pre-tokenizer only cuts."""
    cutting = step["type"] in ("Split", "Punctuation") and step["behavior"] != "Removed"
    return cutting or step["type"] == "Digits"


def _joins_exactly(model: dict[str, Any]) -> bool:
    """Whether a token is its parts, one behind the other."""
    marks = (model.get("continuing_subword_prefix"), model.get("end_of_word_suffix"))
    return model["type"] == "BPE" and not any(marks)


def _byte_level_added(definition: dict, alphabet: set[str]) -> int | None:
    """The space in front, if any, of a byte-level BPE; None if it is not surely one."""
    cuts = steps(definition["pre_tokenizer"], "pretokenizers")
    if (
        not cuts
        or cuts[-1]["type"] != "ByteLevel"
        or not all(map(_keeps_all, cuts[:-1]))
        or _types(steps(definition["normalizer"], "normalizers")) not in ([], ["NFC"])
        or _types(steps(definition["decoder"], "decoders")) != ["ByteLevel"]
        or not _joins_exactly(definition["model"])
        or not alphabet <= set(definition["model"]["vocab"])
    ):
        return None
    added = int(cuts[-1]["add_prefix_space"])
    return None if added and len(cuts) > 1 else added


def _metaspace_added(definition: dict) -> int | None:
    """The same of a BPE that writes spaces as ▁ and spells what it does not know in bytes."""
    model = definition["model"]
    if not _joins_exactly(model) or not model.get("byte_fallback"):
        return None
    words = model["vocab"]
    spelling = any(_SPELLED.search(word) and not _SPELLED.fullmatch(word) for word in words)
    if spelling or not all(byte in words for byte in _EVERY_BYTE):
        return None
    normal = steps(definition["normalizer"], "normalizers")
    cuts = steps(definition["pre_tokenizer"], "pretokenizers")
    back = steps(definition["decoder"], "decoders")
    prepends = [step for step in normal if step["type"] == "Prepend"]
    metaspaces = [step for step in cuts if step["type"] == "Metaspace"]
    others = [step for step in normal if step not in prepends]
    strips = back[3:]
    if (
        len(prepends) > 1
        or any(step["prepend"] != "▁" for step in prepends)
        or not all(_is_replacing(step, " ", "▁") for step in others)
        or len(metaspaces) > 1
        or (metaspaces and (len(cuts) > 1 or cuts[0]["replacement"] != "▁"))
        or not all(_keeps_all(step) for step in cuts if step not in metaspaces)
        or _types(back[:3]) != ["Replace", "ByteFallback", "Fuse"]
        or not _is_replacing(back[0], "▁", " ")
        or len(strips) > 1
        or any((s["type"], s.get("content"), s.get("stop")) != ("Strip", " ", 0) for s in strips)
    ):
        return None
    # Metaspace puts no ▁ before the one that Prepend has put.
    prefixes = bool(prepends) or any(s["prepend_scheme"] != "never" for s in metaspaces)
    stripped = strips[0]["start"] if strips else 0
    return int(prefixes) if stripped <= int(prefixes) else None


def _byte_level_sizes(tokens: pa.Array, alphabet: set[str]) -> np.ndarray:
    """A character a byte; UNCERTAIN with others than the 256 that stand for bytes."""
    other = "[^{}]".format("".join(rf"\x{{{ord(one):X}}}" for one in sorted(alphabet)))
    sizes = pc.utf8_length(tokens).to_numpy()
    return np.where(pc.match_substring_regex(tokens, other).to_numpy(False), UNCERTAIN, sizes)


def _metaspace_sizes(tokens: pa.Array) -> np.ndarray:
    sizes = pc.binary_length(pc.replace_substring(tokens, "▁", " ")).to_numpy()
    spelled = pc.match_substring_regex(tokens, f"^{_SPELLED.pattern}$").to_numpy(False)
    return np.where(spelled, 1, sizes)


def _decoded_content(content: str, byte_of: dict[str, int] | None) -> bytes:
    """What an added token alone is decoded to."""
    if byte_of is None:
        return content.replace("▁", " ").encode()
    if set(content) <= set(byte_of):
        return bytes(byte_of[character] for character in content)
    return content.encode()


def _is_certain(token: dict, added: int, normalizes: bool, byte_of: dict[str, int] | None) -> bool:
    """Whether an added token takes nothing but itself from a text, and gives it back."""
    content = token["content"]
    return (
        not (token["special"] or token["lstrip"] or token["rstrip"] or added)
        # Around it a text is normalized in pieces, which differs from the whole at most where a
        # piece begins with a mark that goes with what stands before: never with white space.
        and (not normalizes or content.isspace())
        and unicodedata.normalize("NFC", content) == content
        and _decoded_content(content, byte_of) == content.encode()
    )


def byte_alphabet() -> dict[str, int]:
    """The 256 characters by which byte-level tokenizers spell bytes: those of Latin-1 that can be
    seen stand for themselves, U+0100 and on for the others, in order."""
    seen = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    unseen = [byte for byte in range(256) if byte not in seen]
    return {chr(b): b for b in seen} | {chr(0x100 + i): b for i, b in enumerate(unseen)}


def id_bytes(
    definition: dict, vocabulary: int, end_of_text: int, unknown: list[int]
) -> IdBytes | None:
    """The bytes of each id of a tokenizer.json; None if they are not surely fixed."""
    alphabet = byte_alphabet()
    added = _byte_level_added(definition, set(alphabet))
    byte_of = alphabet if added is not None else None
    if added is None:
        added = _metaspace_added(definition)
    if added is None:
        return None
    words = definition["model"]["vocab"]
    tokens = pa.array(list(words), pa.large_string())
    found = _byte_level_sizes(tokens, set(byte_of)) if byte_of else _metaspace_sizes(tokens)
    sizes = np.full(vocabulary, UNCERTAIN, np.uint16)
    sizes[list(words.values())] = np.minimum(found, UNCERTAIN)
    normalizes = definition["normalizer"] is not None
    for token in definition["added_tokens"]:
        certain = _is_certain(token, added, normalizes, byte_of)
        size = len(token["content"].encode())
        sizes[token["id"]] = min(size, UNCERTAIN) if certain else UNCERTAIN
    sizes[unknown] = UNCERTAIN
    sizes[end_of_text] = 0
    return IdBytes(sizes, added)
