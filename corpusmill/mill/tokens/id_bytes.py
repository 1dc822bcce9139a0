"""The bytes of text that each token id stands for, if a tokenizer's definition determines them.

They show `encode` from the ids alone that a document lost nothing. This must never be wrong, so
only two kinds of tokenizers are supported, for which the proof is short. A document's bytes are
here the concatenated bytes of its ids.

- Only a space in front is ever added to a document's bytes (`added`, 0 or 1). All other effects
  remove bytes: a literal ▁ if spaces become ▁, a space that was already in front.
- So a document with as many bytes as its text plus `added` has lost nothing: nothing could make up
  for a loss.
- Added tokens can remove white space and make the next piece begin with one more space. Ids for
  which that is possible are UNCERTAIN; a document with one is decoded and compared.
- Apart from replacing spaces, only the normalizer NFC is supported. With NFC a document's bytes are
  the normalized text, whatever their number, and that is not a loss.
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
    """The bytes of ids.

    sizes: uint16 (vocabulary,), bytes of each id or UNCERTAIN. added: spaces added in front.
    """

    sizes: np.ndarray
    added: int


def steps(part: dict | None, inner: str) -> list[dict]:
    """Return the steps of a normalizer, pre-tokenizer or decoder, with sequences flattened."""
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
    """Say whether a pre-tokenizer only splits."""
    cutting = step["type"] in ("Split", "Punctuation") and step["behavior"] != "Removed"
    return cutting or step["type"] == "Digits"


def _joins_exactly(model: dict[str, Any]) -> bool:
    """Say whether a token is the concatenation of its parts."""
    marks = (model.get("continuing_subword_prefix"), model.get("end_of_word_suffix"))
    return model["type"] == "BPE" and not any(marks)


def _byte_level_added(definition: dict, alphabet: set[str]) -> int | None:
    """Return `added` of a byte-level BPE; None if it is not certainly one."""
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
    """Return `added` of a BPE with ▁ for spaces and bytes for unknown characters; else None."""
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
    # Metaspace adds no ▁ if Prepend has added one.
    prefixes = bool(prepends) or any(s["prepend_scheme"] != "never" for s in metaspaces)
    stripped = strips[0]["start"] if strips else 0
    return int(prefixes) if stripped <= int(prefixes) else None


def _byte_level_sizes(tokens: pa.Array, alphabet: set[str]) -> np.ndarray:
    """Return one byte per character; UNCERTAIN for tokens with characters outside the alphabet."""
    other = "[^{}]".format("".join(rf"\x{{{ord(one):X}}}" for one in sorted(alphabet)))
    sizes = pc.utf8_length(tokens).to_numpy()
    return np.where(pc.match_substring_regex(tokens, other).to_numpy(False), UNCERTAIN, sizes)


def _metaspace_sizes(tokens: pa.Array) -> np.ndarray:
    sizes = pc.binary_length(pc.replace_substring(tokens, "▁", " ")).to_numpy()
    spelled = pc.match_substring_regex(tokens, f"^{_SPELLED.pattern}$").to_numpy(False)
    return np.where(spelled, 1, sizes)


def _decoded_content(content: str, byte_of: dict[str, int] | None) -> bytes:
    """Return the decoded bytes of an added token by itself."""
    if byte_of is None:
        return content.replace("▁", " ").encode()
    if set(content) <= set(byte_of):
        return bytes(byte_of[character] for character in content)
    return content.encode()


def _is_certain(token: dict, added: int, normalizes: bool, byte_of: dict[str, int] | None) -> bool:
    """Say whether an added token replaces only its own string, and decodes back to it."""
    content = token["content"]
    return (
        not (token["special"] or token["lstrip"] or token["rstrip"] or added)
        # The text around it is normalized in pieces. That can only differ if a piece begins with a
        # combining mark, which never combines with white space.
        and (not normalizes or content.isspace())
        and unicodedata.normalize("NFC", content) == content
        and _decoded_content(content, byte_of) == content.encode()
    )


def byte_alphabet() -> dict[str, int]:
    """Return the 256 characters with which byte-level tokenizers write bytes.

    Visible characters of Latin-1 represent themselves; U+0100 and following the others, in order.
    """
    seen = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    unseen = [byte for byte in range(256) if byte not in seen]
    return {chr(b): b for b in seen} | {chr(0x100 + i): b for i, b in enumerate(unseen)}


def id_bytes(
    definition: dict, vocabulary: int, end_of_text: int, unknown: list[int]
) -> IdBytes | None:
    """Return the bytes of each id of a tokenizer.json; None if they are not certain."""
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
