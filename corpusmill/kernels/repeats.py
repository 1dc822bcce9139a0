"""What comes again among elements and among runs of words."""

import numpy as np

from corpusmill.kernels.jit import kernel
from corpusmill.kernels.words import BASE, U

FINISH = U(0xD6E8FEB86659FD93)
TAG = ~U((1 << 28) - 1)


@kernel
def place_in(slots, key):
    """Where a key is in a set, or is to be put.

    slots: uint64, a power of 2 of them and more than there are keys, 0 where one is free.
    """
    mask = U(slots.size - 1)
    place = (key ^ key >> U(32)) * FINISH >> U(20) & mask
    while slots[place] != U(0) and slots[place] != key:
        place = place + U(1) & mask
    return place


@kernel
def as_key(value):
    return value if value != U(0) else U(1)


@kernel
def repeats(hashes, sizes, slots):
    """Of elements that stood before: how many, and their characters."""
    slots[:] = U(0)
    count = size = 0
    for k in range(hashes.size):
        # The hash of no character is no more than that of few.
        key = as_key(hashes[k] ^ U(sizes[k]) * FINISH)
        place = place_in(slots, key)
        if slots[place] == key:
            count += 1
            size += sizes[k]
        slots[place] = key
    return count, size


@kernel
def slots_for(count, slots):
    """As much of `slots` as a set of so many needs."""
    size = 16
    while size < 2 * count:
        size *= 2
    return slots[:size]


@kernel
def number_grams(words, places, n, grams, slots, numbers, counts, firsts):
    """Number the runs of n words that begin at `places`, equal ones alike, in the order in which
    they come first: numbers[k] is that of places[k]. counts, firsts: of each number, how often it
    comes, and where first; written as far as there are numbers. Returns how many there are.

    words: uint64, their hashes. grams: uint64, as many as places, the hashes of the runs of n - 1
    words there; becomes that of n. slots: as in place_in.
    """
    # ASSUME no two different runs of a document have 36 bits and their place in `slots` in common.
    # A slot holds these and a number, so that looking costs one wait for memory and not two; and
    # nothing but a taken slot is a branch, as new and old ones come in no order.
    slots[:] = U(0)
    mask = U(slots.size - 1)
    found = 0
    for k in range(places.size):
        grams[k] = grams[k] * BASE + words[places[k] + n - 1]
        key = (grams[k] ^ grams[k] >> U(32)) * FINISH
        place, tag = key >> U(8) & mask, key & TAG
        while slots[place] != U(0) and slots[place] & TAG != tag:
            place = place + U(1) & mask
        slot = slots[place]
        is_new = slot == U(0)
        number = found if is_new else np.int64(slot & ~TAG) - 1
        slots[place] = tag | U(number + 1)
        firsts[found] = places[k]
        counts[number] = (0 if is_new else counts[number]) + 1
        numbers[k] = number
        found += is_new
    return found


@kernel
def top_gram(counts, firsts):
    """How often the most frequent one comes, and where first; of several that of the first."""
    best = 0
    for one in range(counts.size):
        if counts[one] > counts[best]:
            best = one
    return counts[best], firsts[best]


@kernel
def repeated_places(places, grams, numbers, counts, words, n, again):
    """Keep the places whose run of n words comes more than once, and that of the next place too:
    others begin no longer run that does. Returns how many. again: bool (words + 1,), for use."""
    again[: words + 1] = False
    for k in range(places.size):
        again[places[k]] = counts[numbers[k]] > 1
    kept = 0
    for k in range(places.size):
        begin = places[k]
        if again[begin] and again[begin + 1] and begin + n < words:
            places[kept], grams[kept] = begin, grams[k]
            kept += 1
    return kept
