"""Packing of documents into rows of one capacity: best fit, longest first.

Every row that still has room is in the heap of its room, with its number as the key. So the root of
a heap is the earliest row with that room. The heaps are skew heaps in two arrays, because a row is
in one heap at a time. A binary tree over all rooms tells which heaps have rows.
"""

import numpy as np

from corpusmill.kernels.jit import kernel

NONE = -1
"""No row."""


@kernel
def cut_documents(starts, length, start, size):
    """Cut documents into pieces of at most length + 1 tokens; two neighbors share one token.

    starts: int64 (documents + 1,), ascending. start: int64, size: int32 (pieces,), filled: first
    token of each piece, and its tokens.
    """
    piece = 0
    for document in range(starts.size - 1):
        first, end = starts[document], starts[document + 1]
        while end - first > length + 1:
            start[piece] = first
            size[piece] = length + 1
            piece += 1
            first += length
        start[piece] = first
        size[piece] = end - first
        piece += 1


@kernel
def longest_first(size, capacity):
    """Return int32 (pieces,): pieces by falling size, equal ones in order.

    size: int32 (pieces,), from 1 to capacity.
    """
    place = np.zeros(capacity + 1, np.int64)
    for piece in range(size.size):
        place[capacity - size[piece]] += 1
    before = 0
    for shorter in range(place.size):
        here = place[shorter]
        place[shorter] = before
        before += here
    order = np.empty(size.size, np.int32)
    for piece in range(size.size):
        shorter = capacity - size[piece]
        order[place[shorter]] = piece
        place[shorter] += 1
    return order


@kernel
def merged(left, right, one, other):
    """Return the root of two heaps merged, each given by its root or NONE.

    left, right: int32 (rows,), the children of each row, updated in place. The merge goes down the
    right sides and swaps the children on its way. That keeps the cost logarithmic on average.
    """
    if one < 0 or other < 0:
        return max(one, other)
    root = min(one, other)
    row, rest = root, max(one, other)
    while True:
        below = right[row]
        right[row] = left[row]
        if below < 0:
            left[row] = rest
            return root
        left[row] = min(below, rest)
        rest = max(below, rest)
        row = left[row]


@kernel
def mark(tree, room, has_rows):
    """Note whether rows have this room. tree: bool (2 * leaves,), tree[n] = tree[2n] or tree[2n +
    1]; the rooms are its leaves."""
    node = tree.size // 2 + room
    tree[node] = has_rows
    node //= 2
    while node and tree[node] != (tree[2 * node] or tree[2 * node + 1]):
        tree[node] = not tree[node]
        node //= 2


@kernel
def least_room(tree, needed):
    """Return the least room of a row that is at least `needed`, or NONE. tree: as in `mark`."""
    leaves = tree.size // 2
    node = leaves + needed
    while not tree[node]:
        # Up, past all subtrees that end before the next leaf; then to the right.
        while node & 1:
            node //= 2
        if not node:
            return NONE
        node += 1
    while node < leaves:
        node = 2 * node if tree[2 * node] else 2 * node + 1
    return node - leaves


@kernel
def best_fit(size, capacity, row_of):
    """Put each piece, longest first, into the row with the least room in which it fits, the
    earliest of equal ones; into a new row if it fits in none. Return the number of rows.

    size: int32 (pieces,), from 1 to capacity. row_of: int32 (pieces,), filled. Uses 12 bytes per
    piece beside them, and at most 16 per token of capacity.
    """
    order = longest_first(size, capacity)
    leaves = 2
    while leaves <= capacity:
        leaves *= 2
    tree = np.zeros(2 * leaves, np.bool_)
    roots = np.full(capacity + 1, NONE, np.int32)
    left = np.full(size.size, NONE, np.int32)
    right = np.full(size.size, NONE, np.int32)
    rows = 0
    for piece in order:
        room = least_room(tree, size[piece])
        if room < 0:
            row, room = rows, capacity
            rows += 1
        else:
            row = roots[room]
            roots[room] = merged(left, right, left[row], right[row])
            left[row] = right[row] = NONE
            if roots[room] < 0:
                mark(tree, room, False)
        row_of[piece] = row
        rest = room - size[piece]
        if rest:
            if roots[rest] < 0:
                mark(tree, rest, True)
            roots[rest] = merged(left, right, roots[rest], row)
    return rows


@kernel
def by_row(row_of, first, pieces):
    """Sort pieces by row, those of a row in order.

    row_of: int32 (pieces,). first: int64 (rows + 1,), zeros, filled: row r has pieces[first[r] :
    first[r + 1]]. pieces: int32 (pieces,), filled.
    """
    for row in row_of:
        first[row + 1] += 1
    for row in range(1, first.size):
        first[row] += first[row - 1]
    # Each start moves to the next row's, and all are moved back at the end.
    for piece in range(row_of.size):
        row = row_of[piece]
        pieces[first[row]] = piece
        first[row] += 1
    for row in range(first.size - 1, 0, -1):
        first[row] = first[row - 1]
    first[0] = 0
