"""C4's rules on lines: which are cut, what is cut of others, what drops the document."""

import numpy as np

from corpusmill.kernels.clean import decode_one
from corpusmill.kernels.jit import kernel
from corpusmill.kernels.lines import line_end, without_blanks
from corpusmill.kernels.splitting import after_sentence, is_space
from corpusmill.kernels.words import DIGIT, NO_BLANK

# Why something is cut. WHITE_SPACE: around a line that stays, and behind the last one.
LONG_WORD, NO_END_MARK, FEW_WORDS, JAVASCRIPT, POLICY, CITATION, WHITE_SPACE = range(1, 8)

OPEN, CLOSE = 0x5B, 0x5D  # [ ]
CURLY = 0x7B

# Phrases, and the place in each of two letters that are rarer than its first ones.
PHRASES = (
    "lorem ipsum", "javascript", "terms of use", "privacy policy", "cookie policy", "uses cookies",
    "use of cookies", "use cookies",
)  # fmt: skip
ANCHORS = ("ps", "ja", "ms", "cy", "ok", "ok", "ok", "ok")
MAX_PHRASE = 14
PHRASE_BYTES = np.zeros((len(PHRASES), MAX_PHRASE), np.uint8)
for _row, _phrase in enumerate(PHRASES):
    PHRASE_BYTES[_row, : len(_phrase)] = list(_phrase.encode())
PHRASE_SIZES = np.array([len(one) for one in PHRASES])
ANCHOR_PLACES = np.array([one.index(two) for one, two in zip(PHRASES, ANCHORS, strict=True)])
IS_ANCHOR = np.zeros(1 << 16, np.bool_)
for _two in ANCHORS:
    IS_ANCHOR[ord(_two[0]) << 8 | ord(_two[1])] = True
IS_ANCHOR[ord("o") << 8 | 0xE2] = True  # the Kelvin sign, whose lower case is k


@kernel
def lowered(byte):
    return byte | 0x20 if 0x41 <= byte <= 0x5A else byte


@kernel
def phrase_at(data, i, stop, which):
    """Whether a phrase stands at byte i of the text in lower case."""
    for k in range(PHRASE_SIZES[which]):
        if i >= stop:
            return False
        wanted = PHRASE_BYTES[which, k]
        if lowered(data[i]) == wanted:
            i += 1
        elif (
            wanted == 0x6B and data[i] == 0xE2 and data[i + 1] == 0x84 and data[i + 2] == 0xAA
        ):  # k as the Kelvin sign
            i += 3
        else:
            return False
    return True


# What is met in a line, bits beside those of the phrases.
HAS_CURLY = 1 << 8
HAS_BRACKET = 1 << 9
HAS_STOP = 1 << 10
MET = np.zeros(256, np.uint16)
MET[CURLY] = HAS_CURLY
MET[OPEN] = HAS_BRACKET
for _mark in (*b".!?", 0xE3, 0xEF):  # 。 ！ ？ begin with the last two
    MET[_mark] = HAS_STOP
LOWERED = np.arange(256, dtype=np.uint8)
LOWERED[0x41:0x5B] += 0x20


@kernel
def line_facts(data, start, stop, table):
    """Words of `str.split()` of data[start:stop], the characters of the longest, and what is met:
    phrases, and the bits above."""
    words = longest = chars = 0
    met = np.uint16(0)
    before = np.uint64(0)
    i = start
    while i < stop:
        byte = data[i]
        met |= MET[byte]
        now = np.uint64(LOWERED[byte])
        if IS_ANCHOR[before << np.uint64(8) | now]:
            met |= phrases_near(data, start, i - 1, stop)
        before = now
        if byte < 0x80:
            entry = table[byte]
        elif byte < 0xC0:  # within a character
            i += 1
            continue
        else:
            point, _ = decode_one(data, i)
            entry = table[point]
        solid = np.int64(entry // NO_BLANK & 1)
        words += solid & (chars == 0)
        chars = (chars + 1) * solid
        longest = max(longest, chars)
        i += 1
    return words, longest, met


@kernel
def phrases_near(data, start, i, stop):
    """The phrases of data[start:stop] whose rarer letters stand at byte i, a bit each."""
    found = np.uint16(0)
    for which in range(PHRASE_SIZES.size):
        begin = i - ANCHOR_PLACES[which]
        if begin >= start and phrase_at(data, begin, stop, which):
            found |= np.uint16(1 << which)
    return found


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
    """Where the [12], [edit] or [citation needed] at byte i ends; i if there is none."""
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
def has_end_mark(data, start, stop):
    """Whether it ends in . ? ! " or ' and not in three dots."""
    if start == stop:
        return False
    last = data[stop - 1]
    if last == 0x2E:
        return not (stop - start >= 3 and data[stop - 2] == 0x2E and data[stop - 3] == 0x2E)
    return last == 0x3F or last == 0x21 or last == 0x22 or last == 0x27


@kernel
def count_sentences(data, start, stop):
    """Sentences that are not white space alone."""
    count = 0
    while start < stop:
        end, after = after_sentence(data, start, stop)
        for i in range(start, end):
            if not is_space(data[i]):
                count += 1
                break
        start = after
    return count


@kernel
def put_cut(cuts, n, row, start, stop, rule):
    """Write one cut, if it is of anything and there is room; return how many there are then."""
    if start == stop:
        return n
    rows, starts, stops, rules = cuts
    if n < rows.size:
        rows[n], starts[n], stops[n], rules[n] = row, start, stop, rule
    return n + 1


@kernel
def c4_lines(data, offsets, table, needs, cuts, counts):
    """Cut lines, and count what decides on documents; return how many cuts there are.

    data: uint8, valid UTF-8. offsets: int64 (documents + 1,). table: see kernels.words.
    needs: int64 (6,): whether a line needs an end mark, its fewest words, most characters of a
    word, whether citations, lines with javascript, lines with policies go; -1 where there is no
    limit. cuts: rows, starts, stops (int64), rules (uint8), written as far as they reach, by row.
    counts: int64 (documents, 3), written: sentences of the lines that stay, lines with lorem ipsum,
    lines with a {. Of such a document cuts mean nothing.
    """
    end_mark, min_words, max_chars, citations, javascript, policies = needs
    longest = 0
    for d in range(offsets.size - 1):
        longest = max(longest, offsets[d + 1] - offsets[d])
    edited = np.empty(longest if citations == 1 else 0, np.uint8)
    n = 0
    for d in range(offsets.size - 1):
        counts[d] = 0
        start, stop = offsets[d], offsets[d + 1]
        behind, next_line = start, start  # of the last line that stays: its end, where the next is
        while start < stop:
            end, after = line_end(data, start, stop)
            a, b = without_blanks(data, start, end, table)
            words, longest_word, met = line_facts(data, a, b, table)
            before, size = n, -1
            if citations == 1 and met & HAS_BRACKET:
                size, n = without_citations(data, a, b, table, edited, cuts, n, d)
            if size < 0:
                marked = end_mark != 1 or has_end_mark(data, a, b)
            else:
                marked = end_mark != 1 or has_end_mark(edited, 0, size)
                _, _, met = line_facts(edited, 0, size, table)
            rule = 0
            if max_chars >= 0 and longest_word > max_chars:
                rule = LONG_WORD
            elif not marked:
                rule = NO_END_MARK
            elif words < min_words:
                rule = FEW_WORDS
            else:
                counts[d, 1] += met & 1
                if javascript == 1 and met & 2:
                    rule = JAVASCRIPT
                else:
                    counts[d, 2] += met // HAS_CURLY & 1
                    if policies == 1 and met & 0xFC:
                        rule = POLICY
            if rule:
                n = put_cut(cuts, before, d, start, after, rule)
            else:
                if not met & HAS_STOP:
                    counts[d, 0] += a < b if size < 0 else count_sentences(edited, 0, size)
                elif size < 0:
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
            behind += 1  # what stands before a newline is cut already
        n = put_cut(cuts, n, d, behind, next_line, WHITE_SPACE)
    return n


@kernel
def without_citations(data, a, b, table, edited, cuts, n, row):
    """Write the line data[a:b] without citations to `edited`; its size there, -1 if it has none;
    and how many cuts there are then."""
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
