"""Edges: pairs of documents that are or may be duplicates, with the evidence for each pair."""

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from corpusmill.messages.progress import Progress
from corpusmill.mill.storage.arrays import StoredArray, load_array

EDGE = np.dtype([("a", "<u8"), ("b", "<u8"), ("matches", "<u2")])
"""A pair of document ids, a < b, with its number of equal sketch values, or else IDENTICAL or
SAME_KEY."""

IDENTICAL = 0xFFFF
"""The texts are equal, by SHA-256."""

SAME_KEY = 0xFFFE
"""The documents share a band key; nothing else was compared."""

STAGES = {1: "identical", 2: "sketch", 3: "shingles", 4: "band", 5: "chain"}
"""Evidence for dropping a document: equal digests, equal sketch values, the shingles of both texts,
a shared band key, or a chain of such pairs to the winner."""
BY_DIGEST, BY_SKETCH, BY_SHINGLES, BY_BAND, BY_CHAIN = STAGES

DROPPED = np.dtype([("id", "<u8"), ("winner", "<u8"), ("similarity", "<f4"), ("stage", "u1")])
"""A dropped document, its winner, their similarity (NaN: not measured), and the stage."""

WINNERS = np.dtype([("id", "<u8"), ("dropped", "<i8"), ("sources", "<u4")])
"""A document that is kept instead of others, how many of them were dropped, and the number of
different sources of all of them, the kept document included."""

MISSED, MISTAKEN = 1e-4, 1e-9
"""Maximum probabilities of an error if sketches alone decide: of rejecting a similar pair, and of
accepting a dissimilar one. A wrongly rejected pair is merely not found, like the few that LSH
misses. A wrongly accepted pair loses a document."""


def edges_of(a: np.ndarray, b: np.ndarray, matches: np.ndarray | int) -> np.ndarray:
    """Return EDGE (pairs,), sorted."""
    edges = np.empty(len(a), EDGE)
    edges["a"], edges["b"] = np.minimum(a, b), np.maximum(a, b)
    edges["matches"] = matches
    return edges[np.lexsort((edges["b"], edges["a"]))]


class Similarity(NamedTuple):
    """The criterion for similar sketches: config dedup.threshold, and values per sketch."""

    threshold: float
    permutations: int


def certain_matches(permutations: int, threshold: float) -> tuple[int, int]:
    """Return (least, enough): a pair with fewer than `least` equal sketch values is not similar;
    one with `enough` or more is.

    Each value is equal with the probability of the Jaccard similarity. For a pair at the threshold,
    the chance of fewer than `least` is at most MISSED, and of `enough` or more at most MISTAKEN.
    For wrongly decided pairs beyond the threshold both are smaller.
    """
    # By logarithms: beyond 1,029 permutations the coefficients exceed floats.
    whole = math.lgamma(permutations + 1)
    chances = [
        math.exp(
            whole - math.lgamma(k + 1) - math.lgamma(permutations - k + 1)
            + k * math.log(threshold) + (permutations - k) * math.log1p(-threshold)
        )
        for k in range(permutations + 1)
    ]  # fmt: skip
    least = next(k for k in range(permutations + 1) if sum(chances[: k + 1]) > MISSED)
    enough = next(
        (k for k in range(permutations, 0, -1) if sum(chances[k:]) > MISTAKEN), permutations
    )
    return least, enough + 1


def undecided(edges: np.ndarray, enough: int) -> np.ndarray:
    """Return bool: the pairs whose texts must be compared."""
    return edges["matches"] < enough


def edge_blocks(
    files: Iterable[Path], progress: Progress, rows: int = 1 << 21
) -> Iterator[np.ndarray]:
    """Yield the edges of all files in bounded blocks."""
    for file in files:
        edges = load_array(file)
        for start in range(0, len(edges), rows):
            block = np.array(edges[start : start + rows])
            yield block
            progress.advance(len(block))


def place_of(table: StoredArray, field: str, id: int) -> int:
    """Return the place of the first record with at least `id` in a field, sorted by it.

    np.searchsorted would copy the whole column, and so read the whole file.
    """
    return bisect_left(table, id, key=lambda record: int(record[field]))


def edges_from(files: Iterable[Path], first: int, last: int) -> np.ndarray:
    """Return EDGE: the edges of all files with first <= a < last."""
    found = [np.empty(0, EDGE)]
    for file in files:
        edges = StoredArray.open(file)
        start, stop = (place_of(edges, "a", id) for id in (first, last))
        found.append(np.array(edges[start:stop]))
    return np.concatenate(found)
