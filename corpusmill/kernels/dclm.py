"""DCLM's edits of lines: why each byte of a text goes, and how many words go with them."""

import numpy as np

from corpusmill.kernels.c4 import lowered
from corpusmill.kernels.clean import decode_one
from corpusmill.kernels.jit import kernel
from corpusmill.kernels.words import ALPHA, DIGIT, NO_BLANK, UPPER

# Why something is cut; 0: it stays. NEWLINES: more of them than may stand together. WHITE_SPACE: at
# the ends of what is left.
UPPER_CASE, DIGITS, COUNTER, FEW_WORDS, PHRASE, NEWLINES, WHITE_SPACE = range(1, 8)
NEWLINE = 0x0A

CART = np.frombuffer(b"items in cart", np.uint8)
READ_MORE = np.frombuffer(b"read more", np.uint8)
SIGN_IN = np.frombuffer(b"sign-in", np.uint8)
MORE_CHARS = READ_MORE.size + 3  # its pattern ends in dots, which are any characters
COUNTED = (
    "likes", "shares", "comments", "retweets", "reposts", "quotes", "bookmarks", "upvotes",
    "downvotes", "downloads", "views", "followers",
)  # fmt: skip
COUNTED_BYTES = np.zeros((len(COUNTED), max(map(len, COUNTED))), np.uint8)
for _row, _word in enumerate(COUNTED):
    COUNTED_BYTES[_row, : len(_word)] = list(_word.encode())
COUNTED_SIZES = np.array([len(one) for one in COUNTED])


@kernel
def line_counts(data, start, stop, table):
    """Characters of data[start:stop], capitals, digits, words of `str.split()`, and such of these
    as begin with a letter or digit."""
    chars = capitals = digits = words = counted = inside = 0
    while start < stop:
        point, start = decode_one(data, start)
        entry = np.int64(table[point])
        solid = entry // NO_BLANK & 1
        chars += 1
        capitals += entry // UPPER & 1
        digits += entry // DIGIT & 1
        begins = solid & ~inside
        words += begins
        counted += begins & np.int64(entry & (ALPHA | DIGIT) != 0)
        inside = solid
    return chars, capitals, digits, words, counted


@kernel
def starts_with(data, i, stop, literal):
    """Where the literal, small letters, ends that begins at byte i, in any case; -1."""
    if i + literal.size > stop:
        return -1
    for k in range(literal.size):
        if lowered(data[i + k]) != literal[k]:
            return -1
    return i + literal.size


@kernel
def behind_others(data, i, stop, in_words):
    """Where the first character from byte i on stands that is a word's, as `\\w`."""
    while i < stop:
        point, after = decode_one(data, i)
        if in_words[point]:
            break
        i = after
    return i


@kernel
def is_counter(data, i, stop, table, in_words):
    """Whether data[i:stop] is a number of likes or the like, and no more: `3.5k views`."""
    i = behind_others(data, i, stop, in_words)
    first = i
    while i < stop:
        point, after = decode_one(data, i)
        if not (table[point] & DIGIT or (i > first and (data[i] == 0x2C or data[i] == 0x2E))):
            break
        i = after
    if i == first or i == stop:
        return False
    unit = lowered(data[i])
    i += unit == 0x6B or unit == 0x6D or unit == 0x62  # k m b
    blanks = i
    while i < stop:
        point, after = decode_one(data, i)
        if table[point] & NO_BLANK:
            break
        i = after
    if i == blanks:
        return False
    for which in range(COUNTED_SIZES.size):
        end = starts_with(data, i, stop, COUNTED_BYTES[which, : COUNTED_SIZES[which]])
        if end >= 0 and behind_others(data, end, stop, in_words) == stop:
            return True
    return False


@kernel
def next_left(why, i, stop):
    while i < stop and why[i]:
        i += 1
    return i


@kernel
def left_with(data, why, i, stop, literal):
    """Where the literal ends that begins at byte i of what is left, in any case; -1."""
    for k in range(literal.size):
        i = next_left(why, i, stop)
        if i == stop or lowered(data[i]) != literal[k]:
            return -1
        i += 1
    return i


@kernel
def mark(why, start, stop, rule):
    for i in range(start, stop):
        if why[i] == 0:
            why[i] = rule


@kernel
def before_left(data, why, start, i):
    """Where the last character before byte i begins that is left; -1 if none is."""
    i -= 1
    while i >= start and (why[i] or data[i] & 0xC0 == 0x80):
        i -= 1
    return i if i >= start else -1


@kernel
def with_blank(data, why, start, i, table):
    """Where the white space begins that is left in front of byte i, one character; i if none is."""
    before = before_left(data, why, start, i)
    if before < 0:
        return i
    point, _ = decode_one(data, before)
    return i if table[point] & NO_BLANK else before


@kernel
def cut_phrases(data, why, start, stop, table):
    """Mark `items in cart` anywhere in a line, `read more...` at its end, `sign-in` at its
    beginning, each of what the ones before it left, with one blank at its side; whether any."""
    found = False
    i = start
    while i < stop:
        end = left_with(data, why, i, stop, CART) if lowered(data[i]) == CART[0] else -1
        if end >= 0:
            mark(why, with_blank(data, why, start, i, table), end, PHRASE)
            found = True
        i = max(end, i + 1)
    i = stop
    for _ in range(MORE_CHARS):
        i = before_left(data, why, start, i) if i >= 0 else -1
    if i >= 0 and left_with(data, why, i, stop, READ_MORE) >= 0:
        mark(why, with_blank(data, why, start, i, table), stop, PHRASE)
        found = True
    first = next_left(why, start, stop)
    end = left_with(data, why, first, stop, SIGN_IN)
    if end >= 0:
        end = next_left(why, end, stop)
        if end < stop:
            point, after = decode_one(data, end)
            end = end if table[point] & NO_BLANK else after
        mark(why, first, end, PHRASE)
        found = True
    return found


@kernel
def count_words(data, why, start, stop, table):
    """Words of what is left, of `str.split()`, that begin with a letter or digit; -1 if nothing but
    white space is left."""
    words, inside, blank = 0, False, True
    while start < stop:
        point, after = decode_one(data, start)
        if why[start] == 0:
            entry = table[point]
            solid = entry & NO_BLANK != 0
            words += solid and not inside and entry & (ALPHA | DIGIT) != 0
            inside = solid
            blank = blank and not solid
        start = after
    return -1 if blank else words


@kernel
def cut_lines(data, start, stop, table, in_words, needs, why):
    """Mark what goes of one text; its words before and after. needs: see `dclm_cuts`."""
    max_upper, max_digits, counters, min_words, phrase_words, _ = needs
    all_before = all_after = 0
    while start < stop:
        end = start
        while end < stop and data[end] != NEWLINE:
            end += 1
        after = min(end + 1, stop)
        chars, capitals, digits, words, counted = line_counts(data, start, end, table)
        all_before += counted
        rule = 0
        if chars:
            if capitals / chars > max_upper:
                rule = UPPER_CASE
            elif digits / chars > max_digits:
                rule = DIGITS
            elif counters and is_counter(data, start, end, table, in_words):
                rule = COUNTER
            elif words < min_words:
                rule = FEW_WORDS
            elif words <= phrase_words and cut_phrases(data, why, start, end, table):
                counted = count_words(data, why, start, end, table)
                rule = PHRASE if counted < 0 else 0
        if rule:
            mark(why, start, after, rule)
        else:
            all_after += counted
        start = after
    return all_before, all_after


@kernel
def cut_ends(data, why, table):
    """Mark the white space at the ends of what is left of a text."""
    i = next_left(why, 0, why.size)
    while i < why.size:
        point, after = decode_one(data, i)
        if table[point] & NO_BLANK:
            break
        mark(why, i, after, WHITE_SPACE)
        i = next_left(why, after, why.size)
    i = before_left(data, why, 0, why.size)
    while i >= 0:
        point, after = decode_one(data, i)
        if table[point] & NO_BLANK:
            break
        mark(why, i, after, WHITE_SPACE)
        i = before_left(data, why, 0, i)


@kernel
def cut_newlines(data, start, stop, most, why):
    """Mark newlines that stand behind so many others."""
    together = 0
    for i in range(start, stop):
        together = together + 1 if data[i] == NEWLINE else 0
        if together > most:
            why[i] = NEWLINES


@kernel
def put_cuts(data, why, start, stop, row, cuts, n):
    """Write what is marked, each line of its own; return how many cuts there are then."""
    i = start
    while i < stop:
        rule, begin = why[i], i
        i += 1
        while i < stop and why[i] == rule:
            if data[i - 1] == NEWLINE and rule < NEWLINES:
                break
            i += 1
        if rule:
            if n < cuts.shape[0]:
                cuts[n, 0], cuts[n, 1], cuts[n, 2], cuts[n, 3] = row, begin, i, rule
            n += 1
    return n


@kernel
def dclm_cuts(data, offsets, table, in_words, needs, cuts, counts):
    """Cut lines and phrases; return how many cuts there are.

    data: uint8, valid UTF-8. offsets: int64 (documents + 1,). table: see kernels.words. in_words:
    bool (0x110000,), what `\\w` is. needs: float64 (6,): the largest share of capitals in a line,
    of digits, whether counters go, the fewest words of a line, the most words of a line that loses
    phrases, the most newlines together. Written: cuts, int64 (room, 4), row, start, stop, rule of
    each, as far as they reach, by row; counts, int64 (documents, 2), words before and after.
    """
    longest = 0
    for d in range(offsets.size - 1):
        longest = max(longest, offsets[d + 1] - offsets[d])
    room = np.empty(longest, np.uint8)
    n = 0
    for d in range(offsets.size - 1):
        text = data[offsets[d] : offsets[d + 1]]
        why = room[: text.size]
        why[:] = 0
        cut_newlines(text, 0, text.size, needs[5], why)
        counts[d] = cut_lines(text, 0, text.size, table, in_words, needs, why)
        cut_ends(text, why, table)
        before = n
        n = put_cuts(text, why, 0, text.size, d, cuts, n)
        for k in range(before, min(n, cuts.shape[0])):
            cuts[k, 1] += offsets[d]
            cuts[k, 2] += offsets[d]
    return n
