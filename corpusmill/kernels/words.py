"""Split texts into words, directly from UTF-8 bytes, and record facts of each word.

The `unicode` rule uses UAX #29's default word boundaries, without tailoring; the `whitespace` rule
is `str.split()`. A word is the text between two boundaries unless it is white space. Under the
unicode rule, each punctuation mark is a word.

There is no branch at word ends. They are hard to predict, and a misprediction costs as much as five
characters. Each character is written to the row of its word; then the row may advance.
"""

import numpy as np

from corpusmill.kernels.clean import decode_one
from corpusmill.kernels.jit import counting_nothing, kernel

# Word_Break classes, the low bits of a table entry. OTHER: no class.
OTHER, CR, LF, NEWLINE, EXTEND, ZWJ, FORMAT, REGIONAL, KATAKANA, HEBREW, LETTER = range(11)
SINGLE_QUOTE, DOUBLE_QUOTE, MID_NUM_LET, MID_LETTER, MID_NUM, NUMERIC, JOINER, SPACE = range(11, 19)
CLASSES = 19
CLASS = 31
# Flags of a table entry.
PICTOGRAPH = 1 << 5
IGNORED = 1 << 6  # WB4: belongs to the character before it
MIDDLE = 1 << 7  # what follows it decides
ALPHA = 1 << 8  # str.isalpha
NO_MARK = 1 << 9  # no punctuation
NO_BLANK = 1 << 10  # not str.isspace
UPPER = 1 << 11  # str.isupper
LOWER = 1 << 12  # str.islower
DIGIT = 1 << 13  # str.isdecimal
FACTS = 8
"""Bits that flags are shifted down by, in a word's facts: the flags that any of its characters
has."""

# Kinds of characters two positions away, in the highest bits of an entry: letters and digits may be
# joined across a mark.
KINDS = 4
NO_KIND, OF_LETTERS, OF_HEBREW, OF_DIGITS = range(KINDS)
KIND = 14

# All operands stay uint64: numba checks other indices for negative values, and turns uint64 with a
# signed literal into float64.
U = np.uint64
BASE = U(0x9E3779B97F4A7C15)
OF_NOW = U(KINDS)
OF_LAST = U(KINDS * CLASSES)
OF_BEFORE = U(KINDS * CLASSES * CLASSES)
LINE_END = U(LF) * OF_LAST


@kernel
def next_kind(data, i, stop, table):
    """Return the kind of the first character from byte i on that is not ignored; NO_KIND at the
    end."""
    while i < stop:
        point, i = decode_one(data, i)
        if not table[point] & IGNORED:
            return U(table[point] >> KIND)
    return U(NO_KIND)


@kernel
def split_unicode(data, offsets, table, joins, first, chars, facts, hashes):
    """Split every text of a column at UAX #29's word boundaries; return the number of words.

    data: uint8, valid UTF-8. offsets: int64 (documents + 1,). table: uint16 (0x110000,), joins:
    uint8 (KINDS * CLASSES * CLASSES * KINDS,), see filters/features/words.py. Written: first, int64
    (documents + 1,), the number of each document's first word, then the total. For each word, with
    room for one per byte and one more: chars uint32, facts uint8, hashes uint64. hash: sum((code
    point + 1) * BASE**k), k from the last character on, modulo 2**64, so that hash(a + b) ==
    hash(a) * BASE**len(b) + hash(b).
    """
    n = U(0)
    for d in range(first.size - 1):
        first[d] = n
        i, stop = offsets[d], offsets[d + 1]
        # A text begins as after a line end: nothing is joined to what precedes.
        before, last, kind = U(0), LINE_END, U(0)
        was_zwj, odd_flags = False, False
        length, fact, value = np.uint32(0), np.uint8(0), U(0)
        while i < stop:
            if data[i] < 0x80:
                point = U(data[i])
                i += 1
            else:
                wide, i = decode_one(data, i)
                point = U(wide)
            entry = U(table[point])
            now = entry & U(CLASS)
            later = U(0)
            if entry & U(MIDDLE):
                later = next_kind(data, i, stop, table)
            joined = joins[before + last + now * OF_NOW + later]
            if entry & U(IGNORED):
                # WB3a, WB4: after a line end it is a character of its own.
                joined = np.uint8(not (OF_LAST * U(CR) <= last <= OF_LAST * U(NEWLINE)))
                was_zwj = now == U(ZWJ)
                odd_flags = odd_flags and joined != 0
                if not joined:
                    before, last, kind = U(0), U(0), U(0)
                elif last == OF_LAST * U(SPACE):
                    last = U(0)
            else:
                if was_zwj or now == U(REGIONAL):
                    joined = np.uint8(
                        (joined and (now != U(REGIONAL) or odd_flags))  # WB15, WB16
                        or (was_zwj and entry & U(PICTOGRAPH) != 0)  # WB3c
                    )
                    odd_flags = now == U(REGIONAL) and not (joined and odd_flags)
                    was_zwj = False
                before, last, kind = kind, now * OF_LAST, (entry >> U(KIND)) * OF_BEFORE
            # If a word begins here, keep the one before unless it is blank.
            kept = U(0) - U(joined)
            n += U(joined ^ 1) & U(fact >> 2 & 1)
            fact = (fact & np.uint8(kept)) | np.uint8(entry >> U(FACTS) & U(0x3F))
            length = (length & np.uint32(kept)) + np.uint32(1)
            value = (value & kept) * BASE + point + U(1)
            chars[n], facts[n], hashes[n] = length, fact, value
        n += U(fact >> 2 & 1)
    first[first.size - 1] = n
    return n


@kernel
def split_whitespace(data, offsets, table, first, chars, facts, hashes):
    """Split every text of a column as `str.split()` does; return the number of words."""
    n = U(0)
    for d in range(first.size - 1):
        first[d] = n
        i, stop = offsets[d], offsets[d + 1]
        length, fact, value = np.uint32(0), np.uint8(0), U(0)
        while i < stop:
            if data[i] < 0x80:
                point = U(data[i])
                i += 1
            else:
                wide, i = decode_one(data, i)
                point = U(wide)
            entry = table[point] >> FACTS & 0x3F
            stays = entry >> 2 & 1
            kept = U(0) - U(stays & (fact >> 2 & 1))
            n += U(1 - stays) & U(fact >> 2 & 1)
            fact = (fact & np.uint8(kept)) | np.uint8(entry)
            length = (length & np.uint32(kept)) + np.uint32(1)
            value = (value & kept) * BASE + point + U(1)
            chars[n], facts[n], hashes[n] = length, fact, value
        n += U(fact >> 2 & 1)
    first[first.size - 1] = n
    return n


@counting_nothing
def facts_of(data, i, stop, table, shift):
    """Return length, facts and hash of the word data[i:stop]. shift: of facts in an entry."""
    length, fact, value = np.uint32(0), np.uint8(0), U(0)
    while i < stop:
        point, i = decode_one(data, i)
        fact |= np.uint8(table[point] >> shift & 0x3F)
        length += np.uint32(1)
        value = value * BASE + U(point) + U(1)
    return length, fact, value


@kernel
def facts_of_words(data, offsets, table, chars, facts, hashes):
    """Record length, facts and hash of words that are whole texts of a column."""
    for n in range(chars.size):
        chars[n], facts[n], hashes[n] = facts_of(data, offsets[n], offsets[n + 1], table, FACTS)
