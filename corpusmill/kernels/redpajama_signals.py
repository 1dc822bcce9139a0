"""Count what RedPajama-v2's quality signals need of raw texts and of normalized words."""

import math

import numpy as np

from corpusmill.kernels.clean import decode_one, longest_of
from corpusmill.kernels.gopher import count_symbols
from corpusmill.kernels.jit import kernel
from corpusmill.kernels.repeats import ONE, number_alike, slots_for
from corpusmill.kernels.words import BASE, U

# Flags of a table entry, see corpusmill/mill/filters/features/redpajama_texts.py.
WORD, BLANK, UPPER, NOT_UPPER, NUMERIC, BULLET, LATIN, STOP = (1 << bit for bit in range(8))
"""LATIN: an ASCII letter. NOT_UPPER: lower or title case. STOP: ends a sentence."""
DOT, ELLIPSIS, QUOTE, NEWLINE = 0x2E, 0x2026, 0x201D, 0x0A


@kernel
def count_raw_words(data, offsets, table, stop_words, counts):
    """Count raw words by property, and sentences.

    counts: int64 (documents, 5), written: raw words (runs of word characters, and runs of others
    that are not white space), those with an ASCII letter, those in capitals, stop words; sentences,
    which begin with the first word character after the last end mark. stop_words: uint64,
    ascending, hashes as for words.
    """
    counts[:] = 0
    for d in range(counts.shape[0]):
        i, stop = offsets[d], offsets[d + 1]
        kind, facts, value, inside = 0, 0, U(0), False
        while i <= stop:
            entry, point = BLANK, np.uint32(0)
            if i < stop:
                point, i = decode_one(data, i)
                entry = np.int64(table[point])
            else:
                i += 1
            now = 0 if entry & BLANK else 2 - (entry & WORD)
            if now != kind:
                if kind != 0:
                    place = np.searchsorted(stop_words, value)
                    counts[d, 0] += 1
                    counts[d, 1] += facts & LATIN != 0
                    counts[d, 2] += facts & UPPER != 0 and facts & NOT_UPPER == 0
                    counts[d, 3] += place < stop_words.size and stop_words[place] == value
                kind, facts, value = now, 0, U(0)
            facts |= entry
            value = value * BASE + U(point) + U(1)
            begins = not inside and entry & WORD != 0
            counts[d, 4] += begins
            inside = (inside or begins) and entry & STOP == 0


@kernel
def line_signals(data, i, stop, table):
    """Return the signals of the line data[i:stop], without surrounding white space.

    They are: characters, capitals, numeric characters, whether it begins with a bullet, the number
    of dots at its end, its last character. All but the last three include white space.
    """
    chars = capitals = numeric = dots = 0
    solid = bullet = False
    before = last = np.uint32(0)
    while i < stop:
        point, i = decode_one(data, i)
        entry = np.int64(table[point])
        chars += 1
        capitals += entry & UPPER != 0
        numeric += entry & NUMERIC != 0
        if not entry & BLANK:
            bullet = bullet or (not solid and entry & BULLET != 0)
            solid = True
            dots = (dots + 1 if before == DOT else 1) if point == DOT else 0
            last = point
        before = point
    return chars, capitals, numeric, bullet, dots, last


@kernel
def sum_lines(data, offsets, table, counts, shares):
    """Count characters and lines, and sum the lines' shares.

    counts: int64 (documents, 5), written: characters; lines, without an empty last one; lines that
    end in . ! ? or ”, lines that end in ... or …, lines that begin with a bullet. shares: float64
    (documents, 2), written: sums over lines of the shares of capitals and of numeric characters in
    the line, newline included.
    """
    counts[:] = 0
    shares[:] = 0
    for d in range(counts.shape[0]):
        begin, stop = offsets[d], offsets[d + 1]
        while begin < stop:
            end = begin
            while end < stop and data[end] != NEWLINE:
                end += 1
            end = min(end + 1, stop)
            chars, capitals, numeric, bullet, dots, last = line_signals(data, begin, end, table)
            counts[d, 0] += chars
            counts[d, 1] += 1
            counts[d, 2] += table[last] & STOP != 0 or last == QUOTE
            counts[d, 3] += dots >= 3 or last == ELLIPSIS
            counts[d, 4] += bullet
            shares[d, 0] += capitals / chars
            shares[d, 1] += numeric / chars
            begin = end


@kernel
def word_entropy(first, hashes, unique, entropy):
    """Count different words, and compute the entropy of word frequencies.

    unique: int64 (documents,), entropy: float64 (documents,), in nats, nan without words; written.
    """
    most = longest_of(first)
    slots = np.empty(4 * most + 16, np.uint64)
    ids, members = np.empty(most, np.uint32), np.empty(most, np.uint64)
    for d in range(first.size - 1):
        words = hashes[first[d] : first[d + 1]]
        number_alike(words, slots_for(words.size, slots), ids, members)
        unique[d], total = 0, 0.0
        for k in range(words.size):
            if ids[k] == k:
                unique[d] += 1
                often = np.int64(members[k] // ONE)
                total += often * math.log(often)
        entropy[d] = math.log(words.size) - total / words.size if words.size else np.nan


@kernel
def count_marks(data, offsets, counts):
    """Count # and ellipses, and curly brackets. counts: int64 (documents, 2), written."""
    for d in range(counts.shape[0]):
        hashes, ellipses = count_symbols(data, offsets[d], offsets[d + 1])
        counts[d, 0], counts[d, 1] = hashes + ellipses, 0
        for i in range(offsets[d], offsets[d + 1]):
            counts[d, 1] += data[i] == 0x7B or data[i] == 0x7D
