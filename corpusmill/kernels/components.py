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
def flatten(parent):
    """Point every document at its root. Parents come first, so one pass upwards is enough."""
    for x in range(parent.size):
        parent[x] = parent[parent[x]]


@kernel
def elect(members, roots, worse, sizes, best, winners):
    """Let each document of one part stand for election in its component.

    members: int64, dense numbers of the part's rows that are in a component of two or more.
    roots: int64, the components' indices of these. worse, sizes: uint32/uint64 per member; the
    least `worse` wins, then the greatest size, then the first to come (ascending numbers).
    best: (components, 2) uint64 and winners: int64 (components,), -1 before the first; in place.
    """
    for i in range(members.size):
        c = roots[i]
        if (
            winners[c] < 0
            or worse[i] < best[c, 0]
            or (worse[i] == best[c, 0] and sizes[i] > best[c, 1])
        ):
            winners[c] = members[i]
            best[c, 0] = worse[i]
            best[c, 1] = sizes[i]
