"""Texts split into words, straight from UTF-8 bytes, and what filters ask of each word.

The `unicode` rule is UAX #29's word boundaries, default rules, without tailoring; the `whitespace`
rule is `str.split()`. A word is what stands between two boundaries unless it is white space alone:
under the unicode rule each punctuation mark is one.

No branch where a word ends: that it does not end where the last one did is what words are like, and
a wrong guess of the processor costs as much as five characters. Each character is written to the
row of its word, and the row moves on.
"""

import numpy as np

from corpusmill.kernels.clean import decode_one
from corpusmill.kernels.jit import kernel

# Word_Break classes, the low bits of a table entry; OTHER is what has none.
OTHER, CR, LF, NEWLINE, EXTEND, ZWJ, FORMAT, REGIONAL, KATAKANA, HEBREW, LETTER = range(11)
SINGLE_QUOTE, DOUBLE_QUOTE, MID_NUM_LET, MID_LETTER, MID_NUM, NUMERIC, JOINER, SPACE = range(11, 19)
CLASSES = 19
CLASS = 31
# Flags of a table entry.
PICTOGRAPH = 1 << 5
IGNORED = 1 << 6  # WB4: hangs on the character before it
MIDDLE = 1 << 7  # what comes after it decides
ALPHA = 1 << 8  # str.isalpha
NO_MARK = 1 << 9  # no punctuation
NO_BLANK = 1 << 10  # not str.isspace
UPPER = 1 << 11  # str.isupper
LOWER = 1 << 12  # str.islower
DIGIT = 1 << 13  # str.isdecimal
FACTS = 8
"""A word's facts are these flags of any of its characters, moved down by so many bits."""

# What a character is as a neighbour but one, in the highest bits of an entry: letters and digits
# may be joined across a mark.
KINDS = 4
NO_KIND, OF_LETTERS, OF_HEBREW, OF_DIGITS = range(KINDS)
KIND = 14

# Every operand stays uint64: numba looks for a negative index of any other, and turns uint64 with a
# signed literal into float64.
U = np.uint64
BASE = U(0x9E3779B97F4A7C15)
OF_NOW = U(KINDS)
OF_LAST = U(KINDS * CLASSES)
OF_BEFORE = U(KINDS * CLASSES * CLASSES)
LINE_END = U(LF) * OF_LAST


@kernel
def next_kind(data, i, stop, table):
    """The kind of the first character from byte i on that is not ignored; NO_KIND at the end."""
    while i < stop:
        point, i = decode_one(data, i)
        if not table[point] & IGNORED:
            return U(table[point] >> KIND)
    return U(NO_KIND)


@kernel
def split_unicode(data, offsets, table, joins, first, chars, facts, hashes):
    """Split every text of a column at UAX #29's word boundaries; return how many words there are.

    data: uint8, valid UTF-8. offsets: int64 (documents + 1,). table: uint16 (0x110000,), joins:
    uint8 (KINDS * CLASSES * CLASSES * KINDS,), see filters/features/words.py. Written: first, int64
    (documents + 1,), the number of each document's first word, then the total; and with room for a
    word per byte and one more, chars uint32, facts uint8, hashes uint64 of each word.
    hash: sum((code point + 1) * BASE**k), k from the last character on, modulo 2**64; so that
    hash(a + b) == hash(a) * BASE**len(b) + hash(b).
    """
    n = U(0)
    for d in range(first.size - 1):
        first[d] = n
        i, stop = offsets[d], offsets[d + 1]
        # As behind the end of a line: nothing is joined to what begins a text.
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
                # WB3a, WB4: behind the end of a line it is a character of its own.
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
            # A word begins here, and the one before it is kept if it is not blank.
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
    """The same as `str.split()` does."""
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


@kernel
def facts_of_words(data, offsets, table, chars, facts, hashes):
    """What is known of words that are whole texts of a column."""
    for n in range(chars.size):
        i, stop = offsets[n], offsets[n + 1]
        length, fact, value = np.uint32(0), np.uint8(0), U(0)
        while i < stop:
            point, i = decode_one(data, i)
            fact |= np.uint8(table[point] >> FACTS & 0x3F)
            length += np.uint32(1)
            value = value * BASE + U(point) + U(1)
        chars[n], facts[n], hashes[n] = length, fact, value
