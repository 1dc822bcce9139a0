"""Find candidate pairs: edges among documents whose keys are equal."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from corpusmill.mill.dedup.edges import IDENTICAL, SAME_KEY, edges_of
from corpusmill.mill.dedup.lsh import Bands, entries_in
from corpusmill.mill.dedup.order import Preference, Ranked, best_first, order_of
from corpusmill.mill.read.digests import WORDS, digest_words
from corpusmill.mill.read.ids import ROW_BITS, by_part, mixed
from corpusmill.mill.storage.arrays import StoredArray
from corpusmill.mill.storage.buckets import Slice

FAR_APART = 128
"""Number of sketches of 512 bytes that a disk reads in sequence in the time of one random read.

Measured: 118. If the wanted rows are further apart than this, read-ahead is disabled, because it
would read nearly the whole file. A larger number would suit narrower rows, but those are cached
sooner.
"""

CHUNK_ROWS = 1 << 18
"""Maximum number of sketches in memory at once."""

MOST_PARTNERS = 64
"""Maximum number of documents with which a document is paired: the best document of its group, and
the better ones with the most similar sketches."""

MOST_MEMBERS = 1 << 14
"""Maximum number of members of a group. Larger groups are split by further sketch values, to limit
the number of pairs."""


class Corpus(NamedTuple):
    """The files of all parts, in part order, to look documents up."""

    signatures: list[Path]
    digests: list[Path]
    ranked: list[Ranked]


def looked_up(files: list[Path], ids: np.ndarray, columns: Any = slice(None)) -> np.ndarray:
    """Return the rows of some documents, from the arrays (documents, ...) of their parts."""
    found: np.ndarray | None = None
    for part, places, rows in by_part(ids):
        array = StoredArray.open(files[part])
        if rows.size * FAR_APART < len(array):
            array.read_nothing_ahead()
        of_part = array.rows(rows, columns)
        if found is None:
            found = np.empty((ids.size, *of_part.shape[1:]), array.dtype)
        found[places] = of_part
    assert found is not None, "no ids"
    return found


def heads_of_groups(*keys: np.ndarray) -> np.ndarray:
    """Return bool: whether each entry is the first of its group; equal keys are adjacent."""
    first = np.zeros(keys[0].size, bool)
    first[:1] = True
    for key in keys:
        first[1:] |= key[1:] != key[:-1]
    return first


def of_several(first: np.ndarray) -> np.ndarray:
    """Return bool: which entries are in a group of two or more. first: from heads_of_groups."""
    alone = first & np.append(first[1:], True)
    return ~alone


def star_edges(first: np.ndarray, ids: np.ndarray, matches: int) -> np.ndarray:
    """Return EDGE: from the first of each group to each later one: k - 1 edges for k documents.

    The components are the same as with all k * (k - 1) / 2. ids: ascending within each group.
    """
    heads = np.flatnonzero(first)
    head = heads[np.cumsum(first) - 1] if ids.size else heads
    return edges_of(ids[head[~first]], ids[~first], matches)


def same_key_edges(parts: list[Bands], share: Slice) -> np.ndarray:
    """Return EDGE, SAME_KEY: one star per key of the slice."""
    keys, ids = entries_in(parts, share)
    return star_edges(heads_of_groups(keys), ids, SAME_KEY)


def _by_digest(
    keys: np.ndarray, ids: np.ndarray, digests: list[Path]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (keys, ids, first) of entries with a partner, sorted by key, digest, id.

    first: whether it is the first with this key and digest.
    """
    several = of_several(heads_of_groups(keys))
    keys, ids = keys[several], ids[several]
    if ids.size == 0:
        return keys, ids, np.zeros(0, bool)
    rows = looked_up(digests, ids)
    words = [digest_words(rows, word) for word in range(WORDS)]
    order = np.lexsort((ids, *words, keys))
    keys, ids = keys[order], ids[order]
    return keys, ids, heads_of_groups(keys, *(word[order] for word in words))


def identical_edges(parts: list[Bands], share: Slice, digests: list[Path]) -> np.ndarray:
    """Return EDGE, IDENTICAL: one star per text that occurs more than once. parts: of digests."""
    _, ids, first = _by_digest(*entries_in(parts, share), digests)
    return star_edges(first, ids, IDENTICAL)


def _cut_large(
    keys: np.ndarray, ids: np.ndarray, signatures: list[Path], column: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the entries with groups of more than MOST_MEMBERS split, sorted as before.

    column: the sketch value to split by first; all others follow. If all are equal, the group is
    split in id order.
    """
    permutations = StoredArray.open(signatures[int(ids[0]) >> ROW_BITS]).shape[1]
    for step in range(permutations + 1):
        starts = np.flatnonzero(heads_of_groups(keys))
        sizes = np.diff(np.append(starts, keys.size))
        large = np.repeat(sizes > MOST_MEMBERS, sizes)
        if not large.any():
            break
        if step < permutations:
            at = (column + step) % permutations
            value = looked_up(signatures, ids[large], at).astype(np.uint64)
        else:
            within = np.arange(keys.size) - np.repeat(starts, sizes)
            value = (within[large] // MOST_MEMBERS).astype(np.uint64)
        keys = keys.copy()
        keys[large] = mixed(keys[large] + value * np.uint64(0x9E3779B97F4A7C15))
        order = np.lexsort((ids, keys))
        keys, ids = keys[order], ids[order]
    return keys, ids


def _chunks(starts: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the bounds of whole groups, in chunks of about CHUNK_ROWS rows."""
    at = 0
    while at < starts.size - 1:
        end = int(np.searchsorted(starts, starts[at] + CHUNK_ROWS, "right")) - 1
        end = max(end, at + 1)
        yield starts[at : end + 1]
        at = end


def _best_first_in_large(
    starts: np.ndarray,
    ids: np.ndarray,
    stands_for: np.ndarray,
    every_id: np.ndarray,
    ranked: list[Ranked],
    preference: Preference,
) -> np.ndarray:
    """Return the ids, those of large groups sorted from best to worst.

    Of large groups not all pairs are compared. A text ranks as its best copy, as in `resolve`:
    every_id[i] has the text of stands_for[i]. All groups are sorted at once, so that each part's
    tables are read once and not per group.
    """
    sizes = np.diff(starts)
    group = np.repeat(np.arange(sizes.size), sizes)
    large = np.flatnonzero(sizes[group] > MOST_PARTNERS + 1)
    if large.size == 0:
        return ids
    mine = ids[large]
    copies = np.isin(stands_for, mine)
    ranks = order_of(ranked, every_id[copies], preference)
    best = stands_for[copies][best_first(ranks, every_id[copies])]
    texts, place = np.unique(best, return_index=True)
    place = place[np.searchsorted(texts, mine)]
    ids[large] = mine[np.lexsort((place, group[large]))]
    return ids


def similar_edges(
    parts: list[Bands],
    share: Slice,
    corpus: Corpus,
    width: int,
    least: int,
    preference: Preference,
) -> np.ndarray:
    """Return EDGE: pairs of different texts that share a key of the slice, by their sketches.

    Only pairs with at least `least` equal sketch values. A pair that shares an earlier band is
    left to that band. The least id represents all copies of a text.
    """
    # Compiled code is loaded only by jobs that compare sketches.
    from corpusmill.kernels.similarity import pairs_of_groups

    every_key, every_id, first = _by_digest(*entries_in(parts, share), corpus.digests)
    keys, ids = every_key[first], every_id[first]
    stands_for = ids[np.cumsum(first) - 1]
    several = of_several(heads_of_groups(keys))
    keys, ids = keys[several], ids[several]
    if ids.size == 0:
        return edges_of(ids, ids, 0)
    order = np.lexsort((ids, keys))
    keys, ids = _cut_large(keys[order], ids[order], corpus.signatures, (share.band + 1) * width)
    starts = np.append(np.flatnonzero(heads_of_groups(keys)), ids.size)
    ids = _best_first_in_large(starts, ids, stands_for, every_id, corpus.ranked, preference)
    a, b, matches = [], [], []
    for bounds in _chunks(starts):
        members = ids[bounds[0] : bounds[-1]]
        bounds = bounds - bounds[0]
        found = pairs_of_groups(
            looked_up(corpus.signatures, members), bounds, share.band, width, least, MOST_PARTNERS
        )
        a.append(members[found[:, 0]])
        b.append(members[found[:, 1]])
        matches.append(found[:, 2])
    return edges_of(np.concatenate(a), np.concatenate(b), np.concatenate(matches))
