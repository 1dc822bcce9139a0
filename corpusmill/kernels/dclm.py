"""DCLM's edits of lines: mark each byte with the reason to cut it, and count the words lost."""

import numpy as np

from corpusmill.kernels.c4 import lowered, put_cut
from corpusmill.kernels.clean import decode_one, longest_of
from corpusmill.kernels.finding import literal_rows
from corpusmill.kernels.jit import kernel
from corpusmill.kernels.lines import blanks_end
from corpusmill.kernels.words import ALPHA, DIGIT, NO_BLANK, UPPER

# Reasons for cuts; 0: the byte stays. NEWLINES: too many in a row. WHITE_SPACE: at the ends of the
# edited text.
UPPER_CASE, DIGITS, COUNTER, FEW_WORDS, PHRASE, NEWLINES, WHITE_SPACE = range(1, 8)
NEWLINE = 0x0A

CART = np.frombuffer(b"items in cart", np.uint8)
READ_MORE = np.frombuffer(b"read more", np.uint8)
SIGN_IN = np.frombuffer(b"sign-in", np.uint8)
MORE_CHARS = READ_MORE.size + 3  # its pattern ends in dots, which match any characters
COUNTED = (
    "likes", "shares", "comments", "retweets", "reposts", "quotes", "bookmarks", "upvotes",
    "downvotes", "downloads", "views", "followers",
)  # fmt: skip
COUNTED_BYTES, COUNTED_SIZES = literal_rows(COUNTED)


@kernel
def line_counts(data, start, stop, table):
    """Count characters, capitals, digits and words of data[start:stop], and words that begin with a
    letter or digit. Words as in `str.split()`."""
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
def behind_others(data, i, stop, in_words):
    r"""Return the position of the first word character (`\w`) from byte i on."""
    while i < stop:
        point, after = decode_one(data, i)
        if in_words[point]:
            break
        i = after
    return i


@kernel
def is_counter(data, why, i, stop, table, in_words):
    """Return whether data[i:stop] is only a counter such as `3.5k views`."""
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
    blanks, i = i, blanks_end(data, i, stop, table)
    if i == blanks:
        return False
    for which in range(COUNTED_SIZES.size):
        end = left_with(data, why, i, stop, COUNTED_BYTES[which, : COUNTED_SIZES[which]])
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
    """Return the end of a literal at byte i of the remaining text, matched in any case; -1 if
    none."""
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
    """Return the start of the last remaining character before byte i; -1 if there is none."""
    i -= 1
    while i >= start and (why[i] or data[i] & 0xC0 == 0x80):
        i -= 1
    return i if i >= start else -1


@kernel
def with_blank(data, why, start, i, table):
    """Return the start of the remaining white space character before byte i; i if there is none."""
    before = before_left(data, why, start, i)
    if before < 0:
        return i
    point, _ = decode_one(data, before)
    return i if table[point] & NO_BLANK else before


@kernel
def cut_phrases(data, why, start, stop, table):
    """Mark phrases in a line, each with one adjacent white space. Return whether any was found.

    Phrases: `items in cart` anywhere, `read more...` at the end, `sign-in` at the start. Each is
    searched in what the previous ones left.
    """
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
    """Count remaining words that begin with a letter or digit; -1 if only white space remains."""
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
    """Mark the cuts in a text. Return its words before and after. needs: see `dclm_cuts`."""
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
            elif counters and is_counter(data, why, start, end, table, in_words):
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
    """Mark the white space at both ends of the remaining text."""
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
def cut_newlines(data, most, why):
    """Mark the newlines after `most` others in a row."""
    together = 0
    for i in range(data.size):
        together = together + 1 if data[i] == NEWLINE else 0
        if together > most:
            why[i] = NEWLINES


@kernel
def put_cuts(data, why, offset, row, cuts, n):
    """Write the marked cuts, split at line ends. Return the number of cuts. offset: of the text."""
    i = 0
    while i < data.size:
        rule, begin = why[i], i
        i += 1
        while i < data.size and why[i] == rule:
            if data[i - 1] == NEWLINE and rule < NEWLINES:
                break
            i += 1
        if rule:
            n = put_cut(cuts, n, row, offset + begin, offset + i, rule)
    return n


@kernel
def dclm_cuts(data, offsets, table, in_words, needs, cuts, counts):
    r"""Cut lines and phrases; return the number of cuts.

    data: uint8, valid UTF-8. offsets: int64 (documents + 1,). table: see kernels.words. in_words:
    bool (0x110000,), the characters of `\w`. needs: float64 (6,): largest share of capitals in a
    line, largest share of digits, whether to cut counters, fewest words of a line, most words of a
    line to search for phrases, most newlines in a row. Written: cuts, int64 (room, 4), row, start,
    stop and rule, by row, up to the end of `cuts`; counts, int64 (documents, 2), words before and
    after.
    """
    room = np.empty(longest_of(offsets), np.uint8)
    n = 0
    for d in range(offsets.size - 1):
        text = data[offsets[d] : offsets[d + 1]]
        why = room[: text.size]
        why[:] = 0
        cut_newlines(text, needs[5], why)
        counts[d] = cut_lines(text, 0, text.size, table, in_words, needs, why)
        cut_ends(text, why, table)
        n = put_cuts(text, why, offsets[d], d, cuts, n)
    return n
