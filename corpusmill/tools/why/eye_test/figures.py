"""What the ids of a split are: how often each, how long documents are, whether they end as said."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from corpusmill.reader.split import Split

LONGEST = 1 << 20
"""Documents of more tokens are counted as of so many."""
SHARES = (0.01, 0.1, 0.5, 0.9, 0.99)
BLOCK_TOKENS = 1 << 22


class Figures(NamedTuple):
    counts: np.ndarray  # int64 (vocabulary,): of each id
    lengths: np.ndarray  # int64: documents by their tokens
    without_end: int  # documents whose last token is no end of text
    ends_inside: int  # end-of-text ids that end no document

    @property
    def tokens(self) -> int:
        return int(self.counts.sum())

    @property
    def entropy(self) -> float:
        """In nats: what a model loses at best that knows how frequent each id is, and no more."""
        shares = self.counts[self.counts > 0] / self.tokens
        return float(-(shares * np.log(shares)).sum())

    def length_at(self, share: float) -> int:
        """The shortest length that so much of all documents do not exceed."""
        reached = np.cumsum(self.lengths)
        return int(np.searchsorted(reached, math.ceil(share * int(reached[-1]))))


def figures_of(split: Split, done: Callable[[int], None]) -> Figures:
    """done: told of every token that was counted. A shard at a time, a few MB of it."""
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
                    f"{split.shelf.path(shard)}: id {highest} found, expected ids below "
                    f"{vocabulary.size}, as the tokenizer has it. Copy it again, or mill it again."
                )
            counts += np.bincount(some, minlength=vocabulary.size)
            done(min(BLOCK_TOKENS, len(ids) - at))
        lengths += np.bincount(np.minimum(np.diff(starts), LONGEST), minlength=LONGEST + 1)
        last = ids[starts[1:] - 1]
        without += int((last != vocabulary.end_of_text).sum())
    ends = int(counts[vocabulary.end_of_text])
    return Figures(counts, lengths, without, ends - (split.documents - without))
