"""Collect the digests of held-out texts, and find documents that match one."""

from pathlib import Path

import numpy as np

from corpusmill.mill.decide.fates import SPLITS
from corpusmill.mill.read.digests import WHOLE, digest_words
from corpusmill.mill.storage.arrays import load_array

ORIGINS = {1: SPLITS[1], 2: SPLITS[2], 3: "evaluation"}
"""Maps a number in decision tables to the set for which a text is held out. 0 means none."""
EVALUATION = 3


DTYPE = np.dtype([("digest", "u1", 32), ("origin", "u1")])


def gathered(digests: list[np.ndarray], origins: list[np.ndarray]) -> np.ndarray:
    """Return DTYPE, sorted by digest, each digest once with its least origin.

    digests: uint8 (n, 32) each; origins: uint8 (n,) each.
    """
    digest = np.concatenate([np.zeros((0, 32), np.uint8), *digests])
    origin = np.concatenate([np.zeros(0, np.uint8), *origins])
    keys = np.ascontiguousarray(digest).view("S32").ravel()
    order = np.lexsort((origin, keys))
    first = np.ones(keys.size, bool)
    first[1:] = keys[order][1:] != keys[order][:-1]
    chosen = order[first]
    table = np.empty(chosen.size, DTYPE)
    table["digest"], table["origin"] = digest[chosen], origin[chosen]
    return table


def origins_of(digests: np.ndarray, held_out: np.ndarray) -> np.ndarray:
    """Return uint8 (documents,): the origin of the held-out text equal to each document, or 0."""
    origins = np.zeros(len(digests), np.uint8)
    if not len(digests) or not len(held_out):
        return origins
    # Only the first 8 bytes of each held-out digest are in memory, in sorted order.
    heads = digest_words(held_out["digest"])
    mine = digest_words(digests)
    first = np.searchsorted(heads, mine, "left")
    last = np.searchsorted(heads, mine, "right")
    for row in np.flatnonzero(first < last):  # few: compare the whole digests
        for entry in held_out[first[row] : last[row]]:
            if entry["digest"].tobytes() == digests[row].tobytes():
                origins[row] = entry["origin"]
    return origins


def origins_of_part(digests: Path, whole: list[Path], held_out: np.ndarray) -> np.ndarray:
    """Return the origins of a part's documents, by the text as it is, or else as before a cut.

    whole: digests of texts before cuts; texts that lost nothing are left out.
    """
    origins = origins_of(load_array(digests), held_out)
    for before in map(load_array, whole):
        rows, again = before["row"], origins_of(before["digest"], held_out)
        origins[rows] = np.where(origins[rows], origins[rows], again)
    return origins


def held_out_texts(
    digests: Path, whole: list[Path], out: np.ndarray, split: np.ndarray
) -> np.ndarray:
    """Return the texts of documents in `out`, as they are and as before cuts."""
    before = np.concatenate([np.zeros(0, WHOLE), *map(load_array, whole)])
    before = before[out[before["row"]]]
    texts = [load_array(digests)[out], before["digest"]]
    return gathered(texts, [split[out], split[before["row"]]])
