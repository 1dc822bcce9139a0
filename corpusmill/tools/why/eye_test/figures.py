"""Statistics of a split: frequency of ids, lengths of documents, and their end-of-text ids."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from corpusmill.reader.split import Split

LONGEST = 1 << 20
"""Documents with more tokens than this are counted as having this many."""
SHARES = (0.01, 0.1, 0.5, 0.9, 0.99)
BLOCK_TOKENS = 1 << 22


class Figures(NamedTuple):
    counts: np.ndarray  # int64 (vocabulary,): frequency of each id
    lengths: np.ndarray  # int64: number of documents by length
    without_end: int  # documents that do not end with end-of-text
    ends_inside: int  # end-of-text ids within documents

    @property
    def tokens(self) -> int:
        return int(self.counts.sum())

    @property
    def entropy(self) -> float:
        """Return the entropy in nats: the least loss of a model that knows only the frequencies."""
        shares = self.counts[self.counts > 0] / self.tokens
        return float(-(shares * np.log(shares)).sum())

    def length_at(self, share: float) -> int:
        """Return the quantile of the document length for a share of documents."""
        reached = np.cumsum(self.lengths)
        return int(np.searchsorted(reached, math.ceil(share * int(reached[-1]))))


def figures_of(split: Split, done: Callable[[int], None]) -> Figures:
    """Count the tokens of a split, some MB of a shard at a time. done: called with the number of
    tokens."""
    vocabulary = split.vocabulary
    counts = np.zeros(vocabulary.size, np.int64)
    lengths = np.zeros(LONGEST + 1, np.int64)
    ends = without = 0
    for shard in range(len(split.shards.numbers)):
        ids, starts = split.opened.tokens(shard), split.opened.starts(shard)
        for at in range(0, len(ids), BLOCK_TOKENS):
            some = ids[at : at + BLOCK_TOKENS]
            if (highest := int(some.max())) >= vocabulary.size:
                raise ValueError(
                    f"{split.shelf.path(shard)}: expected ids below {vocabulary.size}, the size of "
                    f"the vocabulary, found {highest}. Copy the file again, or make "
                    "the corpus again."
                )
            counts += np.bincount(some, minlength=vocabulary.size)
            done(min(BLOCK_TOKENS, len(ids) - at))
        lengths += np.bincount(np.minimum(np.diff(starts), LONGEST), minlength=LONGEST + 1)
        last = ids[starts[1:] - 1]
        without += int((last != vocabulary.end_of_text).sum())
    ends = int(counts[vocabulary.end_of_text])
    return Figures(counts, lengths, without, ends - (split.documents - without))
