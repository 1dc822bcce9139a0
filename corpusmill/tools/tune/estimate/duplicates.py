"""The number of duplicates in a corpus, estimated from those in a sample.

A pair is in a sample with the square of a document's chance. So the share of duplicates in a sample
is too low: it is the lower bound. The number of pairs divided by the square of the share has the
right mean, but overcounts groups of more than two: it is the upper bound. The estimate in between
uses the likely sizes of groups, given those in the sample.
"""

import math
from typing import NamedTuple

import numpy as np

from corpusmill.messages.progress import Progress
from corpusmill.mill.dedup.band_settings import BandSetting
from corpusmill.mill.dedup.candidates import heads_of_groups
from corpusmill.mill.dedup.lsh import band_keys
from corpusmill.mill.dedup.sketches import have_shingles

MOST_SEEN = 32
"""Maximum number of sampled documents of a group for which its size is estimated. With more
documents, the share that was read is precise enough."""

MOST_IN_GROUP = 400
ROUNDS = 300
PAIRS_AT_ONCE = 1 << 16
ALL = 0.999


class Range(NamedTuple):
    likely: float
    least: float
    most: float


class Groups(NamedTuple):
    """Groups of similar documents in the sample."""

    dropped: np.ndarray  # bool (documents,)
    sizes: np.ndarray  # int64 (groups,): documents of each group of at least two


def similar_pairs(
    signatures: np.ndarray,
    setting: BandSetting,
    threshold: float,
    verified: bool,
    progress: Progress,
) -> np.ndarray:
    """Return int64 (pairs, 2): pairs with similar sketches, among neighbours by a band key and the
    first document of each key. progress: counts bands."""
    document_rows = np.flatnonzero(have_shingles(signatures))
    found = [np.zeros((0, 2), np.int64)]
    for band in range(setting.bands):
        keys = band_keys(signatures, document_rows, band * setting.band_rows, setting.band_rows)
        order = np.argsort(keys, kind="stable")
        first = heads_of_groups(keys[order])
        ranked = document_rows[order]
        heads = ranked[np.flatnonzero(first)[np.cumsum(first) - 1]]
        later = np.flatnonzero(~first)
        found.append(np.column_stack([ranked[later - 1], ranked[later]]))
        found.append(np.column_stack([heads[later], ranked[later]]))
        progress.advance(1)
    pairs = np.unique(np.sort(np.concatenate(found), axis=1), axis=0)
    if not verified:
        return pairs
    alike = np.zeros(len(pairs), bool)
    for start in range(0, len(pairs), PAIRS_AT_ONCE):
        some = slice(start, start + PAIRS_AT_ONCE)
        one, other = pairs[some].T
        alike[some] = (signatures[one] == signatures[other]).mean(1) >= threshold
    return pairs[alike]


def groups_of(digests: np.ndarray, pairs: np.ndarray) -> Groups:
    """Group similar documents. pairs: of documents with different texts. A document is dropped for
    an earlier one that stays, as with `resolve: kept`; of equal texts the first stays."""
    _, first, text_of = np.unique(digests, return_index=True, return_inverse=True)
    dropped = np.ones(digests.size, bool)
    dropped[first] = False
    parent = first[text_of]
    for one, other in sorted({tuple(sorted(pair)) for pair in parent[pairs].tolist()}):
        if one != other and not dropped[one]:
            dropped[other] = True
            parent[other] = one
    # Copies of a dropped text are dropped with it.
    head = parent[parent]
    _, sizes = np.unique(head, return_counts=True)
    return Groups(dropped, sizes[sizes > 1])


def chances(sizes: int, seen: int, read_share: float) -> np.ndarray:
    """Return float64 (seen + 1, sizes): the chance that k documents of a group of m are read, in
    column m - 1."""
    logs = np.array([math.lgamma(n + 1) for n in range(sizes + 1)])
    of_all, of_read = np.arange(1, sizes + 1), np.arange(seen + 1)[:, None]
    rest = np.maximum(of_all - of_read, 0)
    choices = logs[of_all] - logs[np.minimum(of_read, sizes)] - logs[rest]
    found = np.exp(choices + of_read * math.log(read_share) + rest * math.log1p(-read_share))
    return np.where(of_read <= of_all, found, 0.0)


def likely_duplicates(groups: Groups, read_share: float) -> float:
    """Return the documents in groups beyond the first of each, for the most likely numbers of
    groups by size. Expectation maximization, stopped early to avoid fitting the noise."""
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
        ratio[0] = 1  # groups of which nothing was read are not observed
        numbers = numbers * (chance.T @ ratio)
    return float((numbers * (sizes - 1)).sum() + (large / read_share - 1).sum())


def duplicates_in_all(groups: Groups, read_share: float) -> Range:
    """Estimate how many documents of the whole corpus are dropped. read_share: share that was
    read."""
    least = groups.dropped.sum() / read_share
    if read_share > ALL:
        return Range(float(least), float(least), float(least))
    sizes = groups.sizes.astype(float)
    most = max((sizes * (sizes - 1) / 2).sum() / read_share**2, least)
    # Not all of a group need be dropped: two that resemble a third may differ from each other.
    dropped = groups.dropped.sum() / max((sizes - 1).sum(), 1)
    likely = dropped * likely_duplicates(groups, read_share)
    return Range(float(min(max(likely, least), most)), float(least), float(most))
