"""Edges: pairs of documents that are, or may be, duplicates, and what is known of each pair."""

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from corpusmill.messages.progress import Progress
from corpusmill.mill.storage.arrays import StoredArray, load_array

EDGE = np.dtype([("a", "<u8"), ("b", "<u8"), ("matches", "<u2")])
"""Document ids, a < b, and how many values of their sketches are equal, or one of these two:"""

IDENTICAL = 0xFFFF
"""The texts are equal, by SHA-256."""

SAME_KEY = 0xFFFE
"""They share a band key, and that is all that was looked at."""

STAGES = {1: "identical", 2: "sketch", 3: "shingles", 4: "band", 5: "chain"}
"""What decided that a document is dropped: equal digests, equal sketch values, the shingles of
both texts, a shared band key, or a chain of such pairs that leads to the winner."""
BY_DIGEST, BY_SKETCH, BY_SHINGLES, BY_BAND, BY_CHAIN = STAGES

DROPPED = np.dtype([("id", "<u8"), ("winner", "<u8"), ("similarity", "<f4"), ("stage", "u1")])
"""A document, the kept one that it is like, how similar they are (NaN: nobody measured it)."""

MISSED, MISTAKEN = 1e-4, 1e-9
"""How improbable its sketches must make a pair's similarity for it to be given up, and its
dissimilarity for it to be believed. A pair that is given up is one not found, as LSH misses a few
anyhow; one that is believed wrongly is a document lost."""


def edges_of(a: np.ndarray, b: np.ndarray, matches: np.ndarray | int) -> np.ndarray:
    """EDGE (pairs,), sorted."""
    edges = np.empty(len(a), EDGE)
    edges["a"], edges["b"] = np.minimum(a, b), np.maximum(a, b)
    edges["matches"] = matches
    return edges[np.lexsort((edges["b"], edges["a"]))]


class Similarity(NamedTuple):
    """When two sketches are alike: config dedup.threshold, and values per sketch."""

    threshold: float
    permutations: int


def certain_matches(permutations: int, threshold: float) -> tuple[int, int]:
    """(least, enough): fewer than `least` equal sketch values and a pair is not similar, `enough`
    or more and it is.

    Each value is equal with the probability of the Jaccard similarity. For a pair that is just at
    the threshold the chance of fewer than `least` is at most MISSED, that of `enough` or more at
    most MISTAKEN; for one on the other side of it still smaller.
    """
    # By logarithms: the coefficients of more than 1,029 permutations are no floats any more.
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
    """bool: the pairs whose texts must be compared, what else is known being not enough."""
    return edges["matches"] < enough


def edge_blocks(
    files: Iterable[Path], progress: Progress, rows: int = 1 << 21
) -> Iterator[np.ndarray]:
    """The edges of all files, a bounded block at a time."""
    for file in files:
        edges = load_array(file)
        for start in range(0, len(edges), rows):
            block = np.array(edges[start : start + rows])
            yield block
            progress.advance(len(block))


def place_of(table: StoredArray, field: str, id: int) -> int:
    """Where the first record with `id` or more in a field stands, of records sorted by it.

    np.searchsorted copies the whole column first, so it reads the whole file.
    """
    return bisect_left(table, id, key=lambda record: int(record[field]))


def edges_from(files: Iterable[Path], first: int, last: int) -> np.ndarray:
    """EDGE: those of all files with first <= a < last."""
    found = [np.empty(0, EDGE)]
    for file in files:
        edges = StoredArray.open(file)
        start, stop = (place_of(edges, "a", id) for id in (first, last))
        found.append(np.array(edges[start:stop]))
    return np.concatenate(found)
