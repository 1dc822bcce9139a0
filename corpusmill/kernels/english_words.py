"""Split texts into words as spaCy's English tokenizer does, directly from UTF-8 bytes.

A token between white space may be a listed word, whole or split as the list says. Otherwise affixes
are cut off at both ends until none is left or the rest is listed. The rest is a URL, or is split at
marks inside. Finally, adjacent pieces that form a listed word are joined.

Every step takes time proportional to what it cuts off: the hash of the rest follows from those of
the whole and of the piece.
"""

import numpy as np

from corpusmill.kernels.clean import before, decode_one
from corpusmill.kernels.jit import counting_nothing
from corpusmill.kernels.words import BASE, U, facts_of

# Flags of a table entry. Its upper 16 bits are the facts of kernels.words.
LETTER, SMALL, CAPITAL, FIGURE = 1, 2, 4, 8
QUOTE, FRONT, BEHIND, CURRENCY = 16, 32, 64, 128
BEFORE_DOT = 256  # a dot after it is cut off
UNIT_END = 512  # the last letter of a unit
INSIDE = 1024  # may be split at, or starts such a mark
ICON = 2048
HOST = 4096  # in host names
SCHEME = 8192  # in protocol names
DOTTED = 16384
FACTS_AT = 16
SOLID = 1 << FACTS_AT + 2
"""Not white space."""

MARKS = FRONT | BEHIND | CURRENCY | INSIDE
"""A word without any of these characters stays whole, except for units."""

LENGTH = 5
"""Bits per length in a packed list of lengths."""

SHIFT = U(52)
SLOTS = 1 << 12
MIXER = U(0xD6E8FEB86659FD93)
INVERSE = U(pow(int(BASE), -1, 1 << 64))

DOT, PLUS, MINUS, DOLLAR, SLASH, COLON, AT, COMMA = 0x2E, 0x2B, 0x2D, 0x24, 0x2F, 0x3A, 0x40, 0x2C
ELLIPSIS, DEGREE, EM_DASH, APOSTROPHE, CURLY = 0x2026, 0xB0, 0x2014, 0x27, 0x2019


# The lists in one array: a row per kind of content, a column per word hash. Lengths are packed.
WORDS, PIECES, JOINED, JOINTS, PARTED, UNITS = range(6)
LISTS = 6
MOST_CHARS = 12
"""Maximum number of characters in a listed word."""
UNIT_CHARS = 5


@counting_nothing
def slot_of(lists, which, value):
    """Return the slot of a hash in a list, or the empty slot where it belongs."""
    slot = value * MIXER >> SHIFT
    while lists[which, slot] != U(0) and lists[which, slot] != value:
        slot = slot + U(1) & U(SLOTS - 1)
    return slot


@counting_nothing
def is_word(lists, value, length):
    """Return whether a word with this hash and length is listed."""
    if length > MOST_CHARS:
        return False
    return lists[WORDS, slot_of(lists, WORDS, value)] == value


@counting_nothing
def kind_at(data, i, table):
    point, _ = decode_one(data, i)
    return table[point]


@counting_nothing
def put(data, i, stop, table, n, chars, facts, hashes):
    """Write data[i:stop] as word n."""
    chars[n], facts[n], hashes[n] = facts_of(data, i, stop, table, FACTS_AT)


@counting_nothing
def put_pieces(data, i, lengths, table, n, chars, facts, hashes):
    """Write pieces of these lengths from byte i on. Return the number of the next word."""
    while lengths != U(0):
        start = i
        for _ in range(lengths & U((1 << LENGTH) - 1)):
            _, i = decode_one(data, i)
        put(data, start, i, table, n, chars, facts, hashes)
        n += 1
        lengths >>= U(LENGTH)
    return n


@counting_nothing
def is_at(data, i, stop, byte):
    if i >= stop:
        return False
    return data[i] == byte


@counting_nothing
def front_end(data, a, b, table):
    """Return the end of the prefix to cut off data[a:b]; a if there is none."""
    point, i = decode_one(data, a)
    if table[point] & FRONT:
        return i
    if point == DOT:
        return dots_end(data, a, b)
    if point == PLUS:
        return plus_end(data, a, b, table)
    if point == 0x41 or point == 0x43 or point == 0x55:  # A$ C$ US$
        return dollar_end(data, a, b)
    return a


@counting_nothing
def dots_end(data, a, b):
    """Return the end of two or more dots at byte a; a if there are fewer."""
    i = a
    while i < b and data[i] == DOT:
        i += 1
    return i if i - a > 1 else a


@counting_nothing
def plus_end(data, a, b, table):
    """Return the end of a plus sign at byte a; a if a digit follows it."""
    if a + 1 == b:
        return b
    return a + 1 - np.int64(kind_at(data, a + 1, table) & FIGURE == FIGURE)


@counting_nothing
def dollar_end(data, a, b):
    """Return the end of a country's dollar sign at byte a; a if there is none."""
    i = a + 1 + np.int64(data[a] == 0x55)
    if i >= b or data[i] != DOLLAR:
        return a
    if data[a] == 0x55 and data[a + 1] != 0x53:
        return a
    return i + 1


@counting_nothing
def behind_start(data, a, b, table, lists):
    """Return the start of the suffix to cut off data[a:b]; b if there is none."""
    if a >= b:
        return b
    last = before(data, b)
    point, _ = decode_one(data, last)
    kind = table[point]
    if kind & BEHIND:
        return ellipses_start(data, a, last) if point == ELLIPSIS else last
    if last == a:
        return b
    if point == DOT:
        return dot_start(data, a, last, table)
    if point == 0x73 or point == 0x53:
        start = genitive_start(data, a, last)
        if start < b:
            return start
    if point == DOLLAR:
        return currency_start(data, a, last, table)
    if point == PLUS or kind & CURRENCY:
        return b if not kind_at(data, before(data, last), table) & FIGURE else last
    if kind & UNIT_END:
        return unit_start(data, a, b, table, lists)
    return b


@counting_nothing
def ellipses_start(data, a, last):
    """Return the start of one or two ellipsis characters, the last of them at byte `last`."""
    if last == a:
        return last
    previous = before(data, last)
    point, _ = decode_one(data, previous)
    return previous if point == ELLIPSIS else last


@counting_nothing
def dot_start(data, a, last, table):
    """Return the start of the dots to cut off, the last of them at byte `last`; the byte after if
    none."""
    if data[last - 1] == DOT:
        while last > a and data[last - 1] == DOT:
            last -= 1
        return last
    previous = before(data, last)
    point, _ = decode_one(data, previous)
    kind = table[point]
    if kind & BEFORE_DOT:
        return last
    if previous == a or not kind & CAPITAL:
        return last + 1
    first, _ = decode_one(data, before(data, previous))
    if table[first] & CAPITAL:
        return last
    of_degrees = point == 0x43 or point == 0x46 or point == 0x4B
    return last if first == DEGREE and of_degrees else last + 1


@counting_nothing
def genitive_start(data, a, last):
    """Return the start of 's with its s at byte `last`; the byte after if it is another s."""
    previous = before(data, last)
    point, _ = decode_one(data, previous)
    return previous if point == APOSTROPHE or point == CURLY else last + 1


@counting_nothing
def currency_start(data, a, last, table):
    """Return the start of the currency with its dollar sign at byte `last`; the byte after if
    none."""
    start = last - dollar_letters(data, a, last)
    if start == a:
        return last + 1
    return last + 1 if not kind_at(data, before(data, start), table) & FIGURE else start


@counting_nothing
def dollar_letters(data, a, last):
    """Return the number of country letters before a dollar sign."""
    one = data[last - 1]
    if one == 0x41 or one == 0x43:
        return 1
    if one != 0x53 or last - 1 == a:
        return 0
    return 2 * np.int64(data[last - 2] == 0x55)


@counting_nothing
def unit_start(data, a, b, table, lists):
    """Return the start of a unit after a digit; b if there is none."""
    start = b
    for _ in range(UNIT_CHARS + 1):
        if start == a:
            return b
        previous = before(data, start)
        if kind_at(data, previous, table) & FIGURE:
            return start if start < b and is_unit(data, start, b, table, lists) else b
        start = previous
    return b


@counting_nothing
def is_unit(data, i, stop, table, lists):
    _, _, value = facts_of(data, i, stop, table, FACTS_AT)
    return lists[UNITS, slot_of(lists, UNITS, value)] == value


@counting_nothing
def number_end(data, i, stop, most_digits):
    """Return the end of a run of at most `most_digits` digits, and its value."""
    start, value = i, 0
    while i < stop and 0x30 <= data[i] <= 0x39 and i - start < most_digits:
        value = value * 10 + data[i] - 0x30
        i += 1
    return i, value


@counting_nothing
def address_end(data, i, stop):
    """Return the end of a public IP address at byte i; i if there is none."""
    start, first, second = i, 0, 0
    for place in range(4):
        if place > 0:
            if not is_at(data, i, stop, DOT):
                return start
            i += 1
        begin = i
        i, value = number_end(data, i, stop, 3)
        if i == begin or value > 255:
            return start
        size = i - begin
        outer = place == 0 or place == 3
        if data[begin] == 0x30 and (outer or size == 3):
            return start
        if (place == 0 and value > 223) or (place == 3 and value > 254):
            return start
        if place == 0:
            first = value
        elif place == 1:
            second = value
    private = (
        first == 10 or first == 127 or (first == 169 and second == 254)
        or (first == 192 and second == 168) or (first == 172 and 16 <= second <= 31)
    )  # fmt: skip
    return start if private else i


@counting_nothing
def host_end(data, i, stop, table):
    """Return the end of a host name at byte i; i if there is none."""
    start = i
    chars = labels = 0
    first_kind = kind = np.uint32(0)
    small = True
    while i < stop:
        point, after = decode_one(data, i)
        if point == DOT:
            if chars < 1 or chars > 64 or not (first_kind & HOST and kind & HOST):
                return start
            labels += 1
            chars, small = 0, True
        else:
            kind = table[point]
            if not (kind & HOST or kind & SMALL or point == MINUS or point == 0x5F):
                break
            if chars == 0:
                first_kind = kind
            small = small and kind & SMALL != 0
            chars += 1
        i = after
    return i if labels > 0 and small and 2 <= chars <= 63 else start


@counting_nothing
def is_rest_of_url(data, i, stop):
    """Return whether the text after a host is empty or a port, a path or both."""
    if is_at(data, i, stop, COLON):
        end, _ = number_end(data, i + 1, stop, 5)
        if end - i - 1 < 2:
            return False
        i = end
    return i == stop or data[i] == SLASH or data[i] == 0x3F or data[i] == 0x23


@counting_nothing
def has_host(data, i, stop, table):
    end = address_end(data, i, stop)
    if end > i and is_rest_of_url(data, end, stop):
        return True
    end = host_end(data, i, stop, table)
    return end > i and is_rest_of_url(data, end, stop)


@counting_nothing
def is_url(data, a, b, table):
    """Return whether data[a:b] is a URL, with or without protocol and user."""
    if has_host(data, a, b, table):
        return True
    i, chars, in_scheme = a, 0, True
    while i < b:
        point, after = decode_one(data, i)
        if in_scheme and point == COLON:
            in_scheme = False
            slashes = chars > 1 and is_at(data, i + 1, b, SLASH) and is_at(data, i + 2, b, SLASH)
            if slashes and i + 3 < b and has_host(data, i + 3, b, table):
                return True
        in_scheme = in_scheme and table[point] & SCHEME != 0
        if point == AT and chars > 0 and after < b and has_host(data, after, b, table):
            return True
        chars += 1
        i = after
    return False


@counting_nothing
def inside_end(data, a, i, b, table, kind_before):
    """Return the end of the mark to split at byte i; i if there is none. kind_before: of the last
    character."""
    point, after = decode_one(data, i)
    kind = table[point]
    if not kind & INSIDE:
        return i
    if point == DOT and is_at(data, after, b, DOT):
        while is_at(data, after, b, DOT):
            after += 1
        return after
    if kind & ICON or point == ELLIPSIS:
        return after
    if i == a or after == b:
        return i
    kind_after = kind_at(data, after, table)
    sums = point == PLUS or point == MINUS or point == 0x2A or point == 0x5E
    if sums and kind_before & FIGURE and (kind_after & FIGURE or data[after] == MINUS):
        return after
    if point == DOT:
        joins = kind_before & (SMALL | QUOTE) and kind_after & (CAPITAL | QUOTE)
        return after if joins else i
    if point == COMMA:
        return after if kind_before & LETTER and kind_after & LETTER else i
    if not kind_before & (LETTER | FIGURE) or (sums and point != MINUS):
        return i
    if kind_after & LETTER:
        return after
    # Up to three hyphens are one mark, and up to two dashes.
    repeats = 2 if point == MINUS else 1 if point == EM_DASH else 0
    for _ in range(repeats):
        again, next_after = decode_one(data, after)
        if again != point or next_after == b:
            return i
        after = next_after
        if kind_at(data, after, table) & LETTER:
            return after
    return i


@counting_nothing
def put_parts(data, a, b, table, n, chars, facts, hashes):
    """Write data[a:b] split at the marks inside. Return the number of the next word."""
    start, i, kind_before = a, a, np.uint32(0)
    while i < b:
        end = inside_end(data, a, i, b, table, kind_before)
        if end > i and i > a:
            if i > start:
                put(data, start, i, table, n, chars, facts, hashes)
                n += 1
            put(data, i, end, table, n, chars, facts, hashes)
            n += 1
            start = end
        if end == i:
            _, end = decode_one(data, i)
        kind_before = kind_at(data, before(data, end), table)
        i = end
    if start < b:
        put(data, start, b, table, n, chars, facts, hashes)
        n += 1
    return n


@counting_nothing
def join_pieces(data, a, table, lists, first, n, chars, facts, hashes):
    """Join adjacent words from `first` on that form a listed word. Return the number of words.

    a: start of the word `first`. The words are contiguous.
    """
    i, kept, place, passed = first, first, a, 0
    while i < n:
        total, value, lengths = np.int64(chars[i]), hashes[i], U(chars[i])
        count, slot = 1, U(0)
        for j in range(i + 1, n):
            total += np.int64(chars[j])
            if total > MOST_CHARS:
                break
            for _ in range(chars[j]):
                value *= BASE
            value += hashes[j]
            lengths |= U(chars[j]) << U(LENGTH * (j - i))
            found = slot_of(lists, JOINED, value)
            if lists[JOINED, found] == value and lists[JOINTS, found] == lengths:
                count, slot = j - i + 1, found
        if count == 1:
            chars[kept], facts[kept], hashes[kept] = chars[i], facts[i], hashes[i]
            passed += np.int64(chars[i])
            kept += 1
        else:
            for _ in range(passed):
                _, place = decode_one(data, place)
            passed = 0
            for j in range(i, i + count):
                passed += np.int64(chars[j])
            kept = put_pieces(data, place, lists[PARTED, slot], table, kept, chars, facts, hashes)
        i += count
    return kept


@counting_nothing
def split_marked(data, a, b, value, length, dotted, table, lists, n, chars, facts, hashes):
    """Write the words of a token. Return the number of the next word. dotted: whether it has a
    dot."""
    begin, first = a, n
    # Suffixes are held in rows at the end, the last one first. There is a row for every byte.
    held = top = n + b - a
    power = U(1)
    for _ in range(length):
        power *= BASE
    while a < b and not (is_word(lists, value, length)):
        front = front_end(data, a, b, table)
        left, left_power, left_length = value, power, length
        if front > a:
            put(data, a, front, table, n, chars, facts, hashes)
            left_length -= np.int64(chars[n])
            for _ in range(chars[n]):
                left_power *= INVERSE
            left -= hashes[n] * left_power
            if front < b and is_word(lists, left, left_length):
                n, a, value, length = n + 1, front, left, left_length
                break
        behind = behind_start(data, front, b, table, lists)
        if behind < b:
            held -= 1
            put(data, behind, b, table, held, chars, facts, hashes)
            size, shrink = np.int64(chars[held]), U(1)
            for _ in range(size):
                shrink *= INVERSE
            without = (value - hashes[held]) * shrink
            if behind > a and is_word(lists, without, length - size):
                b, value, length = behind, without, length - size
                break
            left, left_length = (left - hashes[held]) * shrink, left_length - size
            left_power *= shrink
        if front == a and behind == b:
            break
        n += np.int64(front > a)
        a, b, value, power, length = front, behind, left, left_power, left_length
    if a < b:
        if is_word(lists, value, length):
            pieces = lists[PIECES, slot_of(lists, WORDS, value)]
            n = put_pieces(data, a, pieces, table, n, chars, facts, hashes)
        elif dotted and is_url(data, a, b, table):
            put(data, a, b, table, n, chars, facts, hashes)
            n += 1
        else:
            n = put_parts(data, a, b, table, n, chars, facts, hashes)
    for row in range(held, top):
        chars[n], facts[n], hashes[n] = chars[row], facts[row], hashes[row]
        n += 1
    return join_pieces(data, begin, table, lists, first, n, chars, facts, hashes)


@counting_nothing
def split_english(data, offsets, table, lists, first, chars, facts, hashes):
    """Split every text of a column; return the number of words.

    table: uint32 (0x110000,), lists: uint64 (LISTS, SLOTS), see filters/features/words.py. The
    other arguments are as in kernels.words.split_unicode.
    """
    n = 0
    for d in range(first.size - 1):
        first[d] = n
        i, stop = offsets[d], offsets[d + 1]
        while i < stop:
            start, length, value, shorter = i, 0, U(0), U(0)
            # Flags of all characters, of all but the last, of the last two.
            met = inner = kind = kind_before = np.uint32(0)
            point = np.int64(0)
            while i < stop:
                if data[i] < 0x80:
                    now, after = np.int64(data[i]), i + 1
                else:
                    wide, after = decode_one(data, i)
                    now = np.int64(wide)
                entry = table[now]
                if not entry & SOLID:
                    break
                point, kind_before, kind = now, kind, entry
                inner = met
                met |= entry
                length += 1
                shorter = value
                value = value * BASE + U(point) + U(1)
                i = after
            if i > start:
                unit = met & FIGURE and (kind | kind_before) & UNIT_END
                if not (met & MARKS or unit or is_word(lists, value, length)):
                    chars[n], facts[n], hashes[n] = length, np.uint8(met >> FACTS_AT), value
                    n += 1
                elif (
                    (kind & BEHIND or (point == DOT and kind_before & BEFORE_DOT))
                    and inner != 0
                    and not (inner & MARKS or unit)
                    and not is_word(lists, value, length)
                    and not is_word(lists, shorter, length - 1)
                ):
                    # Usual end of a clause, handled without the general case.
                    chars[n], facts[n], hashes[n] = length - 1, np.uint8(inner >> FACTS_AT), shorter
                    n += 1
                    chars[n], facts[n] = 1, np.uint8(kind >> FACTS_AT)
                    hashes[n] = U(point) + U(1)
                    n += 1
                else:
                    dotted = met & DOTTED != 0
                    n = split_marked(
                        data, start, i, value, length, dotted, table, lists, n, chars, facts, hashes
                    )
            if i < stop:
                _, i = decode_one(data, i)
    first[first.size - 1] = n
    return n
