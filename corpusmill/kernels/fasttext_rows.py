"""Sum the input rows that fastText reads for a text, in fastText's order.

Every float sum is rounded. A document's vector equals fastText's bit for bit only if the same rows
are added in the same order.
"""

from typing import NamedTuple

import numpy as np

from corpusmill.kernels.jit import kernel
from corpusmill.kernels.lanes import add_dense_rows

FNV_START = np.uint32(2166136261)
FNV_PRIME = np.uint32(16777619)
NGRAM_FACTOR = np.uint64(116049371)

END_OF_LINE = b"</s>"
# As arrays, because kernels see a module's arrays as constants.
_END_OF_LINE = np.frombuffer(END_OF_LINE, np.uint8)
_LABEL_PREFIX = np.frombuffer(b"__label__", np.uint8)
WORD_BEGINS, WORD_ENDS = np.uint8(ord("<")), np.uint8(ord(">"))

CODES = 256
"""Number of centroids of a quantizer: a code is one byte."""

BLOCK = 1 << 10
"""Number of rows to look up before they are added, so that reads of a large matrix overlap."""

# Indices into bytes are unsigned. Numba compares a signed index with 0 at every use, to support
# negative ones.
ONE = np.uint64(1)


class Words(NamedTuple):
    """A dictionary, and the parameters of n-grams."""

    data: np.ndarray
    """uint8: buffer that contains the words and labels."""
    slots: np.ndarray
    """uint32 (a power of two, 4): hash, entry + 1, first byte in data, bytes. entry + 1 = 0 is an
    empty slot. Each slot is within one cache line."""
    words: int
    """Number of entries that are words."""
    end_of_line: int
    """The entry of `</s>`, or -1."""
    least_chars: int
    most_chars: int
    """Maximum number of characters in a word's n-grams; 0: no such n-grams."""
    most_words: int
    """Words of the longest n-gram of words."""
    buckets: np.uint32
    bucket_factor: np.uint32
    bucket_shift: np.uint64
    """Factor and shift for a division by `buckets`: hash * factor >> shift is the quotient, or one
    less."""
    is_pruned: bool
    kept: np.ndarray
    """int32 (buckets,) if pruned: each bucket's row after the words, or -1."""


class Matrix(NamedTuple):
    """A matrix as in a model file: dense, or quantized."""

    dense: np.ndarray
    """float32 (rows, columns), or without rows."""
    codes: np.ndarray
    """uint8 (rows, pieces), or without rows."""
    centroids: np.ndarray
    """float32 (columns * CODES,): by piece, then by centroid."""
    piece: int
    """Columns of a piece; the last one may have fewer."""
    norm_codes: np.ndarray
    """uint8 (rows,), or empty: every row has the norm 1."""
    norms: np.ndarray
    """float32 (CODES,), or empty."""


@kernel
def fnv_step(value, byte):
    """Return the FNV-1a hash after one more byte, which fastText treats as signed."""
    return np.uint32((value ^ np.uint32(np.int8(byte))) * FNV_PRIME)


@kernel
def fnv(data, start, stop):
    value = FNV_START
    for k in range(stop - start):
        value = fnv_step(value, data[start + k])
    return value


@kernel
def is_space(byte):
    r"""Return whether a byte separates words: space, \t \n \v \f \r and 0."""
    return byte <= 32 and (byte == 32 or (byte >= 9 and byte <= 13) or byte == 0)


@kernel
def are_equal(data, start, stop, other, other_start, other_stop):
    size = stop - start
    if size != other_stop - other_start:
        return False
    k = 0
    while k < size and data[start + k] == other[other_start + k]:
        k += 1
    return k == size


@kernel
def starts_with(data, start, stop, prefix):
    size = prefix.size
    return stop - start >= size and are_equal(data, start, start + size, prefix, 0, size)


@kernel
def slot_of(dictionary, slots, data, start, stop, value):
    """Return the slot of the word data[start:stop] with hash `value`; an empty one if it is
    unknown."""
    mask = slots.shape[0] - 1
    slot = np.int64(value) & mask
    while slots[slot, 1] != 0:
        at = np.int64(slots[slot, 2])
        if slots[slot, 0] == value and are_equal(
            data, start, stop, dictionary, at, at + np.int64(slots[slot, 3])
        ):
            break
        slot = (slot + 1) & mask
    return slot


@kernel
def fill_slots(dictionary, starts, stops, slots):
    """Enter all words. If two are equal the later one counts, as in fastText.

    starts, stops: int64 (entries,), in dictionary. slots: uint32 (a power of two, 4), zeros, more
    than there are words.
    """
    for entry in range(starts.size):
        start, stop = starts[entry], stops[entry]
        value = fnv(dictionary, start, stop)
        slot = slot_of(dictionary, slots, dictionary, start, stop, value)
        slots[slot, 0] = value
        slots[slot, 1] = np.uint32(entry + 1)
        slots[slot, 2] = np.uint32(start)
        slots[slot, 3] = np.uint32(stop - start)


@kernel
def add_coded_rows(matrix, rows, count, total):
    """Add rows of a quantized matrix to the total."""
    last = matrix.codes.shape[1] - 1
    for k in range(count):
        row = rows[k]
        norm = np.float32(1.0)
        if matrix.norm_codes.size > 0:
            norm = matrix.norms[matrix.norm_codes[row]]
        for piece in range(last + 1):
            begin = piece * matrix.piece
            width = matrix.piece if piece < last else total.size - begin
            at = begin * CODES + np.int64(matrix.codes[row, piece]) * width
            for j in range(width):
                total[begin + j] += norm * matrix.centroids[at + j]


@kernel
def add_noted(words, matrix, noted, count, total):
    """Add the rows of noted[:count] to the total; return their number. Overwrites `noted`.

    noted: int64: the hash of an n-gram, or -1 - entry for a word.
    """
    first, buckets = np.int64(words.words), np.uint32(words.buckets)
    factor, shift = np.uint64(words.bucket_factor), words.bucket_shift
    for k in range(count):
        # 32 bits where they suffice, so that the compiler processes several rows at once.
        value = np.uint32(noted[k])
        quotient = np.uint32(np.uint64(value) * factor >> shift)
        bucket = np.uint32(value - np.uint32(np.uint64(quotient) * np.uint64(buckets)))
        bucket = min(bucket, np.uint32(bucket - buckets))  # below 0 it wraps around
        noted[k] = first + np.int64(bucket) if noted[k] >= 0 else -1 - noted[k]
    if words.is_pruned:
        found = count
        count = 0
        for k in range(found):
            row = noted[k]
            kept = words.kept[row - first] if row >= first else 0
            noted[count] = first + kept if row >= first else row
            count += kept >= 0
    if matrix.codes.shape[0] == 0:
        add_dense_rows(matrix.dense, noted, count, total)
    else:
        add_coded_rows(matrix, noted, count, total)
    return count


@kernel
def note_ascii(word, length, start, least, most, noted, count):
    """Note the character n-grams of word[:length] that begin at byte `start` or later, while
    noted[count:] has room. Return where it stopped, and the count.

    word: uint8, ASCII, with its `<` and `>`. least: 2 or more.
    """
    room = np.uint64(noted.size) - most
    while start < length and count <= room:
        value = fnv_step(FNV_START, word[start])
        stop = min(start + most, length)
        at = start + ONE
        while at < stop and at - start + ONE < least:
            value = fnv_step(value, word[at])
            at += ONE
        while at < stop:
            value = fnv_step(value, word[at])
            noted[count] = value
            count += ONE
            at += ONE
        start += ONE
    return start, count


@kernel
def note_characters(word, length, start, least, most, noted, count):
    """Note character n-grams as `note_ascii` does, for any UTF-8 and any `least`. `<` and `>` alone
    are no n-grams."""
    room = np.uint64(noted.size) - most
    while start < length and count <= room:
        value = fnv_step(FNV_START, word[start])
        at = start + ONE
        chars = ONE
        while True:
            while at < length and word[at] & 0xC0 == 0x80:
                value = fnv_step(value, word[at])
                at += ONE
            noted[count] = value
            alone = chars == ONE and (start == 0 or at == length)
            count += np.uint64(chars >= least and not alone)
            if chars >= most or at >= length:
                break
            value = fnv_step(value, word[at])
            at += ONE
            chars += ONE
        start += ONE
        while start < length and word[start] & 0xC0 == 0x80:
            start += ONE
    return start, count


@kernel
def note_words(hashes, tokens, start, most, buckets, noted, count):
    """Note the n-grams of words that begin at word `start` or later, while there is room. Return
    where it stopped, and the count."""
    room = np.uint64(noted.size) - most
    while start < tokens and count <= room:
        # Hashes are signed here and extended with their sign.
        value = np.uint64(np.int64(hashes[start]))
        stop = min(start + most, tokens)
        other = start + ONE
        while other < stop:
            value = value * NGRAM_FACTOR + np.uint64(np.int64(hashes[other]))
            noted[count] = np.int64(value % buckets)
            count += ONE
            other += ONE
        start += ONE
    return start, count


@kernel
def note_word(words, matrix, word, length, is_plain, noted, count, total):
    """Note all character n-grams of word[:length]. When room runs out, noted rows are added first.

    is_plain: whether note_ascii applies. Returns the count, and the number of rows added.
    """
    least, most = np.uint64(words.least_chars), np.uint64(words.most_chars)
    at = np.uint64(0)
    added = 0
    while True:
        if is_plain:
            at, count = note_ascii(word, length, at, least, most, noted, count)
        else:
            at, count = note_characters(word, length, at, least, most, noted, count)
        if at >= length:
            return count, added
        added += add_noted(words, matrix, noted, np.int64(count), total)
        count = np.uint64(0)


@kernel
def next_word(data, i, stop, word):
    """Copy the next word of data[i:stop] to `word`, between `<` and `>`.

    Returns where it ends, the bytes written, its hash, and the bitwise or of its bytes.
    """
    while i < stop and is_space(data[i]):
        i += ONE
    word[0] = WORD_BEGINS
    length = ONE
    value = FNV_START
    bits = np.uint8(0)
    while i < stop and not is_space(data[i]):
        byte = data[i]
        value = fnv_step(value, byte)
        word[length] = byte
        bits |= byte
        length += ONE
        i += ONE
    word[length] = WORD_ENDS
    return i, length + ONE, value, bits


@kernel
def note_line(data, start, stop, words, matrix, scratch, total):
    """Note the rows of data[start:stop]'s words and their character n-grams, and the words' hashes.

    Returns the number of rows noted, of rows added, and of hashes.
    """
    noted, word, hashes = scratch
    # Read once, because every access to a tuple of arrays counts references.
    dictionary, slots = words.data, words.slots
    least, most = words.least_chars, words.most_chars
    end_of_line, known = words.end_of_line, words.words
    wide_least, wide_most = np.uint64(least), np.uint64(most)
    count = tokens = np.uint64(0)
    added, ended = 0, False
    i, end = np.uint64(start), np.uint64(stop)
    while not ended:
        i, length, value, bits = next_word(data, i, end, word)
        size = np.int64(length) - 1
        # The word </s> in the text ends the line too.
        ended = size == 1 or are_equal(word, 1, size, _END_OF_LINE, 0, _END_OF_LINE.size)
        if ended:
            value = fnv(_END_OF_LINE, 0, _END_OF_LINE.size)
            entry = end_of_line
        else:
            slot = slot_of(dictionary, slots, word, 1, size, value)
            entry = np.int64(slots[slot, 1]) - 1
        if entry >= known or (entry < 0 and starts_with(word, 1, size, _LABEL_PREFIX)):
            continue  # a label, known or not
        hashes[tokens] = np.int32(value)
        tokens += ONE
        if count == noted.size:
            added += add_noted(words, matrix, noted, np.int64(count), total)
            count = np.uint64(0)
        if entry >= 0:
            noted[count] = -1 - entry
            count += ONE
        if most > 0 and not ended:
            is_plain = bits < 0x80 and least > 1
            if is_plain and np.int64(count + length * wide_most) <= noted.size:
                _, count = note_ascii(
                    word, length, np.uint64(0), wide_least, wide_most, noted, count
                )
            else:
                count, more = note_word(words, matrix, word, length, is_plain, noted, count, total)
                added += more
    return count, added, tokens


@kernel
def average_rows(data, start, stop, words, matrix, scratch, total):
    """Write the mean of all rows of the text data[start:stop] to `total`; return their number.

    The text counts as one line that ends in a line feed; line feeds inside are spaces. scratch:
    noted, int64 (BLOCK or more, and the n-grams of one position); word, uint8, the bytes of the
    longest word and 2 more; hashes, int32, one per word and 1 more. total: float32 (columns,).
    """
    noted, _, hashes = scratch
    total[:] = np.float32(0.0)
    count, added, tokens = note_line(data, start, stop, words, matrix, scratch, total)
    most, buckets = np.uint64(words.most_words), np.uint64(words.buckets)
    at = np.uint64(0)
    while most > 1 and at < tokens:
        at, count = note_words(hashes, tokens, at, most, buckets, noted, count)
        if at < tokens:
            added += add_noted(words, matrix, noted, np.int64(count), total)
            count = np.uint64(0)
    added += add_noted(words, matrix, noted, np.int64(count), total)
    if added > 0:
        share = np.float32(1.0 / added)
        for j in range(total.size):
            total[j] *= share
    return added
