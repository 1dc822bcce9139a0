r"""Split texts into lines, paragraphs or sentences, directly from UTF-8 bytes.

White space is ASCII's: space, \t, \n, \v, \f, \r. All marks are ASCII or whole UTF-8 sequences,
which can only begin at a character's first byte.
"""

from corpusmill.kernels.finding import any_of, finder
from corpusmill.kernels.jit import kernel

LINE = 0
PARAGRAPH = 1
SENTENCE = 2

NEWLINE = 0x0A

find_newline = finder(any_of(chr(NEWLINE)))
find_mark = finder(any_of(".!?。！？"))


@kernel
def is_space(byte):
    return byte == 0x20 or 0x09 <= byte <= 0x0D


@kernel
def space_end(data, i, stop):
    """Return the end of the white space at byte i."""
    while i < stop and is_space(data[i]):
        i += 1
    return i


@kernel
def ends_sentence(byte):
    """Return whether the byte is one of . ! ?"""
    return byte == 0x2E or byte == 0x21 or byte == 0x3F


@kernel
def is_wide_mark(data, i):
    """Return whether 。 ！ or ？ begins at byte i."""
    if data[i] == 0xE3:
        return data[i + 1] == 0x80 and data[i + 2] == 0x82
    if data[i] == 0xEF:
        return data[i + 1] == 0xBC and (data[i + 2] == 0x81 or data[i + 2] == 0x9F)
    return False


@kernel
def closer_bytes(data, i):
    """Return the size of the closing quote or bracket at byte i in bytes; 0 if there is none."""
    byte = data[i]
    if byte < 0x80:  # " ' ) ] }
        return int(byte == 0x22 or byte == 0x27 or byte == 0x29 or byte == 0x5D or byte == 0x7D)
    if byte == 0xC2:  # »
        return 2 if data[i + 1] == 0xBB else 0
    if byte == 0xE2:  # ’ ”
        return 3 if data[i + 1] == 0x80 and (data[i + 2] == 0x99 or data[i + 2] == 0x9D) else 0
    if byte == 0xE3:  # 」 』
        return 3 if data[i + 1] == 0x80 and (data[i + 2] == 0x8D or data[i + 2] == 0x8F) else 0
    if byte == 0xEF:  # ）
        return 3 if data[i + 1] == 0xBC and data[i + 2] == 0x89 else 0
    return 0


@kernel
def after_line(data, i, stop):
    end = find_newline(data, i, stop)
    return end, end + 1


@kernel
def after_paragraph(data, i, stop):
    """Return the end of a paragraph, and the start of the next.

    A paragraph ends at a newline that is followed by another one, with only white space between.
    """
    i = find_newline(data, space_end(data, i, stop), stop)
    while i < stop:
        end = space_end(data, i, stop)
        if end == stop:
            break
        last = end - 1
        while data[last] != NEWLINE:  # the next paragraph keeps its indentation
            last -= 1
        if last > i:
            return i, last + 1
        i = find_newline(data, end, stop)
    return stop, stop + 1


@kernel
def after_sentence(data, i, stop):
    """Return the end of a sentence, and the start of the next.

    A sentence ends after a run of marks and closers that begins with a mark. White space must
    follow, unless the run contains 。 ！ or ？.
    """
    i = find_mark(data, space_end(data, i, stop), stop)
    while i < stop:
        has_wide = False
        while i < stop:
            wide = is_wide_mark(data, i)
            size = 3 if wide else 1 if ends_sentence(data[i]) else closer_bytes(data, i)
            if size == 0:
                break
            has_wide = has_wide or wide
            i += size
        end = space_end(data, i, stop)
        if end == stop:
            break
        if end > i or has_wide:
            return i, end
        i = find_mark(data, i, stop)
    return stop, stop + 1


@kernel
def split_texts(data, offsets, unit, first, starts, ends):
    """Split every text of a column into units; return the number of units.

    data: uint8, valid UTF-8. offsets: int64 (documents + 1,). first: int64 (documents + 1,),
    written: the number of each document's first unit, then the total. starts, ends: int64, written
    up to their size: start of each unit and end of its own text. The separator is what lies between
    its end and the next start. A document's first unit starts with the document, and its last unit
    ends with it. Every document has at least one unit, possibly empty.
    """
    n = 0
    for d in range(first.size - 1):
        first[d] = n
        start, stop = offsets[d], offsets[d + 1]
        while start <= stop:
            if unit == LINE:
                end, after = after_line(data, start, stop)
            elif unit == PARAGRAPH:
                end, after = after_paragraph(data, start, stop)
            else:
                end, after = after_sentence(data, start, stop)
            if n < starts.size:
                starts[n], ends[n] = start, end
            n += 1
            start = after
    first[first.size - 1] = n
    return n
