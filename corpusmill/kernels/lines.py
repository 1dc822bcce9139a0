"""Texts split into lines, and what filters ask of each."""

import numpy as np

from corpusmill.kernels.clean import decode_one
from corpusmill.kernels.jit import kernel
from corpusmill.kernels.words import BASE, NO_BLANK, U

NEWLINE = 0x0A


@kernel
def split_newlines(data, offsets, table, first, starts, ends, chars, hashes, blank):
    """Split every text of a column at newlines, as `str.split("\\n")`; return how many lines.

    data: uint8, valid UTF-8. offsets: int64 (documents + 1,). table: uint16 (0x110000,), see
    corpusmill/text/words.py. Written: first, int64 (documents + 1,), the number of each document's
    first line, then the total; and with room for all of them where each line begins and ends
    (int64), its characters (uint32), its hash as words have it (uint64), whether all of it is white
    space (bool).
    """
    n = 0
    for d in range(first.size - 1):
        first[d] = n
        i, stop = offsets[d], offsets[d + 1]
        starts[n] = i
        length, solid, value = np.uint32(0), 0, U(0)
        while i < stop:
            at = i
            if data[i] < 0x80:
                point = U(data[i])
                i += 1
            else:
                wide, i = decode_one(data, i)
                point = U(wide)
            if point == U(NEWLINE):
                ends[n], chars[n], hashes[n], blank[n] = at, length, value, solid == 0
                n += 1
                starts[n] = i
                length, solid, value = np.uint32(0), 0, U(0)
            else:
                length += np.uint32(1)
                solid |= table[point] & NO_BLANK
                value = value * BASE + point + U(1)
        ends[n], chars[n], hashes[n], blank[n] = stop, length, value, solid == 0
        n += 1
    first[first.size - 1] = n
    return n


@kernel
def is_line_end(point):
    """Whether `str.splitlines` ends a line there."""
    return (
        0x0A <= point <= 0x0D
        or 0x1C <= point <= 0x1E
        or point == 0x85
        or point == 0x2028
        or point == 0x2029
    )


@kernel
def line_end(data, i, stop):
    """Where the line of `str.splitlines` that begins at byte i ends, and where the next begins."""
    while i < stop:
        lead = data[i]
        if lead > 0x1E and lead != 0xC2 and lead != 0xE2:
            i += 1
            continue
        point, after = decode_one(data, i)
        if is_line_end(point):
            if point == 0x0D and after < stop and data[after] == NEWLINE:
                after += 1
            return i, after
        i = after
    return stop, stop


@kernel
def without_blanks(data, i, stop, table):
    """data[i:stop] without white space at its ends: where it begins and ends."""
    while i < stop:
        point, after = decode_one(data, i)
        if table[point] & NO_BLANK:
            break
        i = after
    while stop > i:
        before = stop - 1
        while data[before] & 0xC0 == 0x80:
            before -= 1
        point, _ = decode_one(data, before)
        if table[point] & NO_BLANK:
            break
        stop = before
    return i, stop
