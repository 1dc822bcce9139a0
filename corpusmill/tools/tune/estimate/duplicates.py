"""How many duplicates a corpus has, from those among some of its documents.

A pair is in a sample with the square of the chance of a document, so the share of duplicates in a
sample is too low, whatever the sample: it is the least that the corpus has. Pairs over the square
of the share have the right mean, and count too often where more than two are alike: they are the
most. Between the two is what the sizes of groups in the sample make likely.
"""

import math
from typing import NamedTuple

import numpy as np

from corpusmill.messages.progress import Progress
from corpusmill.mill.dedup.sketches import have_shingles

SEED, FACTOR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)


MOST_SEEN = 32
"""Documents of a group in a sample; of a larger one the share that was read says enough."""

MOST_IN_GROUP = 400
ROUNDS = 300
ALL = 0.999


class Range(NamedTuple):
    likely: float
    least: float
    most: float


class Groups(NamedTuple):
    """Who is like whom among the documents that were read."""

    dropped: np.ndarray  # bool (documents,)
    sizes: np.ndarray  # int64 (groups,): documents of each group of two and more


def similar_pairs(
    signatures: np.ndarray,
    bands: int,
    rows: int,
    threshold: float,
    verified: bool,
    progress: Progress | None = None,
) -> np.ndarray:
    """int64 (pairs, 2): neighbours by a band key, and each with the first of its key, whose
    sketches are like one another. progress: counts bands."""
    chosen = np.flatnonzero(have_shingles(signatures))
    table, found = signatures[chosen], [np.zeros((0, 2), np.int64)]
    for band in range(bands):
        keys = np.full(len(table), SEED, np.uint64)
        for row in range(rows):  # equal for equal rows, and hardly ever for others
            keys = (keys ^ table[:, band * rows + row]) * FACTOR
            keys ^= keys >> np.uint64(29)
        order = np.argsort(keys, kind="stable")
        ranked = keys[order]
        same = np.flatnonzero(ranked[1:] == ranked[:-1])
        starts = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
        first = starts[np.searchsorted(starts, same + 1, "right") - 1]
        found.append(np.column_stack([order[same], order[same + 1]]))
        found.append(np.column_stack([order[first], order[same + 1]]))
        if progress:
            progress.advance(1)
    pairs = np.unique(np.sort(np.concatenate(found), axis=1), axis=0)
    if verified:
        alike = np.zeros(len(pairs), bool)
        for start in range(0, len(pairs), 1 << 16):
            one, other = pairs[start : start + (1 << 16)].T
            alike[start : start + (1 << 16)] = (table[one] == table[other]).mean(1) >= threshold
        pairs = pairs[alike]
    return chosen[pairs]


def groups_of(digests: np.ndarray, pairs: np.ndarray, documents: int) -> Groups:
    """pairs: of documents with different texts. A document is dropped for one before it that
    stays, as `resolve: kept` does; equal texts for the first of them."""
    _, first, text_of = np.unique(digests, return_index=True, return_inverse=True)
    dropped = np.ones(documents, bool)
    dropped[first] = False
    parent = first[text_of]
    for one, other in sorted({tuple(sorted(pair)) for pair in parent[pairs].tolist()}):
        if one != other and not dropped[one]:
            dropped[other] = True
            parent[other] = one
    # Of what was dropped for a text, that which has the same text goes along.
    head = parent[parent]
    _, sizes = np.unique(head, return_counts=True)
    return Groups(dropped, sizes[sizes > 1])


def chances(sizes: int, seen: int, read_share: float) -> np.ndarray:
    """float64 (seen + 1, sizes): that of a group of m documents, in column m - 1, k are read."""
    logs = np.array([math.lgamma(n + 1) for n in range(sizes + 1)])
    of_all, of_read = np.arange(1, sizes + 1), np.arange(seen + 1)[:, None]
    rest = np.maximum(of_all - of_read, 0)
    choices = logs[of_all] - logs[np.minimum(of_read, sizes)] - logs[rest]
    found = np.exp(choices + of_read * math.log(read_share) + rest * math.log1p(-read_share))
    return np.where(of_read <= of_all, found, 0.0)


def likely_duplicates(groups: Groups, read_share: float) -> float:
    """The documents but one of each group, for the numbers of groups of each size under which the
    groups that were seen are likely: expectation and maximization, stopped before they fit the
    noise too."""
    large = groups.sizes[groups.sizes > MOST_SEEN]
    small = groups.sizes[groups.sizes <= MOST_SEEN]
    seen = int(small.max(initial=2))
    sizes = np.arange(1, min(int(2 * seen / read_share) + 4, MOST_IN_GROUP) + 1)
    chance = chances(sizes.size, seen, read_share)
    counts = np.bincount(small, minlength=seen + 1).astype(float)
    counts[1] = groups.dropped.size - groups.sizes.sum()
    numbers = counts.sum() / read_share / sizes**3.0
    for _ in range(ROUNDS):
        expected = chance @ numbers
        ratio = np.where(counts > 0, counts / np.maximum(expected, 1e-300), 0.0)
        ratio[0] = 1  # nobody has counted those of which nothing was read
        numbers = numbers * (chance.T @ ratio)
    return float((numbers * (sizes - 1)).sum() + (large / read_share - 1).sum())


def duplicates_in_all(groups: Groups, read_share: float) -> Range:
    """How many documents of the whole corpus are dropped, if so much of it was read."""
    least = groups.dropped.sum() / read_share
    if read_share > ALL:
        return Range(float(least), float(least), float(least))
    sizes = groups.sizes.astype(float)
    most = max((sizes * (sizes - 1) / 2).sum() / read_share**2, least)
    # Of a group not all need be dropped: two that are like a third may be unlike one another.
    dropped = groups.dropped.sum() / max((sizes - 1).sum(), 1)
    likely = dropped * likely_duplicates(groups, read_share)
    return Range(float(min(max(likely, least), most)), float(least), float(most))
