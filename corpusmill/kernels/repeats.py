"""What comes again among elements and among runs of words."""

from typing import NamedTuple

import numpy as np

from corpusmill.kernels.jit import kernel
from corpusmill.kernels.words import U

FINISH = U(0xD6E8FEB86659FD93)
# Not the base of the hashes of words: with it `12 34` and `13 24` would be alike.
PAIR = U(0xC2B2AE3D27D4EB4F)
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
def number_alike(keys, slots, ids, counts):
    """ids[k]: the first place with the key of place k; counts[ids[k]]: how often it comes.

    keys: uint64. ids, counts: uint32, as many; counts are written at first places alone.
    slots: as in place_in.
    """
    # ASSUME no two different keys of a document have 36 bits and their place in `slots` in common.
    # A slot holds these and a place, so that looking costs one wait for memory and not two; and
    # nothing but a taken slot is a branch, as new and old ones come in no order.
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
        counts[one] = (U(0) if is_new else U(counts[one])) + U(1)
        ids[k] = one


class Grams(NamedTuple):
    """Runs of n words of a document that may come again, and room to find those of n + 1 words.

    All arrays are longer than the words of a document are many; uint32 but for two.
    """

    places: np.ndarray  # where each begins, ascending
    ids: np.ndarray  # of each the first place where it stands
    counts: np.ndarray  # (2, ...): in row n % 2 how often it stands, by id
    left: np.ndarray
    right: np.ndarray
    leads: np.ndarray
    others: np.ndarray
    alike: np.ndarray
    often: np.ndarray
    keys: np.ndarray  # uint64
    slots: np.ndarray  # uint64


@kernel
def room_for_grams(words):
    """Grams of documents of up to so many words."""
    size = slots_for(words, np.empty(4 * words + 16, np.uint64)).size
    rows = np.empty((7, words + 1), np.uint32)
    return Grams(
        rows[0], rows[1], np.empty((2, words + 1), np.uint32), rows[2], rows[3], rows[4], rows[5],
        rows[6], np.empty(words + 1, np.uint32), np.empty(words + 1, np.uint64),
        np.empty(size, np.uint64),
    )  # fmt: skip


@kernel
def find_pairs(words, grams):
    """Begin with runs of two words; return how many there are. words: uint64, their hashes."""
    size = max(words.size - 1, 0)
    for k in range(size):
        grams.places[k] = k
        grams.keys[k] = words[k] * PAIR + words[k + 1]
    slots = slots_for(size, grams.slots)
    number_alike(grams.keys[:size], slots, grams.ids, grams.counts[0])
    return size


@kernel
def lengthen(grams, size, n):
    """From runs of n words to those of n + 1; return how many there are. Only these may come again
    whose words but the last, and whose words but the first, do.

    size: how many there are of n words.
    """
    if size < 2:
        return 0
    places, ids, _, left, right, leads, others, alike, often, keys, slots = grams
    counts, longer_counts = grams.counts[n % 2], grams.counts[(n + 1) % 2]
    kept = unlike = U(0)
    comes_again = counts[ids[0]] > 1
    for k in range(U(size - 1)):
        place = places[k]
        stays = (places[k + U(1)] == place + 1) & comes_again
        comes_again = counts[ids[k + U(1)]] > 1
        places[kept], left[kept], right[kept] = place, ids[k], ids[k + U(1)]
        kept += U(stays & comes_again)
    # Most runs go on as the first one of n words did, the lead, and need no table. Three plain
    # loops are faster than one whose reads wait for what it wrote.
    for behind in range(kept):
        k = kept - behind - U(1)
        leads[left[k]] = k
    for k in range(kept):
        lead = U(leads[left[k]])
        same = right[lead] == right[k]
        first = places[lead]
        ids[k] = first
        longer_counts[first] = (U(0) if lead == k else U(longer_counts[first])) + U(same)
        others[unlike], keys[unlike] = k, U(left[k]) << U(32) | U(right[k])
        unlike += U(not same)
    number_alike(keys[:unlike], slots_for(np.int64(unlike), slots), alike, often)
    for k in range(unlike):
        first = places[others[alike[k]]]
        ids[others[k]], longer_counts[first] = first, often[alike[k]]
    return np.int64(kept)


@kernel
def top_gram(grams, size, n):
    """How often the most frequent run of n words comes, and where first; of several the first."""
    counts = grams.counts[n % 2]
    best = first = 0
    for k in range(size):
        often = counts[grams.ids[k]]
        if often > best:
            best, first = np.int64(often), np.int64(grams.places[k])
    return best, first
