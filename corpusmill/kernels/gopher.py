"""Count what Gopher's rules need of a document: words, lines and repetition.

DeepMind's paper leaves details open; these are datatrove's: shares are of all characters of the
text, and the first occurrence is not a repeat.
"""

import numpy as np

from corpusmill.kernels.clean import longest_of
from corpusmill.kernels.finding import finder, literal
from corpusmill.kernels.jit import kernel
from corpusmill.kernels.lines import hash_of, line_end, without_blanks
from corpusmill.kernels.repeats import (
    NONE,
    find_pairs,
    lengthen,
    repeats,
    room_for_elements,
    room_for_grams,
    slots_for,
    top_gram,
)
from corpusmill.kernels.splitting import NEWLINE
from corpusmill.kernels.words import ALPHA, BASE, FACTS, NO_MARK, U

HAS_ALPHA, HAS_NO_MARK = ALPHA >> FACTS, NO_MARK >> FACTS
LEAST_TOP, MOST_TOP = 2, 4
LEAST_DUPLICATE, MOST_DUPLICATE = 5, 10

find_symbol = finder([literal("#"), literal("..."), literal("…")])


@kernel
def ends_in_ellipsis(data, start, stop):
    """Return whether data[start:stop] ends in ... or …"""
    if stop - start < 3:
        return False
    a, b, c = data[stop - 3], data[stop - 2], data[stop - 1]
    return (a == 0x2E and b == 0x2E and c == 0x2E) or (a == 0xE2 and b == 0x80 and c == 0xA6)


@kernel
def begins_as_bullet(data, start, stop):
    """Return whether data[start:stop] begins with - or •"""
    if start < stop and data[start] == 0x2D:
        return True
    if stop - start < 3:
        return False
    return data[start] == 0xE2 and data[start + 1] == 0x80 and data[start + 2] == 0xA2


@kernel
def count_symbols(data, start, stop):
    """Count # in data[start:stop], and ... and … together."""
    hashes = ellipses = 0
    i = find_symbol(data, start, stop)
    while i < stop:
        if data[i] == 0x23:
            hashes += 1
            i += 1
        else:  # both have three bytes; three dots may end after the text
            ellipses += i + 3 <= stop
            i += 3
        i = find_symbol(data, i, stop)
    return hashes, ellipses


@kernel
def count_lines(data, start, stop, table):
    """Count lines of `str.splitlines`, lines with a bullet, and lines that end in an ellipsis."""
    lines = bullets = ellipses = 0
    while start < stop:
        end, after = line_end(data, start, stop)
        a, b = without_blanks(data, start, end, table)
        lines += 1
        bullets += begins_as_bullet(data, a, b)
        ellipses += ends_in_ellipsis(data, a, b)
        start = after
    return lines, bullets, ellipses


@kernel
def gopher_quality(data, offsets, table, first, chars, facts, hashes, stop_words, counts):
    """Count words, symbols and lines.

    counts: int64 (documents, 10), written: all words, words other than punctuation, their
    characters, words with a letter, different stop words, #, ellipses, lines, lines with a bullet,
    lines that end in an ellipsis. first, chars, facts, hashes: the words, see kernels.words.
    stop_words: uint64, hashes.
    """
    seen = np.zeros(stop_words.size, np.int64)
    may_be_one = np.zeros(256, np.bool_)
    for one in stop_words:
        may_be_one[one & U(255)] = True
    for d in range(first.size - 1):
        solid = letters = alpha = found = 0
        for k in range(first[d], first[d + 1]):
            is_solid = facts[k] // HAS_NO_MARK & 1
            solid += is_solid
            letters += is_solid * chars[k]
            alpha += facts[k] & HAS_ALPHA
            if may_be_one[hashes[k] & U(255)]:
                for place in range(stop_words.size):
                    if stop_words[place] == hashes[k] and seen[place] != d + 1:
                        seen[place] = d + 1
                        found += 1
        counts[d, 0], counts[d, 1], counts[d, 2] = first[d + 1] - first[d], solid, letters
        counts[d, 3], counts[d, 4] = alpha, found
        counts[d, 5], counts[d, 6] = count_symbols(data, offsets[d], offsets[d + 1])
        counts[d, 7], counts[d, 8], counts[d, 9] = count_lines(
            data, offsets[d], offsets[d + 1], table
        )


@kernel
def power_of_base(k):
    found, square = U(1), BASE
    while k > 0:
        if k & 1:
            found *= square
        square *= square
        k >>= 1
    return found


@kernel
def paragraphs_of(data, lines, begin, end, table, hashes, sizes):
    """Compute hash and characters of a text's paragraphs; return their number.

    The text is stripped, and paragraphs are separated by empty lines. begin, end: its lines.
    """
    starts, ends, chars, line_hashes, blank = lines
    while begin < end and blank[begin]:
        begin += 1
    while end > begin and blank[end - 1]:
        end -= 1
    n = 0
    inside = False
    for k in range(begin, end):
        size, value = np.int64(chars[k]), line_hashes[k]
        if k == begin or k == end - 1:
            left, right = without_blanks(data, starts[k], ends[k], table)
            left = left if k == begin else starts[k]
            value, size = hash_of(data, left, right if k == end - 1 else ends[k])
        if size == 0:
            inside = False
        elif inside:
            with_newline = hashes[n - 1] * BASE + U(NEWLINE + 1)
            hashes[n - 1] = with_newline * power_of_base(size) + value
            sizes[n - 1] += size + 1
        else:
            hashes[n], sizes[n] = value, size
            n += 1
            inside = True
    return n


@kernel
def count_repeats(data, offsets, first, lines, table, counts):
    """Count characters, paragraphs and lines, and the repeats among them.

    counts: int64 (documents, 7), written: characters of the text; paragraphs, repeated ones and
    their characters; lines, repeated ones and their characters. Lines are separated by runs of
    newlines. first, lines: lines split at newlines, see kernels.lines.
    """
    hashes, sizes, slots = room_for_elements(longest_of(first))
    for d in range(first.size - 1):
        begin, end = first[d], first[d + 1]
        total = end - begin - 1
        for k in range(begin, end):
            total += lines[2][k]
        counts[d, 0] = total
        n = paragraphs_of(data, lines, begin, end, table, hashes, sizes)
        counts[d, 1] = max(n, 1)
        counts[d, 2], counts[d, 3] = repeats(hashes[:n], sizes[:n], slots_for(n, slots))
        n = 0
        for k in range(begin, end):
            if lines[2][k] > 0 or k == begin or k == end - 1:
                hashes[n], sizes[n] = lines[3][k], lines[2][k]
                n += 1
        counts[d, 4] = n
        counts[d, 5], counts[d, 6] = repeats(hashes[:n], sizes[:n], slots_for(n, slots))


@kernel
def find_next_places(grams, next_place):
    """Find the next position after each word where a repeated n-gram begins.

    next_place: int64 (words,), written; the number of words if there is none.
    """
    behind = next_place.size
    for before in range(next_place.size):
        k = next_place.size - 1 - before
        next_place[k] = behind
        behind = behind if grams.classes[k] == NONE else k


@kernel
def duplicate_chars(grams, next_place, at, n, seen, mark):
    """Count characters of repeated n-grams without spaces, skipping first occurrences.

    A counted n-gram is skipped as a whole. seen: classes met have `mark`; updated. next_place: as
    written for this n or a smaller one. at: int64 (words + 1,), characters before each word, with a
    space after each.
    """
    chars = k = 0
    while k < next_place.size:
        one = grams.classes[k]
        if one == NONE:
            k = next_place[k]
        elif seen[one] == mark:
            chars += at[k + n] - at[k] - n
            k += n
        else:
            seen[one] = mark
            k += 1
    return chars


@kernel
def gram_shares(first, chars, hashes, of_text, shares):
    """Compute the shares of characters in top and repeated n-grams, relative to the text.

    shares: float64 (documents, 9), written: the top 2-, 3- and 4-gram, repeated 5- to 10-grams.
    first, chars, hashes: the words. of_text: int64 (documents,), characters of each text.
    """
    longest = longest_of(first)
    grams, ats = room_for_grams(longest), np.zeros(longest + 1, np.int64)
    next_place = np.empty(longest, np.int64)
    seen, mark = np.zeros(grams.members.size, np.uint32), np.uint32(0)
    for d in range(first.size - 1):
        of_words = hashes[first[d] : first[d + 1]]
        words = of_words.size
        at = ats[: words + 1]
        for k in range(words):
            at[k + 1] = at[k] + chars[first[d] + k] + 1
        shares[d] = 0
        total = max(of_text[d], 1)
        find_pairs(of_words, grams)
        for n in range(LEAST_TOP, MOST_DUPLICATE + 1):
            if n <= MOST_TOP and words >= n:
                often, place = top_gram(grams)
                shares[d, n - LEAST_TOP] = (at[place + n] - at[place] - 1) * max(often, 1) / total
            if n == LEAST_DUPLICATE:
                find_next_places(grams, next_place[:words])
            if n >= LEAST_DUPLICATE:
                mark += np.uint32(1)
                size = duplicate_chars(grams, next_place[:words], at, n, seen, mark)
                shares[d, n - LEAST_TOP] = size / total
            lengthen(grams)
