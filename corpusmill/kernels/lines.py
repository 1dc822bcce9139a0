"""Split texts into lines, and record properties of each."""

import numpy as np

from corpusmill.kernels.clean import before, decode_one
from corpusmill.kernels.finding import any_of, finder
from corpusmill.kernels.jit import kernel
from corpusmill.kernels.splitting import NEWLINE, find_newline
from corpusmill.kernels.words import BASE, NO_BLANK, U

BASE_2, BASE_3, BASE_4 = (U(pow(int(BASE), k, 1 << 64)) for k in (2, 3, 4))

# Line ends of `str.splitlines`.
find_line_end = finder([((0x0A, 0x0D),), ((0x1C, 0x1E),), *any_of("\x85\u2028\u2029")])


@kernel
def hash_of(data, start, stop):
    """Return the hash of data[start:stop], as for words, and its number of characters."""
    value, i, end = U(0), U(start), U(stop)
    size = 0
    while i < end:
        # Four at once; otherwise each multiplication waits for the previous one.
        while i + U(4) <= end:
            a, b, c, d = data[i], data[i + U(1)], data[i + U(2)], data[i + U(3)]
            if a | b | c | d >= 0x80:
                break
            first_two = (U(a) + U(1)) * BASE_3 + (U(b) + U(1)) * BASE_2
            value = value * BASE_4 + (first_two + ((U(c) + U(1)) * BASE + (U(d) + U(1))))
            i += U(4)
            size += 4
        if i < end:
            point, after = decode_one(data, np.int64(i))
            value = value * BASE + (U(point) + U(1))
            i = U(after)
            size += 1
    return value, size


@kernel
def blanks_end(data, i, stop, table):
    """Return the end of the white space at byte i."""
    while i < stop:
        point, after = decode_one(data, i)
        if table[point] & NO_BLANK:
            break
        i = after
    return i


@kernel
def split_newlines(data, offsets, table, first, starts, ends, chars, hashes, blank):
    r"""Split every text of a column at newlines, as `str.split("\n")`; return the number of lines.

    data: uint8, valid UTF-8. offsets: int64 (documents + 1,). table: uint16 (0x110000,), see
    filters/features/words.py. Written: first, int64 (documents + 1,), the number of each document's
    first line, then the total. For each line: start and end (int64), characters (uint32), hash as
    for words (uint64), whether it is only white space (bool).
    """
    n = 0
    for d in range(first.size - 1):
        first[d] = n
        start, stop = offsets[d], offsets[d + 1]
        while start <= stop:
            end = find_newline(data, start, stop)
            starts[n], ends[n] = start, end
            hashes[n], chars[n] = hash_of(data, start, end)
            blank[n] = blanks_end(data, start, end, table) == end
            n += 1
            start = end + 1
    first[first.size - 1] = n
    return n


@kernel
def line_end(data, i, stop):
    """Return the end of the `str.splitlines` line at byte i, and the start of the next line."""
    i = find_line_end(data, i, stop)
    if i == stop:
        return stop, stop
    lead = data[i]
    if lead >= 0x80:
        return i, i + (2 if lead == 0xC2 else 3)
    crlf = lead == 0x0D and i + 1 < stop and data[i + 1] == NEWLINE
    return i, i + (2 if crlf else 1)


@kernel
def without_blanks(data, i, stop, table):
    """Return start and end of data[i:stop] without surrounding white space."""
    i = blanks_end(data, i, stop, table)
    while stop > i:
        last = before(data, stop)
        point, _ = decode_one(data, last)
        if table[point] & NO_BLANK:
            break
        stop = last
    return i, stop


@kernel
def ends_with_one_of(data, stop, marks):
    """Return whether the character before byte `stop` is one of `marks`, uint32, ascending."""
    point, _ = decode_one(data, before(data, stop))
    place = np.searchsorted(marks, point)
    return place < marks.size and marks[place] == point


@kernel
def count_chars(data):
    """Count the characters of valid UTF-8."""
    chars = 0
    for byte in data:
        chars += byte & 0xC0 != 0x80
    return chars


@kernel
def count_long_lines(data, offsets, least, counts):
    """Count the lines, split at newlines, of at least `least` characters.

    data: uint8, valid UTF-8. offsets: int64 (documents + 1,). counts: int64 (documents,), written.
    """
    for d in range(offsets.size - 1):
        counts[d] = 0
        start, stop = offsets[d], offsets[d + 1]
        while start <= stop:
            end = find_newline(data, start, stop)
            if end - start >= least:
                counts[d] += count_chars(data[start:end]) >= least
            start = end + 1
