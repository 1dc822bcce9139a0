"""Measure the similarity of documents: by sketches, and exactly by shingle sets."""

from typing import NamedTuple

import numpy as np

from corpusmill.kernels.clean import clean_text
from corpusmill.kernels.jit import kernel
from corpusmill.kernels.shingles import FINISH, ROLLING_BASE

BLOCK = 256  # sketches that stay in the second-level cache during a pass over another block
EMPTY_SLOT = np.uint64(0)
SPREAD = np.uint64(0x9E3779B97F4A7C15)
KEPT_SLOTS = 1 << 25  # for the shingle sets of one component: 256 MiB; others are rebuilt


class Texts(NamedTuple):
    """Texts to compare: text t is data[begins[t]:stops[t]]."""

    data: np.ndarray  # uint8, valid UTF-8
    begins: np.ndarray  # int64
    stops: np.ndarray  # int64
    table: np.ndarray  # uint32 (0x110000,), see unicode_tables
    width: int  # characters per shingle


class Graph(NamedTuple):
    """Candidate neighbours of each text, and the order of processing."""

    sequence: np.ndarray  # int64, texts by component, in each from best to worst
    component: np.ndarray  # int64 (texts,)
    place: np.ndarray  # int64 (texts,), rank among all from best to worst
    first: np.ndarray  # int64 (texts + 1,): text t has neighbours[first[t]:first[t + 1]]
    neighbours: np.ndarray  # int64
    matches: np.ndarray  # int64, number of equal values in the two sketches


@kernel
def equal_values(one, other):
    """Count the equal values of two sketches, uint32 (permutations,) each."""
    equal = np.uint32(0)
    for j in range(one.size):
        # Stays at 32 bits, as wide as the values compared, to use the same vector lanes.
        equal = np.uint32(equal + np.uint32(one[j] == other[j]))
    return equal


@kernel
def count_pairs(signatures, counts):
    """Add all pairs of rows of `signatures` to counts[k], where k is their number of equal values.

    signatures: uint32 (documents, permutations). counts: int64 (permutations + 1,).
    """
    documents = signatures.shape[0]
    for first in range(0, documents, BLOCK):
        for second in range(first, documents, BLOCK):
            for i in range(first, min(first + BLOCK, documents)):
                for j in range(max(second, i + 1), min(second + BLOCK, documents)):
                    counts[equal_values(signatures[i], signatures[j])] += 1


@kernel
def shares_earlier_band(one, other, band, width):
    """Return whether the sketches are equal in a whole band before `band`."""
    for start in range(0, band * width, width):
        equal = True
        for k in range(start, start + width):
            if one[k] != other[k]:
                equal = False
                break
        if equal:
            return True
    return False


@kernel
def pairs_of_groups(signatures, starts, band, width, least, most):
    """Return int64 (pairs, 3): rows i < j of a group, and their equal values, if `least` or more.

    signatures: uint32 (rows, permutations). Group g is rows starts[g]..starts[g + 1], which share
    the key of `band`. Pairs that share an earlier band too were found there. A row with more than
    `most` partners before it is paired only with the first row and with its most similar ones.
    """
    found = np.empty((1024, 3), np.int64)
    n = 0
    for g in range(starts.size - 1):
        first, last = starts[g], starts[g + 1]
        partners = np.empty(last - first, np.int64)
        for j in range(first + 1, last):
            count = 0
            for i in range(first, j):
                matches = equal_values(signatures[i], signatures[j])
                if matches >= least:
                    # In sorted order, rows with the most equal values come last, and on a tie the
                    # first row.
                    partners[count] = np.int64(matches) << 32 | (last - i)
                    count += 1
            chosen = partners[:count]
            if count > most:
                chosen = np.sort(chosen)[count - most :]
                best = equal_values(signatures[first], signatures[j])
                if best >= least and chosen[0] > (np.int64(best) << 32 | (last - first)):
                    chosen[0] = np.int64(best) << 32 | (last - first)
            for key in chosen:
                i = last - (key & 0xFFFFFFFF)
                if shares_earlier_band(signatures[i], signatures[j], band, width):
                    continue
                if n == found.shape[0]:
                    larger = np.empty((2 * n, 3), np.int64)
                    larger[:n] = found
                    found = larger
                found[n, 0], found[n, 1], found[n, 2] = i, j, key >> 32
                n += 1
    return found[:n]


@kernel
def slot_of(value, slots):
    """Return the slot of a value in a hash set, or the empty slot where it belongs.

    value: uint64, not EMPTY_SLOT. slots: uint64, a power of two of them, some of them empty.
    """
    mask = np.uint64(slots.size - 1)
    at = (value * SPREAD >> np.uint64(20)) & mask
    while slots[at] != EMPTY_SLOT and slots[at] != value:
        at = (at + np.uint64(1)) & mask
    return at


@kernel
def shingle_set(data, start, stop, table, width):
    """Return (slots, size): the set of the `width`-character shingles of one cleaned text.

    A text shorter than `width` is one shingle, an empty one has none. A shingle is represented by
    its full polynomial modulo 2**64 (see rolling_hashes): two shingles collide with probability
    2**-64.
    """
    chars = np.empty(stop - start + 4, np.uint32)
    n = clean_text(data, start, stop, table, chars)
    room = 16
    while room < 2 * n:
        room *= 2
    slots = np.zeros(room, np.uint64)
    size = 0
    value = np.uint64(0)
    leaving = np.uint64(1)
    for i in range(n):
        value = value * ROLLING_BASE + np.uint64(chars[i])
        if i < width:
            leaving = leaving * ROLLING_BASE
        else:
            value -= np.uint64(chars[i - width]) * leaving
        if i >= width - 1 or i == n - 1:
            shingle = max((value ^ value >> np.uint64(32)) * FINISH, np.uint64(1))
            at = slot_of(shingle, slots)
            size += slots[at] == EMPTY_SLOT
            slots[at] = shingle
    return slots, size


@kernel
def jaccard_from(threshold, one, one_size, other, other_size):
    """Return the Jaccard similarity of two shingle sets if it is `threshold` or more, else -1.

    It is 0 for two empty sets. Values are in random order, so most dissimilar pairs have too many
    misses long before the end.
    """
    if other_size < one_size:
        one, one_size, other, other_size = other, other_size, one, one_size
    total = one_size + other_size
    if total == 0:
        return 0.0 if threshold <= 0 else -1.0
    # Similar sets share threshold * total / (1 + threshold) values; one miss more allows for
    # rounding.
    misses = one_size - np.int64(threshold * total / (1 + threshold)) + 1
    common = 0
    for value in one:
        if value != EMPTY_SLOT:
            if other[slot_of(value, other)] == value:
                common += 1
            else:
                misses -= 1
                if misses < 0:
                    return -1.0
    value = common / (total - common)
    return value if value >= threshold else -1.0


@kernel
def set_of(t, sets, sizes, held, texts):
    """Return the shingle set of text t, its size, and the number of slots kept in all sets.

    The set is kept in `sets`, and its size in `sizes`, if there is room.
    """
    if sizes[t] >= 0:
        return sets[t], sizes[t], held
    slots, size = shingle_set(texts.data, texts.begins[t], texts.stops[t], texts.table, texts.width)
    if held + slots.size <= KEPT_SLOTS:
        sets[t], sizes[t] = slots, size
        held += slots.size
    return slots, size, held


@kernel
def best_kept_first(t, graph, winner):
    """Return int64: rank and edge number of every kept neighbour better than text t, best first."""
    start = graph.first[t]
    found = np.empty(graph.first[t + 1] - start, np.int64)
    n = 0
    for e in range(start, graph.first[t + 1]):
        other = graph.neighbours[e]
        if graph.place[other] < graph.place[t] and winner[other] == other:
            found[n] = graph.place[other] << 32 | (e - start)
            n += 1
    return np.sort(found[:n])


@kernel
def resolve_kept(graph, limits, texts, resolved):
    """Visit the texts from best to worst, and drop each that is similar to one kept before it.

    limits: equal values that are enough, values of a sketch, threshold of a measured similarity.
    resolved: written for each text. winner, int64: the best kept text similar to it, or itself;
    similarity, float64, of the two; compared, bool: whether that was measured, not estimated.
    Returns the number of pairs measured.
    """
    enough, permutations, threshold = limits
    winner, similarity, compared = resolved
    nothing = np.zeros(0, np.uint64)
    sequence, component = graph.sequence, graph.component
    sets = [nothing for _ in range(sequence.size)]
    sizes = np.full(sequence.size, -1, np.int64)
    held, from_here = 0, 0
    measured = 0
    for rank in range(sequence.size):
        t = sequence[rank]
        if component[t] != component[sequence[from_here]]:
            for past in sequence[from_here:rank]:
                sets[past], sizes[past] = nothing, -1
            held, from_here = 0, rank
        winner[t] = t
        for key in best_kept_first(t, graph, winner):
            e = graph.first[t] + (key & 0xFFFFFFFF)
            other = graph.neighbours[e]
            if graph.matches[e] >= enough:
                winner[t], compared[t] = other, False
                similarity[t] = graph.matches[e] / permutations
                break
            mine, size, held = set_of(t, sets, sizes, held, texts)
            theirs, their_size, held = set_of(other, sets, sizes, held, texts)
            measured += 1
            value = jaccard_from(threshold, mine, size, theirs, their_size)
            if value >= 0:
                winner[t], compared[t], similarity[t] = other, True, value
                break
    return measured


@kernel
def measure_pairs(pairs, threshold, texts, values):
    """Write the Jaccard similarity of each pair to values[p]; -1 below threshold.

    pairs: numbers of texts. For adjacent pairs with the same first text, its set is built once.
    """
    data, table, width = texts.data, texts.table, texts.width
    last = -1
    mine, size = np.zeros(0, np.uint64), 0
    for p in range(pairs.shape[0]):
        one, other = pairs[p, 0], pairs[p, 1]
        if one != last:
            mine, size = shingle_set(data, texts.begins[one], texts.stops[one], table, width)
            last = one
        begin, stop = texts.begins[other], texts.stops[other]
        theirs, their_size = shingle_set(data, begin, stop, table, width)
        values[p] = jaccard_from(threshold, mine, size, theirs, their_size)
