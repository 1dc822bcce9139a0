"""Find repeated elements and repeated n-grams of words."""

from typing import NamedTuple

import numpy as np

from corpusmill.kernels.jit import kernel
from corpusmill.kernels.words import U

FINISH = U(0xD6E8FEB86659FD93)
# Not the base of the word hashes: `12 34` and `13 24` would collide.
PAIR = U(0xC2B2AE3D27D4EB4F)
TAG = ~U((1 << 28) - 1)
ONE, TWO = U(1 << 32), U(2 << 32)
NONE = np.uint32(0)


@kernel
def place_in(slots, key):
    """Return the slot of a key in a set, or the free slot where it belongs.

    slots: uint64, a power of 2 of them and more than there are keys, 0 if free.
    """
    mask = U(slots.size - 1)
    place = (key ^ key >> U(32)) * FINISH >> U(20) & mask
    while slots[place] != U(0) and slots[place] != key:
        place = place + U(1) & mask
    return place


@kernel
def room_for_elements(count):
    """Allocate hashes, sizes and slots for up to `count` elements."""
    return (
        np.empty(count, np.uint64),
        np.empty(count, np.int64),
        np.empty(4 * count + 16, np.uint64),
    )


@kernel
def key_of(value, size):
    """Return the key of an element, which combines its hash and size; never 0."""
    key = value ^ U(size) * FINISH
    return key if key != U(0) else U(1)


@kernel
def repeats(hashes, sizes, slots):
    """Count the elements that occurred before, and their characters."""
    slots[:] = U(0)
    count = size = 0
    for k in range(hashes.size):
        key = key_of(hashes[k], sizes[k])
        place = place_in(slots, key)
        if slots[place] == key:
            count += 1
            size += sizes[k]
        slots[place] = key
    return count, size


@kernel
def slots_for(count, slots):
    """Return the part of `slots` that a set of `count` keys needs."""
    size = 16
    while size < 2 * count:
        size *= 2
    return slots[:size]


@kernel
def number_alike(keys, slots, ids, members):
    """Number equal keys by their first position, and count them.

    ids[k]: the first position with the key at k; members[ids[k]]: the number of its positions,
    times ONE, and the xor of these positions. keys: uint64. ids: uint32, members: uint64, of the
    same size; members are written at first positions only. slots: as in place_in.
    """
    # ASSUME no two different keys of a document share 36 bits and their place in `slots`. A slot
    # holds these bits and a position, so that a lookup waits for memory once, not twice. Only a
    # taken slot is a branch, because new and old keys come in no predictable order.
    slots[:] = U(0)
    mask = U(slots.size - 1)
    for k in range(U(keys.size)):
        key = (keys[k] ^ keys[k] >> U(32)) * FINISH
        place, tag = key >> U(8) & mask, key & TAG
        while slots[place] != U(0) and slots[place] & TAG != tag:
            place = place + U(1) & mask
        slot = slots[place]
        is_new = slot == U(0)
        one = k if is_new else (slot & ~TAG) - U(1)
        slots[place] = tag | (one + U(1))
        members[k] = U(0)
        members[one] = (members[one] + ONE) ^ k
        ids[k] = one


class Grams(NamedTuple):
    """The repeated n-grams of a document, and scratch memory to find those of n + 1 words.

    Positions where the same n-gram begins form a class. All of a class continue alike, unless the
    class one word later was split by the last word. So only positions before such splits are
    examined.
    """

    classes: np.ndarray  # uint32, by position; NONE where an n-gram begins that occurs once
    members: np.ndarray  # uint64, by class: number of positions, times ONE, and their xor
    changed: np.ndarray  # uint32: positions whose class has changed
    sizes: np.ndarray  # int64: number of changed positions, last class, position of the last word
    leaving: np.ndarray  # uint32, like all but the last three: scratch memory of lengthen
    lost: np.ndarray
    alike: np.ndarray
    groups: np.ndarray  # uint64
    keys: np.ndarray
    slots: np.ndarray


@kernel
def room_for_grams(words):
    """Allocate Grams for documents of up to `words` words."""
    # A new class splits the positions of another, which words - 1 positions allow at most that
    # often.
    members = np.empty(2 * words + 2, np.uint64)
    rows, wide = np.empty((5, words + 1), np.uint32), np.empty((2, words + 1), np.uint64)
    slots = slots_for(words, np.empty(4 * words + 16, np.uint64))
    return Grams(
        rows[0], members, rows[1], np.zeros(3, np.int64), rows[2], rows[3], rows[4], wide[0],
        wide[1], slots,
    )  # fmt: skip


@kernel
def find_pairs(words, grams):
    """Start with n-grams of two words. words: uint64, their hashes."""
    classes, members, changed = grams.classes, grams.members, grams.changed
    size = max(words.size - 1, 0)
    for k in range(size):
        grams.keys[k] = words[k] * PAIR + words[k + 1]
    number_alike(grams.keys[:size], slots_for(size, grams.slots), classes, members[1:])
    members[0] = U(0)
    for k in range(U(size)):
        first = U(classes[k])
        comes_again = (first != k) | (members[k + U(1)] >= TWO)
        classes[k] = first + U(1) if comes_again else U(NONE)
    classes[size] = NONE
    # Skip positions that continue like the first of their class; most do.
    n = U(0)
    for k in range(U(size)):
        one, behind = classes[k], classes[k + U(1)]
        changed[n] = k + U(1)
        n += U((one != NONE) & ((behind == NONE) | (behind != classes[one])))
    grams.sizes[0], grams.sizes[1], grams.sizes[2] = n, size, size


@kernel
def lengthen(grams):
    """Go from n-grams to (n + 1)-grams."""
    # Few branches, because the processor cannot predict whether an n-gram is repeated.
    classes, members, changed, sizes, leaving, lost, alike, groups, keys, slots = grams
    n = gone = U(0)
    for k in range(sizes[0]):
        if changed[k] > 0:
            place = changed[k] - 1
            one, behind = classes[place], classes[changed[k]]
            members[one] = members[one] - ONE ^ U(place)
            leaving[n], keys[n], lost[gone] = place, U(one) << U(32) | U(behind), place
            n += U((one != NONE) & (behind != NONE))
            gone += U((one != NONE) & (behind == NONE))
    number_alike(keys[:n], slots_for(np.int64(n), slots), alike, groups)
    count, last, nowhere = U(0), U(sizes[1]), U(sizes[2])
    # Positions that leave together form a new class. If none stays, the first to leave keep the old
    # one.
    for k in range(n):
        place, old, first = U(leaving[k]), keys[k] >> U(32), U(alike[k])
        is_first = first == k
        is_new = is_first & (groups[k] >= TWO) & (members[old] >= ONE)
        last += U(is_new)
        if_first = (last if is_new else old) if groups[k] >= TWO else U(NONE)
        new = if_first if is_first else U(alike[first])
        members[new] = ((U(0) if is_new else members[new]) + ONE) ^ place
        alike[k] = classes[place] = new
        changed[count] = place
        count += U(new != old)
    for k in range(n):
        count = drop_alone(keys[k] >> U(32), classes, members, changed, count, nowhere)
    for k in range(gone):
        count = drop_alone(U(classes[lost[k]]), classes, members, changed, count, nowhere)
        classes[lost[k]] = NONE
        changed[count] = lost[k]
        count += U(1)
    members[0] = U(0)
    sizes[0], sizes[1] = count, last


@kernel
def drop_alone(one, classes, members, changed, count, nowhere):
    """Dissolve a class with one position left. Return the number of changed positions."""
    left = members[one]
    alone = left >> U(32) == U(1)
    place = left & (ONE - U(1))
    changed[count] = place
    classes[place if alone else nowhere] = NONE
    members[one] = U(0) if alone else left
    return count + U(alone)


@kernel
def top_gram(grams):
    """Return the count of the most frequent n-gram and its first position; the first n-gram on a
    tie. (0, 0) if none is repeated."""
    best = U(0)
    for one in range(grams.sizes[1] + 1):
        best = max(best, grams.members[one] >> U(32))
    if best < U(2):
        return 0, 0
    first = 0
    while grams.members[grams.classes[first]] >> U(32) != best:
        first += 1
    return np.int64(best), first
