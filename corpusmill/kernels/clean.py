r"""Clean texts: lower case, no ASCII punctuation, white space stripped and collapsed.

`clean(s) == re.sub(r"\s+", " ", s.lower().translate(without_punctuation).strip())`, directly from
UTF-8 bytes to code points, with the tables of `corpusmill.mill.read.unicode_tables`.
"""

import numpy as np

from corpusmill.kernels.jit import counting_nothing, kernel

# Layout of a table entry: the lowered code point, and flags.
CODE_POINT = 0x1FFFFF
SPACE = 1 << 21
DROP = 1 << 22
IRREGULAR = 1 << 23  # lower() is not one fixed code point: U+03A3 and U+0130
CASED = 1 << 24
CASE_IGNORABLE = 1 << 25

CAPITAL_SIGMA = 0x3A3
SMALL_SIGMA = 0x3C3
FINAL_SIGMA = 0x3C2
COMBINING_DOT = 0x307
DOTTED_CAPITAL_I = 0x130


@kernel
def decode_one(data, i):
    """Return the code point at byte i of valid UTF-8, and where the next one starts."""
    lead = np.uint32(data[i])
    if lead < 0x80:
        return lead, i + 1
    if lead < 0xE0:
        return (lead & 0x1F) << 6 | (np.uint32(data[i + 1]) & 0x3F), i + 2
    if lead < 0xF0:
        middle = (np.uint32(data[i + 1]) & 0x3F) << 6
        return (lead & 0x0F) << 12 | middle | (np.uint32(data[i + 2]) & 0x3F), i + 3
    high = (lead & 0x07) << 18 | (np.uint32(data[i + 1]) & 0x3F) << 12
    return high | (np.uint32(data[i + 2]) & 0x3F) << 6 | (np.uint32(data[i + 3]) & 0x3F), i + 4


@counting_nothing
def before(data, i):
    """Return the start of the character that ends at byte i."""
    i -= 1
    while data[i] & 0xC0 == 0x80:
        i -= 1
    return i


@kernel
def longest_of(first):
    """Return the most entries between two neighbours of `first`: offsets, or numbers of rows."""
    longest = 0
    for d in range(first.size - 1):
        longest = max(longest, first[d + 1] - first[d])
    return longest


@kernel
def cased_before(data, start, i, table):
    """Return whether the last character before byte i that is not case-ignorable is cased."""
    while i > start:
        i = before(data, i)
        point, _ = decode_one(data, i)
        if not table[point] & CASE_IGNORABLE:
            return table[point] & CASED != 0
    return False


@kernel
def cased_after(data, i, stop, table):
    """Return whether the first character from byte i on that is not case-ignorable is cased."""
    while i < stop:
        point, i = decode_one(data, i)
        if not table[point] & CASE_IGNORABLE:
            return table[point] & CASED != 0
    return False


@kernel
def lowered_sigma(data, start, at, i, stop, table):
    """Return the lower case of the capital sigma data[at:i] in the text data[start:stop]."""
    final = cased_before(data, start, at, table) and not cased_after(data, i, stop, table)
    return np.uint32(FINAL_SIGMA if final else SMALL_SIGMA)


@kernel
def clean_text(data, start, stop, table, chars):
    """Write the cleaned code points of data[start:stop] to `chars`; return their number.

    data: uint8, valid UTF-8 in [start, stop). table: uint32 (0x110000,), see unicode_tables. chars:
    uint32, room for stop - start + 2 entries.
    """
    n = 0
    last_space = np.uint32(1)  # 1: a space here would be leading or doubled
    i = start
    while i < stop:
        byte = data[i]
        if byte < 0x80:
            entry = table[byte]
            i += 1
        else:
            at = i
            point, i = decode_one(data, i)
            entry = table[point]
            if entry & IRREGULAR:
                if point == CAPITAL_SIGMA:
                    entry = lowered_sigma(data, start, at, i, stop, table)
                else:  # U+0130 lowers to "i" and a combining dot above
                    chars[n] = np.uint32(0x69)
                    n += 1
                    entry = np.uint32(COMBINING_DOT)
        # No branch on the text: write every character, and advance only if it stays.
        space = np.uint32(entry >> 21) & np.uint32(1)
        drop = np.uint32(entry >> 22) & np.uint32(1)
        stays = (drop | (space & last_space)) ^ np.uint32(1)
        chars[n] = entry & CODE_POINT
        n += stays
        last_space = space if stays else last_space
    if n > 0 and last_space:
        n -= 1
    return n


@kernel
def count_cleaned(data, offsets, table, counts):
    """Count the characters of each cleaned text.

    offsets: int64 (documents + 1,). counts: uint32 (documents,), written. The text itself is not
    cleaned: its length is that of the characters that stay, and one space between words.
    """
    of_ascii = (table[:0x80] >> 21).astype(np.uint8) & np.uint8(3)
    for d in range(counts.size):
        stay = 0
        words = 0
        apart = 1  # 1: the next character that stays begins a word
        i = offsets[d]
        stop = offsets[d + 1]
        while i < stop:
            if data[i] < 0x80:
                kind = of_ascii[data[i]]
                i += 1
            else:
                point, i = decode_one(data, i)
                kind = np.uint8(table[point] >> 21) & np.uint8(3)
                stay += point == DOTTED_CAPITAL_I  # lowers to two characters
            stays = int(kind == 0)
            stay += stays
            words += stays & apart
            apart = (apart & (1 - stays)) | (kind & 1)
        counts[d] = stay + max(words - 1, 0)
