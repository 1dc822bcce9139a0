"""Measure repetition as DCLM and RedPajama do: every copy counts, each character once."""

import numpy as np

from corpusmill.kernels.clean import decode_one, longest_of
from corpusmill.kernels.gopher import (
    HAS_ALPHA,
    LEAST_DUPLICATE,
    LEAST_TOP,
    MOST_DUPLICATE,
    MOST_TOP,
    count_symbols,
    ends_in_ellipsis,
)
from corpusmill.kernels.jit import kernel
from corpusmill.kernels.lines import hash_of, without_blanks
from corpusmill.kernels.repeats import (
    NONE,
    find_pairs,
    key_of,
    lengthen,
    place_in,
    room_for_elements,
    room_for_grams,
    slots_for,
    top_gram,
)
from corpusmill.kernels.words import U


@kernel
def copies(hashes, sizes, slots, counts):
    """Count the elements that occur more than once, and their characters."""
    slots[:] = U(0)
    counts[:] = 0
    for k in range(hashes.size):
        key = key_of(hashes[k], sizes[k])
        place = place_in(slots, key)
        slots[place] = key
        counts[place] += 1
    count = size = 0
    for k in range(hashes.size):
        if counts[place_in(slots, key_of(hashes[k], sizes[k]))] > 1:
            count += 1
            size += sizes[k]
    return count, size


@kernel
def stripped_segments(data, starts, ends, chars, table, whole, hashes, sizes):
    """Compute hash and characters of each stripped line, or of each paragraph between empty lines.

    Return the number of those that are not empty.
    """
    n = begin = 0
    while begin < starts.size:
        end = begin + 1
        while whole and chars[begin] > 0 and end < starts.size and chars[end] > 0:
            end += 1
        left, right = without_blanks(data, starts[begin], ends[end - 1], table)
        if left < right:
            hashes[n], sizes[n] = hash_of(data, left, right)
            n += 1
        begin = end
    return n


@kernel
def count_copies(data, first, lines, table, counts):
    """Count lines and paragraphs, and those that occur more than once.

    counts: int64 (documents, 8), written: lines, repeated lines, characters of all lines, of
    repeated lines; the same for paragraphs. first, lines: lines split at newlines, see
    kernels.lines.
    """
    starts, ends, chars, _, _ = lines
    hashes, sizes, slots = room_for_elements(longest_of(first))
    often = np.empty(slots.size, np.int64)
    for d in range(first.size - 1):
        begin, end = first[d], first[d + 1]
        for whole in range(2):
            n = stripped_segments(
                data, starts[begin:end], ends[begin:end], chars[begin:end], table, whole == 1,
                hashes, sizes,
            )  # fmt: skip
            used = slots_for(n, slots)
            count, size = copies(hashes[:n], sizes[:n], used, often[: used.size])
            at = 4 * whole
            counts[d, at], counts[d, at + 1] = n, count
            counts[d, at + 2], counts[d, at + 3] = sizes[:n].sum(), size


@kernel
def longest_top_gram(grams, at, n, often):
    """Return the characters of the longest n-gram that occurs `often` times."""
    longest = 0
    for k in range(at.size - n):
        if np.int64(grams.members[grams.classes[k]] >> U(32)) == often:
            longest = max(longest, at[k + n] - at[k])
    return longest


@kernel
def covered_chars(grams, at, n):
    """Count the characters of words in n-grams that occur more than once."""
    chars = behind = 0
    for k in range(at.size - n):
        if grams.classes[k] != NONE:
            chars += at[k + n] - at[max(k, behind)]
            behind = k + n
    return chars


@kernel
def copied_gram_shares(first, chars, hashes, longest_of_equals, shares):
    """Compute the shares of characters in top and repeated n-grams, relative to all words.

    shares: float64 (documents, 9), written: the top 2-, 3- and 4-gram, 0 if it occurs once; all
    repeated 5- to 10-grams. first, chars, hashes: the words. longest_of_equals: whether a tie
    between top n-grams goes to the longest or to the first.
    """
    most = longest_of(first)
    grams, ats = room_for_grams(most), np.zeros(most + 1, np.int64)
    for d in range(first.size - 1):
        of_words = hashes[first[d] : first[d + 1]]
        at = ats[: of_words.size + 1]
        for k in range(of_words.size):
            at[k + 1] = at[k] + chars[first[d] + k]
        shares[d] = 0
        total = max(at[of_words.size], 1)
        find_pairs(of_words, grams)
        for n in range(LEAST_TOP, MOST_DUPLICATE + 1):
            if n <= MOST_TOP:
                often, place = top_gram(grams)
                if often > 0:
                    of_top = at[place + n] - at[place]
                    if longest_of_equals:
                        of_top = longest_top_gram(grams, at, n, often)
                    shares[d, n - LEAST_TOP] = of_top * often / total
            if n >= LEAST_DUPLICATE:
                shares[d, n - LEAST_TOP] = covered_chars(grams, at, n) / total
            lengthen(grams)


@kernel
def ends_in_dots(data, start, stop):
    """Return whether data[start:stop] ends in ... or . . . or …"""
    if ends_in_ellipsis(data, start, stop):
        return True
    if stop - start < 5:
        return False
    dots = data[stop - 5] == 0x2E and data[stop - 3] == 0x2E and data[stop - 1] == 0x2E
    return dots and data[stop - 4] == 0x20 and data[stop - 2] == 0x20


@kernel
def count_spaced_dots(data, start, stop):
    """Count `. . .` in data[start:stop], without overlaps."""
    n, i = 0, start
    while i + 5 <= stop:
        if data[i] == 0x2E and ends_in_dots(data, i, i + 5) and data[i + 1] == 0x20:
            n += 1
            i += 5
        else:
            i += 1
    return n


@kernel
def count_marked_lines(data, first, lines, table, bullets, counts):
    """Count lines that begin with a bullet, and lines that end in dots. Lines are stripped.

    counts: int64 (documents, 2), written. bullets: uint32.
    """
    starts, ends = lines[0], lines[1]
    for d in range(first.size - 1):
        begun = dotted = 0
        for k in range(first[d], first[d + 1]):
            left, right = without_blanks(data, starts[k], ends[k], table)
            dotted += ends_in_dots(data, left, right)
            if left < right:
                point, _ = decode_one(data, left)
                begun += np.any(bullets == point)
        counts[d, 0], counts[d, 1] = begun, dotted


@kernel
def count_plain_words(data, offsets, first, chars, facts, hashes, stop_words, counts):
    """Count words and their properties, and symbols in the text.

    counts: int64 (documents, 5), written: words, their characters, words without a letter, stop
    words, # and ellipses. stop_words: uint64, ascending, hashes.
    """
    for d in range(first.size - 1):
        size = alpha = stops = 0
        for k in range(first[d], first[d + 1]):
            size += chars[k]
            alpha += facts[k] & HAS_ALPHA
            if chars[k] <= 4:  # the length of the longest stop word
                place = np.searchsorted(stop_words, hashes[k])
                stops += place < stop_words.size and stop_words[place] == hashes[k]
        words = first[d + 1] - first[d]
        marks, ellipses = count_symbols(data, offsets[d], offsets[d + 1])
        counts[d, 0], counts[d, 1], counts[d, 2], counts[d, 3] = words, size, words - alpha, stops
        counts[d, 4] = marks + ellipses + count_spaced_dots(data, offsets[d], offsets[d + 1])
