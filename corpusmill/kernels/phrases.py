"""Find phrases in lower-cased texts, by an Aho-Corasick automaton as a dense table.

Each byte of text costs one table lookup, whatever the number of phrases. Bytes that occur in no
phrase share a column.
"""

import numpy as np

from corpusmill.kernels.clean import (
    CAPITAL_SIGMA,
    CODE_POINT,
    COMBINING_DOT,
    IRREGULAR,
    SPACE,
    before,
    decode_one,
    longest_of,
    lowered_sigma,
)
from corpusmill.kernels.jit import kernel
from corpusmill.kernels.shingles import put_utf8

ENDS = 1 << 30
"""Flag of a table entry: a phrase ends in the state to which the entry leads."""
PLACE = np.uint64(ENDS - 1)


@kernel
def build_automaton(data, offsets, columns, following, phrase, depth, fallback):
    """Build the automaton of phrases.

    data, offsets: phrases as UTF-8, none empty. columns: uint8 (256,), the column of each byte.
    Written: following, int32 (states, columns), zeros before: the next state as the offset of its
    row, and ENDS. int32 (states,): phrase, -1 before, the number of the phrase that ends in a
    state; depth, the bytes that lead to it; fallback, the state of the longest shorter phrase that
    ends there, 0 if there is none.
    """
    states = 1
    for number in range(offsets.size - 1):
        state = 0
        for i in range(offsets[number], offsets[number + 1]):
            column = columns[data[i]]
            if following[state, column] == 0:
                following[state, column] = states
                depth[states] = depth[state] + 1
                states += 1
            state = following[state, column]
        phrase[state] = number
    suffix, queue = np.zeros(states, np.int32), np.zeros(states, np.int32)
    read, written = 0, 1
    while read < written:
        state = queue[read]
        read += 1
        for column in range(following.shape[1]):
            after, other = following[state, column], following[suffix[state], column] & ~ENDS
            if after == 0:
                following[state, column] = following[suffix[state], column]
                continue
            if state != 0:
                suffix[after] = other
            queue[written] = after
            written += 1
            shorter = suffix[after]
            fallback[after] = shorter if phrase[shorter] >= 0 else fallback[shorter]
            if phrase[after] >= 0 or fallback[after] != 0:
                following[state, column] = after | ENDS
    # Row offsets save a multiplication per byte.
    for state in range(states):
        for column in range(following.shape[1]):
            after = following[state, column]
            following[state, column] = (after & ENDS) | (after & ~ENDS) * following.shape[1]


@kernel
def lower_text(data, start, stop, table, lowered):
    """Write `str.lower` of data[start:stop] as UTF-8 to `lowered`; return its size.

    lowered: room for twice the bytes. table: see unicode_tables.character_table.
    """
    n = 0
    i = start
    while i < stop:
        byte = data[i]
        if byte < 0x80:
            lowered[n] = byte + ((byte >= 0x41) & (byte <= 0x5A)) * 0x20
            n += 1
            i += 1
            continue
        at = i
        point, i = decode_one(data, i)
        entry = table[point]
        small = point if entry & SPACE else entry & np.uint32(CODE_POINT)
        if entry & IRREGULAR:
            if point == CAPITAL_SIGMA:
                small = lowered_sigma(data, start, at, i, stop, table)
            else:  # U+0130 lowers to "i" and a combining dot above
                lowered[n] = 0x69
                n += 1
                small = np.uint32(COMBINING_DOT)
        n = put_utf8(np.uint32(small), lowered, n)
    return n


@kernel
def begins_word(text, i, size, is_word):
    """Return whether a word character begins at byte i; False at the end."""
    if i >= size:
        return False
    point, _ = decode_one(text, i)
    return is_word[point]


@kernel
def ends_word(text, i, is_word):
    """Return whether a word character ends before byte i; False at the start."""
    if i == 0:
        return False
    point, _ = decode_one(text, before(text, i))
    return is_word[point]


@kernel
def first_start(text, end, state, is_word, phrase, depth, fallback, boundaries):
    """Return the start of the longest phrase that ends at byte `end` in `state`; -1 if each has a
    word character before it."""
    if phrase[state] < 0:
        state = fallback[state]
    while state != 0:
        start = end - depth[state]
        if not (boundaries and ends_word(text, start, is_word)):
            return start
        state = fallback[state]
    return -1


@kernel
def longest_phrase(text, i, size, is_word, columns, following, phrase, depth, boundaries):
    """Return the longest phrase that begins at byte i and its end; -1 if there is none."""
    found, end = -1, i
    if boundaries and ends_word(text, i, is_word):
        return found, end
    state, length = 0, 0
    while i < size:
        state = (following[state, columns[text[i]]] & ~ENDS) // following.shape[1]
        length += 1
        if depth[state] != length:  # no phrase continues like this
            break
        i += 1
        if phrase[state] >= 0 and not (boundaries and begins_word(text, i, size, is_word)):
            found, end = phrase[state], i
    return found, end


@kernel
def find_phrases(text, size, is_word, columns, following, phrase, depth, fallback, boundaries):
    """Count phrases in text[:size] without overlaps, the first and then the longest first.

    Return the count, and the number of the first phrase or -1. boundaries: whether word characters
    may not be adjacent to a phrase. is_word: bool (0x110000,).
    """
    hits, first = 0, -1
    row, i = np.uint64(0), 0
    flat = following.ravel()
    while i < size:
        # Unsigned, because numba checks signed indices for negative values.
        entry = flat[row + np.uint64(columns[text[i]])]
        i += 1
        row = np.uint64(entry) & PLACE
        if entry < ENDS or (boundaries and begins_word(text, i, size, is_word)):
            continue
        state = np.int64(row) // following.shape[1]
        start = first_start(text, i, state, is_word, phrase, depth, fallback, boundaries)
        if start < 0:
            continue
        # A phrase that begins earlier and has not ended yet comes first.
        for begin in range(i - depth[state], start + 1):
            found, end = longest_phrase(
                text, begin, size, is_word, columns, following, phrase, depth, boundaries
            )
            if found >= 0:
                first = found if hits == 0 else first
                hits += 1
                row, i = np.uint64(0), end
                break
    return hits, first


@kernel
def count_phrases(data, offsets, table, is_word, automaton, boundaries, hits, first):
    """Count the phrases in every text, lower-cased by `lower_text`.

    hits: uint32 (documents,), first: int64 (documents,), written: see `find_phrases`. automaton:
    columns, following, phrase, depth, fallback.
    """
    columns, following, phrase, depth, fallback = automaton
    lowered = np.empty(2 * longest_of(offsets) + 8, np.uint8)
    for d in range(hits.size):
        size = lower_text(data, offsets[d], offsets[d + 1], table, lowered)
        hits[d], first[d] = find_phrases(
            lowered, size, is_word, columns, following, phrase, depth, fallback, boundaries
        )
