"""Count what FineWeb's rules need of the lines of a document."""

import numpy as np

from corpusmill.kernels.clean import decode_one
from corpusmill.kernels.jit import kernel
from corpusmill.kernels.repeats import repeats, slots_for


@kernel
def ends_with_one_of(data, start, stop, marks):
    """Return whether data[start:stop], not empty, ends in one of `marks`."""
    at = stop - 1
    while data[at] & 0xC0 == 0x80:
        at -= 1
    point, _ = decode_one(data, at)
    place = np.searchsorted(marks, point)
    return place < marks.size and marks[place] == point


@kernel
def fineweb_quality(data, first, lines, marks, short, counts):
    """Count lines and characters by property. Blank lines do not count as lines.

    counts: int64 (documents, 6), written: lines, lines that end in one of `marks`, lines of at most
    `short` characters, characters of repeated lines except first copies, all characters but
    newlines, newlines. first, lines: see kernels.lines. marks: uint32, ascending.
    """
    starts, ends, chars, line_hashes, blank = lines
    most = 1
    for d in range(first.size - 1):
        most = max(most, first[d + 1] - first[d])
    hashes, sizes = np.empty(most, np.uint64), np.empty(most, np.int64)
    slots = np.empty(4 * most + 16, np.uint64)
    for d in range(first.size - 1):
        solid = ended = shorter = total = 0
        for k in range(first[d], first[d + 1]):
            total += chars[k]
            if not blank[k]:
                ended += ends_with_one_of(data, starts[k], ends[k], marks)
                shorter += chars[k] <= short
                hashes[solid], sizes[solid] = line_hashes[k], chars[k]
                solid += 1
        counts[d, 0], counts[d, 1], counts[d, 2] = solid, ended, shorter
        _, counts[d, 3] = repeats(hashes[:solid], sizes[:solid], slots_for(solid, slots))
        counts[d, 4], counts[d, 5] = total, first[d + 1] - first[d] - 1
