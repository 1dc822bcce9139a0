"""C4's rules: cut lines or parts of lines, and count what decides on the document."""

import numpy as np

from corpusmill.kernels.clean import decode_one, longest_of
from corpusmill.kernels.finding import any_of, finder, literal, literal_rows
from corpusmill.kernels.jit import kernel
from corpusmill.kernels.lines import ends_with_one_of, line_end, without_blanks
from corpusmill.kernels.splitting import after_sentence, is_space, space_end
from corpusmill.kernels.words import DIGIT, NO_BLANK

# Reasons for cuts. WHITE_SPACE: around a kept line, and after the last one.
LONG_WORD, NO_END_MARK, FEW_WORDS, JAVASCRIPT, POLICY, CITATION, WHITE_SPACE = range(1, 8)

OPEN, CLOSE = 0x5B, 0x5D  # [ ]

PHRASES = (
    "lorem ipsum", "javascript", "terms of use", "privacy policy", "cookie policy", "uses cookies",
    "use of cookies", "use cookies",
)  # fmt: skip
# Every line with a phrase has one of these, and few others do. k is also the Kelvin sign's lower
# case.
PARTS = ("ipsu", "javas", "s of us", "cy polic", "cooki")
PHRASE_BYTES, PHRASE_SIZES = literal_rows(PHRASES)
HAS_LOREM, HAS_JAVASCRIPT, HAS_POLICY = 1, 2, 0xFC
"""Bits of the phrases."""

SMALL = 0x20
find_part = finder(
    [*map(literal, PARTS), tuple((byte | SMALL,) * 2 for byte in "\u212a".encode())], SMALL
)
find_curly = finder(any_of("{"))
find_open = finder(any_of("["))


@kernel
def lowered(byte):
    return byte | SMALL if 0x41 <= byte <= 0x5A else byte


@kernel
def phrase_at(data, i, stop, which):
    """Return whether the lower-cased text has a phrase at byte i."""
    for k in range(PHRASE_SIZES[which]):
        if i >= stop:
            return False
        wanted = PHRASE_BYTES[which, k]
        if lowered(data[i]) == wanted:
            i += 1
        elif (
            wanted == 0x6B and data[i] == 0xE2 and data[i + 1] == 0x84 and data[i + 2] == 0xAA
        ):  # the Kelvin sign, as k
            i += 3
        else:
            return False
    return True


@kernel
def phrases_in(data, start, stop):
    """Return the phrases in data[start:stop], one bit each."""
    found = 0
    if find_part(data, start, stop) == stop:
        return found
    for i in range(start, stop):
        for which in range(PHRASE_SIZES.size):
            if lowered(data[i]) == PHRASE_BYTES[which, 0] and phrase_at(data, i, stop, which):
                found |= 1 << which
    return found


@kernel
def has_words(data, i, stop, least, table):
    """Return whether data[i:stop] has at least `least` words of `str.split()`."""
    words = inside = 0
    while i < stop and words < least:
        point, i = decode_one(data, i)
        solid = np.int64(table[point] // NO_BLANK & 1)
        words += solid & (inside ^ 1)
        inside = solid
    return words >= least


@kernel
def has_long_word(data, start, stop, most, table):
    """Return whether a word of data[start:stop] has more than `most` characters."""
    begin = start  # no longer word starts before
    while begin + most < stop:
        i = begin + most
        while i >= begin and not is_space(data[i]):
            i -= 1
        if i < begin:
            return longest_word(data, start, stop, table) > most
        begin = i + 1
    return False


@kernel
def longest_word(data, i, stop, table):
    """Return the characters of the longest word of `str.split()` in data[i:stop]."""
    longest = chars = 0
    while i < stop:
        point, i = decode_one(data, i)
        chars = (chars + 1) * np.int64(table[point] // NO_BLANK & 1)
        longest = max(longest, chars)
    return longest


@kernel
def literal_at(data, i, stop, literal):
    if i + literal.size > stop:
        return False
    same = 0
    for k in range(literal.size):
        same += data[i + k] == literal[k]
    return same == literal.size


EDIT = np.frombuffer(b"[edit]", np.uint8)
CITATION_NEEDED = np.frombuffer(b"[citation needed]", np.uint8)


@kernel
def citation_end(data, i, stop, table):
    """Return the end of the [12], [edit] or [citation needed] at byte i; i if there is none."""
    k = i + 1
    while k < stop:
        if data[k] == CLOSE:
            return k + 1
        point, after = decode_one(data, k)
        if not table[point] & DIGIT:
            break
        k = after
    if literal_at(data, i, stop, EDIT):
        return i + EDIT.size
    if literal_at(data, i, stop, CITATION_NEEDED):
        return i + CITATION_NEEDED.size
    return i


@kernel
def has_end_mark(data, start, stop, marks):
    """Return whether the text ends in one of the marks, but not in three dots."""
    if stop - start >= 3 and data[stop - 1] == data[stop - 2] == data[stop - 3] == 0x2E:
        return False
    return start < stop and ends_with_one_of(data, stop, marks)


@kernel
def count_sentences(data, start, stop):
    """Count the sentences that are not only white space."""
    count = 0
    while start < stop:
        end, after = after_sentence(data, start, stop)
        count += space_end(data, start, end) < end
        start = after
    return count


@kernel
def put_cut(cuts, n, row, start, stop, rule):
    """Write a cut unless it is empty or there is no room. Return the number of cuts, written or
    not."""
    if n < cuts.shape[0]:
        cuts[n, 0], cuts[n, 1], cuts[n, 2], cuts[n, 3] = row, start, stop, rule
    return n + np.int64(start < stop)


@kernel
def rule_of_phrases(data, start, stop, may_have, needs, counts):
    """Return the rule that cuts a line for its content; 0 if the line stays. counts: of its
    document.

    may_have: whether the document may contain a phrase, and whether it may contain a {.
    """
    met = phrases_in(data, start, stop) if may_have[0] else 0
    counts[1] += met & HAS_LOREM
    if needs[4] == 1 and met & HAS_JAVASCRIPT:
        return JAVASCRIPT
    counts[2] += may_have[1] and find_curly(data, start, stop) < stop
    return POLICY if needs[5] == 1 and met & HAS_POLICY else 0


@kernel
def rule_of_line(data, a, b, edited, size, table, may_have, needs, marks, counts):
    """Return the rule that cuts the line data[a:b]; 0 if the line stays.

    edited: its first `size` bytes are the line without citations; size is -1 if there are none.
    """
    # Not a variable for either array: numba would count references for every line.
    whole = size < 0
    if needs[2] >= 0 and has_long_word(data, a, b, needs[2], table):
        return LONG_WORD
    if needs[0] == 1 and not (
        has_end_mark(data, a, b, marks) if whole else has_end_mark(edited, 0, size, marks)
    ):
        return NO_END_MARK
    if not has_words(data, a, b, needs[1], table):
        return FEW_WORDS
    if whole:
        return rule_of_phrases(data, a, b, may_have, needs, counts)
    # Removing citations may have joined the pieces of a phrase.
    return rule_of_phrases(edited, 0, size, (True, True), needs, counts)


@kernel
def c4_lines(data, offsets, table, needs, marks, cuts, counts):
    """Cut lines, and count what decides on documents. Return the number of cuts.

    data: uint8, valid UTF-8. offsets: int64 (documents + 1,). table: see kernels.words. needs:
    int64 (6,): whether lines need an end mark, fewest words of a line, most characters of a word,
    whether to cut citations, lines with javascript, lines with policies; -1 for no limit. marks:
    uint32, ascending, code points that may end a line. cuts: int64 (room, 4), written up to its
    end: row, start, stop and rule, by row. counts: int64 (documents, 3), written: sentences in kept
    lines, lines with lorem ipsum, lines with a {. Documents with such lines are dropped, so their
    cuts do not matter.
    """
    citations = needs[3]
    edited = np.empty(longest_of(offsets) if citations == 1 else 0, np.uint8)
    n = 0
    for d in range(offsets.size - 1):
        counts[d] = 0
        start, stop = offsets[d], offsets[d + 1]
        behind, next_line = start, start  # end of the last kept line, start of the next line
        may_have = find_part(data, start, stop) < stop, find_curly(data, start, stop) < stop
        has_open = citations == 1 and find_open(data, start, stop) < stop
        while start < stop:
            end, after = line_end(data, start, stop)
            a, b = without_blanks(data, start, end, table)
            before, size = n, -1
            if has_open and find_open(data, a, b) < b:
                size, n = without_citations(data, a, b, table, edited, cuts, n, d)
            rule = rule_of_line(data, a, b, edited, size, table, may_have, needs, marks, counts[d])
            if rule:
                n = put_cut(cuts, before, d, start, after, rule)
            else:
                if size < 0:
                    counts[d, 0] += count_sentences(data, a, b)
                else:
                    counts[d, 0] += count_sentences(edited, 0, size)
                n = put_cut(cuts, n, d, start, a, WHITE_SPACE)
                n = put_cut(cuts, n, d, b, end, WHITE_SPACE)
                if after - end == 2 and data[end] == 0x0D:
                    n = put_cut(cuts, n, d, end, end + 1, WHITE_SPACE)
                behind, next_line = end, after
            start = after
        if next_line - behind == 2 and data[behind] == 0x0D:
            behind += 1  # what precedes the newline is cut already
        n = put_cut(cuts, n, d, behind, next_line, WHITE_SPACE)
    return n


@kernel
def without_citations(data, a, b, table, edited, cuts, n, row):
    """Write the line data[a:b] without citations to `edited`.

    Return its size, -1 if there are no citations, and the number of cuts.
    """
    size, last, i = -1, a, a
    while i < b:
        end = citation_end(data, i, b, table) if data[i] == OPEN else i
        if end == i:
            i += 1
            continue
        n = put_cut(cuts, n, row, i, end, CITATION)
        size = max(size, 0)
        edited[size : size + i - last] = data[last:i]
        size += i - last
        last = i = end
    if size >= 0:
        edited[size : size + b - last] = data[last:b]
        size += b - last
    return size, n
