"""Checks token ids against their texts with the tokenizer of the run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpusmill.mill.read.text_column import TextColumn
from corpusmill.mill.storage.untrusted import load_plain_json
from corpusmill.mill.tokens.id_bytes import byte_alphabet, steps
from corpusmill.mill.tokens.losses import lost_characters
from corpusmill.mill.tokens.shard_checks import pieces_come_back
from corpusmill.mill.tokens.tokenizers import (
    SETTING_FILE,
    TokenizerFacts,
    gives_back,
    load_received,
)

BLOCK_IDS = 1 << 18
"""Ids decoded at once."""


class Spelling(NamedTuple):
    """The bytes of each id, for tokenizers that only concatenate bytes."""

    words: pa.LargeBinaryArray  # (vocabulary,)
    sizes: np.ndarray  # int64 (vocabulary,)

    @classmethod
    def of(cls, folder: Path, setting: TokenizerFacts) -> "Spelling | None":
        """Return the spelling; None if the tokenizer does more than concatenate bytes."""
        path = folder / "tokenizer.json"
        if setting.added_bytes != 0 or not path.exists():
            return None
        definition = load_plain_json(path)
        if [one["type"] for one in steps(definition["decoder"], "decoders")] != ["ByteLevel"]:
            return None
        byte_of, words = byte_alphabet(), [b""] * setting.vocabulary
        for word, id in definition["model"]["vocab"].items():
            if set(word) <= byte_of.keys():
                words[id] = bytes(byte_of[one] for one in word)
        for token in definition["added_tokens"]:
            words[token["id"]] = token["content"].encode()
        words[setting.end_of_text_id] = b""
        spelled = pa.array(words, pa.large_binary())
        return cls(spelled, pc.binary_length(spelled).to_numpy())

    def spelled(self, ids: np.ndarray) -> np.ndarray:
        """Return the concatenated bytes of ids."""
        found = TextColumn.of(pc.take(self.words, pa.array(ids), boundscheck=False))
        return found.data[: found.offsets[-1]]

    def differing(self, ids: np.ndarray, data: np.ndarray) -> np.ndarray:
        """Return int64: the positions in `data` that differ from the bytes of the ids.

        data: has the same length.
        """
        found, at = [np.zeros(0, np.int64)], 0
        for first in range(0, ids.size, BLOCK_IDS):
            spelled = self.spelled(ids[first : first + BLOCK_IDS])
            found.append(np.flatnonzero(spelled != data[at : at + spelled.size]) + at)
            at += spelled.size
        return np.concatenate(found)


class Losses(NamedTuple):
    """Differences between a document and its decoded tokens."""

    row: int
    lost: int
    faulty: bool
    """It differs without losing characters."""


class Decoder:
    """The tokenizer of a corpus."""

    def __init__(self, folder: Path, name: str) -> None:
        """Load it. folder: with all its files; nothing is downloaded. name: for messages."""
        path = folder / SETTING_FILE
        self.setting = TokenizerFacts.of(load_plain_json(path), path)
        self.dtype = np.dtype(self.setting.dtype).newbyteorder("<")
        self._spelling = Spelling.of(folder, self.setting)
        self._lossy = set(self.setting.lossy_tokens.values())
        self._unknown = frozenset(self.setting.unknown_ids)
        self._reference = load_received(folder, self.setting, name)

    def unequal(
        self, texts: TextColumn, tokens: np.ndarray, lengths: np.ndarray
    ) -> Iterator[Losses]:
        """Yield the documents whose ids are not simply the bytes of their texts.

        tokens: of all documents, including end-of-text, all below the vocabulary size. lengths:
        int64 (documents,), tokens of each.
        """
        ends = np.cumsum(lengths)
        for row in self._rows_to_decode(texts, tokens, ends):
            ids = tokens[ends[row] - lengths[row] : ends[row] - 1].tolist()
            data = texts.data[texts.offsets[row] : texts.offsets[row + 1]].tobytes()
            yield self._losses(row, ids, data.decode("utf-8"))

    def _rows_to_decode(self, texts: TextColumn, tokens: np.ndarray, ends: np.ndarray) -> Any:
        if self._spelling is None or not ends.size:
            return range(ends.size)
        firsts = np.append(0, ends[:-1])
        sizes = np.add.reduceat(self._spelling.sizes[tokens], firsts)
        if (sizes != texts.sizes()).any():
            return range(ends.size)
        begin, stop = texts.offsets[0], texts.offsets[-1]
        differ = self._spelling.differing(tokens, texts.data[begin:stop])
        return np.unique(np.searchsorted(texts.offsets[1:] - begin, differ, "right")).tolist()

    def _losses(self, row: int, ids: list[int], text: str) -> Losses:
        lost = lost_characters(self._reference, ids, text, self._unknown)
        if lost or not self.setting.lossless:
            return Losses(row, lost, faulty=False)
        if self._lossy.isdisjoint(ids):
            comes_back = gives_back(self._reference, ids, text)
        else:
            comes_back = pieces_come_back(self._reference, ids, text, self._lossy, cut=False)
        return Losses(row, 0, faulty=not comes_back)
