"""Connected components by union-find over dense document numbers."""

import numpy as np

from corpusmill.kernels.jit import kernel

ROW_BITS = np.uint64(32)
ROW_MASK = np.uint64(0xFFFFFFFF)


@kernel
def join(parent, x, y):
    """Join the sets of x and y. parent[x] <= x for every x, so a root is its set's least member.

    Rem's algorithm: it climbs both paths at once and hangs each step of the higher one onto the
    lower, which shortens them for later; it stops where they meet, mostly long before the roots.
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
def join_pairs(pairs, part_starts, parent):
    """Join the documents of each pair.

    pairs: uint64 (pairs, 2) of document ids. part_starts: int64, dense number of each part's row 0.
    parent: unsigned (documents,), parent[x] <= x, updated in place.
    """
    for i in range(pairs.shape[0]):
        one = part_starts[pairs[i, 0] >> ROW_BITS] + np.int64(pairs[i, 0] & ROW_MASK)
        other = part_starts[pairs[i, 1] >> ROW_BITS] + np.int64(pairs[i, 1] & ROW_MASK)
        join(parent, one, other)


@kernel
def join_numbers(one, other, parent):
    """Join the documents of each pair, given by their dense numbers."""
    for i in range(one.size):
        join(parent, one[i], other[i])


@kernel
def flatten(parent):
    """Point every document at its root. Parents come first, so one pass upwards is enough."""
    for x in range(parent.size):
        parent[x] = parent[parent[x]]
