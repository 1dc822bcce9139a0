"""Identify languages: an automaton over bytes finds features, and a naive Bayes model scores them.

The tables are those of `corpusmill.mill.filters.languages.model`. Memory is the bottleneck, not
arithmetic: the automaton has 30 MB and the weights 28. So four stretches of a text are walked at
once, to overlap their loads. States are counted first, and weights looked up once per state.
"""

from typing import NamedTuple

import numpy as np

from corpusmill.kernels.jit import kernel

BLOCK = 1 << 14
"""Bytes walked before their states are counted."""
MEMORY = 6
"""Number of bytes that determine a state: a walk from the root over the last bytes, this many, ends
in the same state."""
STATE_OFFSET = 1 << 15
ROWS_SUMMED = 64
"""Number of rows to sum in float32 before the sum is added to one in float64."""
LEAST_LOGARITHM = -50.0


class Automaton(NamedTuple):
    """The transitions. A cell's upper 16 bits are the next row. The lower 16 bits identify the
    state: its number minus twice the row, plus STATE_OFFSET. Row 0 is the root's."""

    cells: np.ndarray  # uint32 (rows, classes)
    classes: np.ndarray  # uint8 (256,): the column of a byte


class Weights(NamedTuple):
    """The weights. A score is the sum of `log1p(count of feature f) * of_feature[f]`."""

    feature_of: np.ndarray  # int32 (states,): f; -1 - f if several states have f; NONE without one
    of_feature: np.ndarray  # int16 (features, columns): in units of 1 / SCALE, the last columns 0
    prior: np.ndarray  # float64 (columns,)
    label_of: np.ndarray  # uint8 (columns,): the language of a column; several may share one
    is_among: np.ndarray  # bool (columns,): whether the language is possible
    logarithms: np.ndarray  # float32: log1p of small counts, divided by SCALE


SCALE = 512
NONE = np.int32(1 << 30)


class Scratch(NamedTuple):
    """Scratch memory, reused for all texts. All counts are 0 between texts."""

    found: np.ndarray  # uint32 (BLOCK,)
    state_counts: np.ndarray  # uint32 (states,)
    states: np.ndarray  # uint32 (states + 1,)
    feature_counts: np.ndarray  # uint32 (features,)
    shared: np.ndarray  # int32 (features + 1,)
    features: np.ndarray  # int32 (features,)
    factors: np.ndarray  # float32 (features,)
    part: np.ndarray  # float32 (columns,)


@kernel
def row_after(data, start, stop, automaton):
    """Return the row after a walk from the root over data[start:stop]."""
    row = np.uint32(0)
    for i in range(start, stop):
        row = automaton.cells[row, automaton.classes[data[i]]] >> np.uint32(16)
    return row


@kernel
def walk(data, begin, start, stop, automaton, found):
    """Write the cell after each byte of data[start:stop] to `found`. The text starts at `begin`.

    found: uint32, room for stop - start.
    """
    cells, classes = automaton.cells, automaton.classes
    quarter = (stop - start) // 4
    second, third, fourth = start + quarter, start + 2 * quarter, start + 3 * quarter
    row = row_after(data, max(begin, start - MEMORY), start, automaton)
    row_2 = row_after(data, max(begin, second - MEMORY), second, automaton)
    row_3 = row_after(data, max(begin, third - MEMORY), third, automaton)
    row_4 = row_after(data, max(begin, fourth - MEMORY), fourth, automaton)
    for i in range(quarter):
        cell = cells[row, classes[data[start + i]]]
        cell_2 = cells[row_2, classes[data[second + i]]]
        cell_3 = cells[row_3, classes[data[third + i]]]
        cell_4 = cells[row_4, classes[data[fourth + i]]]
        found[i] = cell
        found[quarter + i] = cell_2
        found[2 * quarter + i] = cell_3
        found[3 * quarter + i] = cell_4
        row, row_2 = cell >> np.uint32(16), cell_2 >> np.uint32(16)
        row_3, row_4 = cell_3 >> np.uint32(16), cell_4 >> np.uint32(16)
    for i in range(4 * quarter, stop - start):
        cell = cells[row_4, classes[data[start + i]]]
        found[i] = cell
        row_4 = cell >> np.uint32(16)


@kernel
def count_states(found, number, counts, states, n):
    """Count the states of found[:number]. Append new ones to states[:n]; return their number."""
    for i in range(number):
        row = found[i] >> np.uint32(16)
        state = (found[i] & np.uint32(0xFFFF)) + np.uint32(2) * row - np.uint32(STATE_OFFSET)
        states[n] = state
        n += counts[state] == 0
        counts[state] += np.uint32(1)
    return n


@kernel
def factor(count, logarithms):
    """Return log1p(count) divided by SCALE."""
    if count < logarithms.size:
        return logarithms[count]
    return np.float32(np.log1p(float(count)) / SCALE)


@kernel
def take_features(states, n, weights, scratch):
    """Write the features of states[:n] and their factors to `scratch`; return their number.

    Resets all counts to 0.
    """
    counts, of_feature = scratch.state_counts, scratch.feature_counts
    number = 0
    shared = 0
    for i in range(n):
        state = states[i]
        count = counts[state]
        counts[state] = 0
        feature = weights.feature_of[state]
        if feature == NONE:
            continue
        if feature >= 0:
            scratch.features[number] = feature
            scratch.factors[number] = factor(count, weights.logarithms)
            number += 1
        else:
            scratch.shared[shared] = -1 - feature
            shared += of_feature[-1 - feature] == 0
            of_feature[-1 - feature] += count
    for i in range(shared):
        feature = scratch.shared[i]
        scratch.features[number] = feature
        scratch.factors[number] = factor(of_feature[feature], weights.logarithms)
        of_feature[feature] = 0
        number += 1
    return number


@kernel
def add_rows(table, rows, factors, first, last, sums):
    """Add factors[first:last] @ table[rows[first:last]] to sums, float32.

    Four rows at a time overlap their loads, and read and write the sums once.
    """
    while first + 4 <= last:
        a, b = table[rows[first]], table[rows[first + 1]]
        c, d = table[rows[first + 2]], table[rows[first + 3]]
        by_a, by_b = factors[first], factors[first + 1]
        by_c, by_d = factors[first + 2], factors[first + 3]
        for k in range(sums.size):
            sums[k] += (by_a * np.float32(a[k]) + by_b * np.float32(b[k])) + (
                by_c * np.float32(c[k]) + by_d * np.float32(d[k])
            )
        first += 4
    while first < last:
        a, by_a = table[rows[first]], factors[first]
        for k in range(sums.size):
            sums[k] += by_a * np.float32(a[k])
        first += 1


@kernel
def add_scores(table, scratch, n, sums):
    """Add log1p(count) * weights of all n features to sums, float64."""
    for first in range(0, n, ROWS_SUMMED):
        scratch.part[:] = 0
        last = min(first + ROWS_SUMMED, n)
        add_rows(table, scratch.features, scratch.factors, first, last, scratch.part)
        for k in range(sums.size):
            sums[k] += scratch.part[k]


@kernel
def best_label(sums, text_bytes, weights, shares):
    """Return the most probable language and its probability. Sums are scaled down by text length.

    shares: float64 (labels,), overwritten.
    """
    most = -np.inf
    for k in range(weights.prior.size):
        if weights.is_among[k]:
            most = max(most, sums[k])
    shares[:] = 0
    total = 0.0
    for k in range(weights.prior.size):
        below = (sums[k] - most) / np.sqrt(text_bytes)
        # Smaller values vanish in a float32, and are slow to compute.
        if weights.is_among[k] and below > LEAST_LOGARITHM:
            share = np.exp(below)
            shares[weights.label_of[k]] += share
            total += share
    best = np.argmax(shares)
    return best, shares[best] / total


@kernel
def identify_texts(data, offsets, automaton, weights, scratch, labels, scores):
    """Identify the language of every text and its probability; 0 for a text without features.

    labels: uint8 (documents,), scores: float32 (documents,), written.
    """
    columns = weights.of_feature.shape[1]
    sums = np.zeros(columns)
    shares = np.zeros(int(weights.label_of.max()) + 1)
    for d in range(labels.size):
        begin, end = offsets[d], offsets[d + 1]
        n = 0
        for start in range(begin, end, BLOCK):
            stop = min(start + BLOCK, end)
            walk(data, begin, start, stop, automaton, scratch.found)
            n = count_states(scratch.found, stop - start, scratch.state_counts, scratch.states, n)
        number = take_features(scratch.states, n, weights, scratch)
        labels[d] = 0
        scores[d] = 0
        if number:
            sums[:] = 0
            sums[: weights.prior.size] = weights.prior
            add_scores(weights.of_feature, scratch, number, sums)
            labels[d], scores[d] = best_label(sums, end - begin, weights, shares)
