"""Count what is lost in tokens: characters that decoding does not restore, and unknown tokens.

Unknown tokens are removed from a document's ids, and the rest is decoded. The decoded
text misses a character as many times as the text has more of it. Lost characters are those missed
from the text, or from the text after the tokenizer's own normalizer, whichever are fewer. White
space counts like any other character.
"""

import itertools
from collections import Counter
from collections.abc import Container, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpusmill.mill.account.accounts import LOSS_SUMS, added
from corpusmill.mill.read.text_column import TextColumn
from corpusmill.mill.storage.arrays import load_array
from corpusmill.mill.storage.files import load_json
from corpusmill.mill.tokens.id_bytes import UNCERTAIN
from corpusmill.mill.tokens.tokenizers import (
    BYTES_FILE,
    TokenizerFacts,
    decoded,
    load_kept,
    normalized,
    reference_ids,
)

EXAMPLES = 3
EXCERPT_CHARS = 60


def missing(whole: str, rest: str) -> Counter[str]:
    """Return the characters that `whole` has more often than `rest`, with the difference."""
    return Counter(whole) - Counter(rest)


def lost_characters(reference: Any, ids: list[int], text: str, unknown: Container[int]) -> int:
    back = decoded(reference, [id for id in ids if id not in unknown])
    if back == text:
        return 0
    lost = missing(text, back).total()
    return lost and min(lost, missing(normalized(reference, text), back).total())


def example(reference: Any, id: int, text: str, back: str) -> dict:
    """Return an example of a loss for users: the text around it, and the decoded text."""
    whole = min(text, normalized(reference, text), key=lambda one: missing(one, back).total())
    gone = missing(whole, back)
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(whole, back, strict=False))
    first = sum(1 for _ in same)
    places = (place for start in (first, 0) for place in range(start, len(whole)))
    place = next((place for place in places if whole[place] in gone), 0)
    start = max(0, place - EXCERPT_CHARS // 3)
    if start:  # begin at a whole word: half a word could be lost where the whole one is not
        start = whole.find(" ", start, place) + 1 or start
    passage = whole[start : start + EXCERPT_CHARS]
    (ids,) = reference_ids(reference, [passage])
    return {"id": id, "text": passage, "back": decoded(reference, ids)}


class LossCounter:
    """A counter of the losses of a shard by document; keeps the first EXAMPLES per source."""

    def __init__(self, folder: Path, setting: TokenizerFacts, reference: Any = None) -> None:
        """reference: from `load_kept`; None: loaded when it is needed."""
        self.examples: dict[str, list[dict]] = {}
        self._folder, self._setting = folder, setting
        self._unknown = frozenset(setting.unknown_ids)
        self._sizes = None
        if setting.added_bytes is not None:
            self._sizes = pa.array(load_array(Path(folder) / BYTES_FILE))
        self._reference = reference

    def count(self, batch: pa.Table, tokens: np.ndarray, lengths: np.ndarray) -> dict:
        """Return LOSS_SUMS of each document, int64.

        batch: shards.COLUMNS. tokens: the ids of its documents, each with the end token;
        lengths: how many of these each document has.
        """
        texts = batch.column("text")
        counts = {name: np.zeros(lengths.size, np.int64) for name in LOSS_SUMS}
        counts["characters"] += pc.utf8_length(texts).to_numpy()
        counts["documents_without_token"] += lengths == 1
        ends = np.cumsum(lengths)
        for row in self._rows_to_look_at(texts, tokens, ends - lengths):
            ids = tokens[ends[row] - lengths[row] : ends[row] - 1].tolist()
            lost, unknown = self._losses_of(batch, row, ids)
            counts["lost_characters"][row], counts["unknown_tokens"][row] = lost, unknown
        return counts

    def _rows_to_look_at(
        self, texts: TextColumn, tokens: np.ndarray, starts: np.ndarray
    ) -> Iterable[int]:
        """Return the rows whose ids alone do not prove that nothing is lost; see id_bytes.py."""
        if self._sizes is None or not starts.size:
            return range(starts.size)
        assert (highest := int(tokens.max())) < len(self._sizes), highest
        # Arrow's take, as NumPy's would first convert all ids to 64 bits. Its check of bounds takes
        # as long as the rest of it.
        sizes = pc.take(self._sizes, pa.array(tokens), boundscheck=False).to_numpy()
        # uint32 takes half the time of int64. A sum beyond 4 GB overflows to a smaller number, and
        # then the document is decoded: a sum exceeds the text by one at most.
        found = np.add.reduceat(sizes, starts, dtype=np.uint32)
        unsure = found != pc.binary_length(texts).to_numpy() + self._setting.added_bytes
        if sizes.max() == UNCERTAIN:
            unsure |= np.maximum.reduceat(sizes, starts) == UNCERTAIN
        return np.flatnonzero(unsure).tolist()

    def _losses_of(self, batch: pa.Table, row: int, ids: list[int]) -> tuple[int, int]:
        self._reference = self._reference or load_kept(self._folder, self._setting)
        text = batch.column("text")[row].as_py()
        lost = lost_characters(self._reference, ids, text, self._unknown)
        known = self.examples.setdefault(batch.column("source")[row].as_py(), []) if lost else []
        if lost and len(known) < EXAMPLES:
            back = decoded(self._reference, [id for id in ids if id not in self._unknown])
            id = batch.column("id")[row].as_py()
            known.append(example(self._reference, id, text, back))
        return lost, sum(id in self._unknown for id in ids)


def too_many_losses(facts: list[Path], most: float) -> list[str]:
    """Return messages about sources that lost more than this share of their characters.

    facts: of all token shards.
    """
    shards = [load_json(file) for file in facts]
    told = []
    for source, figures in sorted(added([shard["by_source"] for shard in shards]).items()):
        lost, characters = figures["lost_characters"], figures["characters"]
        if lost <= most * characters:
            continue
        told.append(
            f"source {source}: {lost:,} of {characters:,} characters are lost in tokenization "
            f"({lost / characters:.2%}), but tokenizer.max_lost_fraction allows only {most:.2%}"
        )
        found = [one for shard in shards for one in shard["lost"].get(source, [])]
        told += [
            f"  document {one['id']}: {one['text']!r} comes back as {one['back']!r}"
            for one in found[:EXAMPLES]
        ]
    return told


def refuse_losses(facts: list[Path], max_lost_fraction: float) -> None:
    """Raise ValueError if a source lost too much. facts: of all token shards."""
    if told := too_many_losses(facts, max_lost_fraction):
        raise ValueError(
            "\n".join(told) + "\nUse a byte-level tokenizer or one with byte fallback; or, if "
            "this loss is acceptable, raise tokenizer.max_lost_fraction."
        )
