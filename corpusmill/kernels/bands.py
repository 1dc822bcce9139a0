"""LSH bands: keys of sketch slices, and the edges between documents that share one."""

import numpy as np

from corpusmill.kernels.jit import kernel

MULTIPLIER_1 = np.uint64(0xBF58476D1CE4E5B9)
MULTIPLIER_2 = np.uint64(0x94D049BB133111EB)
INCREMENT = np.uint64(0x9E3779B97F4A7C15)


@kernel
def mixed(x):
    """splitmix64's finalizer, a bijection of 64-bit numbers."""
    x = (x ^ x >> np.uint64(30)) * MULTIPLIER_1
    x = (x ^ x >> np.uint64(27)) * MULTIPLIER_2
    return x ^ x >> np.uint64(31)


@kernel
def band_keys(signatures, rows, first, width, keys):
    """keys[k] = a 64-bit digest of signatures[rows[k], first : first + width].

    signatures: uint32 (documents, permutations). rows: uint32. keys: uint64, written.
    Two different slices meet in one key with probability 2**-64, so a key stands for its slice.
    """
    for k in range(rows.size):
        key = INCREMENT
        for j in range(first, first + width):
            key = mixed(key + INCREMENT + np.uint64(signatures[rows[k], j]))
        keys[k] = key


@kernel
def count_star_edges(keys):
    """How many entries of a sorted key column are not the first of their key."""
    n = 0
    for i in range(1, keys.size):
        n += keys[i] == keys[i - 1]
    return n


@kernel
def star_edges(keys, ids, pairs):
    """pairs == [(first id of the key's group, id) for every later entry of the group].

    keys: uint64, sorted, equal keys with ascending ids. pairs: uint64 (edges, 2), written.
    A group of k documents gives k - 1 edges: its component is the same as with all k * (k-1) / 2.
    """
    n = 0
    first = 0
    for i in range(1, keys.size):
        if keys[i] == keys[i - 1]:
            pairs[n, 0] = ids[first]
            pairs[n, 1] = ids[i]
            n += 1
        else:
            first = i
    return n
