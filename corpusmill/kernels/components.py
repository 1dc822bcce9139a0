"""Connected components by union-find over dense document numbers."""

import numpy as np

from corpusmill.kernels.jit import kernel

ROW_BITS = np.uint64(32)
ROW_MASK = np.uint64(0xFFFFFFFF)


@kernel
def join(parent, x, y):
    """Join the sets of x and y. parent[x] <= x for every x, so a root is its set's least member.

    Rem's algorithm climbs both paths at once and attaches each step of the higher path to the lower
    one, which shortens later paths. It stops where they meet, mostly long before the roots.
    """
    while parent[x] != parent[y]:
        if parent[x] < parent[y]:
            x, y = y, x
        above = parent[x]
        parent[x] = parent[y]
        if above == x:
            return
        x = above


@kernel
def dense_number(id, part_starts):
    """Return uint64: the number of a document among those of all parts."""
    # Unsigned, because the check for negative indices makes `join_pairs` 1.6 times slower.
    return np.uint64(part_starts[id >> ROW_BITS]) + (id & ROW_MASK)


PAIRS_AT_ONCE = 128


@kernel
def join_pairs(pairs, part_starts, parent):
    """Join the documents of each pair.

    pairs: uint64 (pairs, 2) of document ids. part_starts: int64, dense number of each part's row 0.
    parent: unsigned (documents,), parent[x] <= x, updated in place.
    """
    one = np.empty(PAIRS_AT_ONCE, np.uint64)
    other = np.empty(PAIRS_AT_ONCE, np.uint64)
    for start in range(0, pairs.shape[0], PAIRS_AT_ONCE):
        n = min(PAIRS_AT_ONCE, pairs.shape[0] - start)
        for i in range(n):
            one[i] = dense_number(pairs[start + i, 0], part_starts)
            other[i] = dense_number(pairs[start + i, 1], part_starts)
        # Most of these reads miss the cache. They are independent, so many run at once; `join`
        # would wait for each, and now starts one step higher. In the loop above they would wait for
        # `pairs`. A parent may be outdated once its pair is joined, but it stays in the set. Tried:
        # a second step, blocks of 64 to 1024; no faster.
        for i in range(n):
            one[i] = parent[one[i]]
            other[i] = parent[other[i]]
        for i in range(n):
            join(parent, one[i], other[i])


@kernel
def join_numbers(one, other, parent):
    """Join the documents of each pair, given by their dense numbers."""
    for i in range(one.size):
        join(parent, one[i], other[i])


@kernel
def flatten(parent):
    """Point every document at its root. Parents come first, so one ascending pass is enough."""
    for x in range(parent.size):
        parent[x] = parent[parent[x]]
