"""Count characters by kind."""

import numpy as np

from corpusmill.kernels.clean import decode_one
from corpusmill.kernels.jit import kernel

KINDS = 8


@kernel
def count_kinds(data, offsets, table, counts):
    """Count the characters of each kind.

    data: uint8, valid UTF-8. offsets: int64 (documents + 1,). table: uint8 (0x110000,), bit k says
    whether a character is of kind k. counts: int64 (documents, KINDS), written.
    """
    # A sum has one byte per kind, so that a character costs one addition and no branch. A byte
    # holds counts up to 255, which 255 bytes of text cannot exceed.
    spread = np.zeros(256, np.uint64)
    for bits in range(256):
        for kind in range(KINDS):
            spread[bits] |= np.uint64(bits >> kind & 1) << np.uint64(8 * kind)
    of_ascii = spread[table[:0x80]]
    counts[:] = 0
    for d in range(counts.shape[0]):
        i, stop = offsets[d], offsets[d + 1]
        while i < stop:
            end = min(i + 255, stop)
            total = np.uint64(0)
            while i < end:
                if data[i] < 0x80:
                    total += of_ascii[data[i]]
                    i += 1
                else:
                    point, i = decode_one(data, i)
                    total += spread[table[point]]
            for kind in range(KINDS):
                counts[d, kind] += np.int64(total >> np.uint64(8 * kind) & np.uint64(255))
