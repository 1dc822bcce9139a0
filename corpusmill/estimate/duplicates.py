"""How many duplicates a corpus has, from those among some of its documents.

A pair is in a sample with the square of the chance of a document, so the share of duplicates in a
sample is too low, whatever the sample: it is the least that the corpus has. Pairs over the square
of the share have the right mean, and count too often where more than two are alike: they are the
most. Between the two, each group counts by how many of it were seen.
"""

from typing import NamedTuple

import numpy as np

from corpusmill.dedup.sketches import have_shingles


class Range(NamedTuple):
    likely: float
    least: float
    most: float


class Groups(NamedTuple):
    """Who is like whom among the documents that were read."""

    dropped: np.ndarray  # bool (documents,)
    sizes: np.ndarray  # int64 (groups,): documents of each group of two and more


def similar_pairs(
    signatures: np.ndarray, bands: int, rows: int, threshold: float, verified: bool
) -> np.ndarray:
    """int64 (pairs, 2): neighbours by a band key, and each with the first of its key, whose
    sketches are like one another."""
    chosen = np.flatnonzero(have_shingles(signatures))
    table, found = signatures[chosen], [np.zeros((0, 2), np.int64)]
    for band in range(bands):
        columns = np.ascontiguousarray(table[:, band * rows : (band + 1) * rows])
        keys = columns.view([("", np.uint32)] * rows).ravel()
        order = np.argsort(keys, kind="stable")
        ranked = keys[order]
        same = np.flatnonzero(ranked[1:] == ranked[:-1])
        starts = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
        first = starts[np.searchsorted(starts, same + 1, "right") - 1]
        found.append(np.column_stack([order[same], order[same + 1]]))
        found.append(np.column_stack([order[first], order[same + 1]]))
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


def duplicates_in_all(groups: Groups, read_share: float) -> Range:
    """How many documents of the whole corpus are dropped, if so much of it was read."""
    sizes = groups.sizes.astype(float)
    least = groups.dropped.sum() / read_share
    most = (sizes * (sizes - 1) / 2).sum() / read_share**2
    twos = (sizes == 2).sum() / read_share**2
    likely = twos + np.maximum(sizes[sizes > 2] / read_share - 1, 0).sum()
    most = max(most, least)
    return Range(float(min(max(likely, least), most)), float(least), float(most))
