"""The quality model: hashed word n-grams, a score from their mean weight, and the training.

Every operation is exact or rounded by IEEE 754, so that training gives the same bits on every
machine.
"""

import math

import numpy as np

from corpusmill.kernels.clean import clean_text
from corpusmill.kernels.jit import kernel

HASH_START = np.uint64(0xCBF29CE484222325)
HASH_PRIME = np.uint64(0x100000001B3)
NGRAM_FACTOR = np.uint64(0x9E3779B97F4A7C15)
SPACE = 0x20

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.693145751953125, 1.42860682030941723212e-6
"""The sum of both is ln 2. LN2_HIGH has few bits, so that k * LN2_HIGH is exact."""

FURTHEST = 40.0
"""Arguments of the logistic function are limited to this range. In float32, the function is 1 at
40 and about 4e-18 at -40."""


@kernel
def mixed(x):
    """Return splitmix64's finalizer of x."""
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return x ^ x >> np.uint64(31)


@kernel
def is_word_alone(point):
    """Return whether a character is a word by itself, as in scripts without spaces."""
    if point < 0x0E00:
        return False
    return (
        point < 0x0F00  # Thai, Lao
        or 0x1000 <= point < 0x10A0  # Myanmar
        or 0x1780 <= point < 0x1800  # Khmer
        or 0x2E80 <= point < 0xA000  # radicals, kana, ideographs
        or 0xF900 <= point < 0xFB00
        or 0x20000 <= point < 0x40000
    )


@kernel
def word_hashes(chars, n, hashes):
    """Hash every word of the cleaned text chars[:n]; return the number of words.

    chars: uint32. hashes: uint64 (n,), written: FNV-1a of the code points, then mixed.
    """
    count = 0
    value = HASH_START
    open_word = False
    for i in range(n):
        point = chars[i]
        alone = is_word_alone(point)
        if open_word and (alone or point == SPACE):
            hashes[count] = mixed(value)
            count += 1
            open_word = False
            value = HASH_START
        if point != SPACE:
            value = (value ^ np.uint64(point)) * HASH_PRIME
            open_word = True
        if alone:
            hashes[count] = mixed(value)
            count += 1
            open_word = False
            value = HASH_START
    if open_word:
        hashes[count] = mixed(value)
        count += 1
    return count


@kernel
def ngrams_of(hashes, words, most_words, bits, features):
    """Compute the features of all n-grams of 1 to most_words words; return their number.

    hashes: uint64, of the words. features: uint32 (words * most_words,), written: numbers below
    2**bits, ordered by first word.
    """
    count = 0
    shift = np.uint64(64 - bits)
    for first in range(words):
        value = hashes[first]
        features[count] = np.uint32(value >> shift)
        count += 1
        for other in range(first + 1, min(first + most_words, words)):
            value = mixed(value * NGRAM_FACTOR + hashes[other])
            features[count] = np.uint32(value >> shift)
            count += 1
    return count


@kernel
def features_of(data, start, stop, table, most_words, bits, chars, hashes, features):
    """Compute the features of the text data[start:stop]; return their number.

    table: see unicode_tables. chars: uint32, hashes: uint64, both (bytes + 2,); features: uint32
    ((bytes + 2) * most_words,).
    """
    n = clean_text(data, start, stop, table, chars)
    words = word_hashes(chars, n, hashes)
    return ngrams_of(hashes, words, most_words, bits, features)


@kernel
def all_features(data, offsets, table, most_words, bits, chars, hashes, features, counts):
    """Compute the features of every text, one text after the other.

    features: uint32, room for all and for one more text. counts: int64 (documents,), written.
    """
    at = 0
    for d in range(counts.size):
        counts[d] = features_of(
            data, offsets[d], offsets[d + 1], table, most_words, bits, chars, hashes, features[at:]
        )
        at += counts[d]


@kernel
def logistic(x):
    """Return 1 / (1 + exp(-x)) by products and sums alone: libraries differ in the last bit of
    exp."""
    x = min(max(-x, -FURTHEST), FURTHEST)
    k = math.floor(x * LOG2_E + 0.5)
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    power = 1.0
    for n in range(14, 0, -1):
        power = 1.0 + power * r / n
    return 1.0 / (1.0 + math.ldexp(power, int(k)))


@kernel
def score_of(features, weights, bias):
    """Return the score of a text with these features; 0 without any."""
    if features.size == 0:
        return 0.0
    total = 0.0
    for k in range(features.size):
        total += weights[features[k]]
    return logistic(bias + total / features.size)


@kernel
def score_texts(data, offsets, table, most_words, bits, weights, bias, chars, hashes, features,
                scores):  # fmt: skip
    """Score every text. scores: float32 (documents,), written. weights: float32 (2**bits,)."""
    for d in range(scores.size):
        count = features_of(
            data, offsets[d], offsets[d + 1], table, most_words, bits, chars, hashes, features
        )
        scores[d] = np.float32(score_of(features[:count], weights, bias))


@kernel
def score_examples(features, starts, stops, weights, bias, scores):
    """Score texts whose features are already computed."""
    for d in range(scores.size):
        scores[d] = np.float32(score_of(features[starts[d] : stops[d]], weights, bias))


@kernel
def learn(features, starts, stops, good, share_of, rate, weights, squares, bias):
    """Visit all examples once, in order, and update the weights after each.

    The error g of an example, weighted by its class, changes the weight of each of its n-grams by g
    * rate / sqrt(1 + the sum of squared errors that changed it), and the bias likewise. features:
    uint32. starts, stops: int64 (examples,). good: bool. share_of: float64 (2,), of bad and good.
    weights, squares: float64 (2**bits,). bias: float64 (2,), the bias and its squares.
    """
    for e in range(starts.size):
        total = 0.0
        for k in range(starts[e], stops[e]):
            total += weights[features[k]]
        found = logistic(bias[0] + total / (stops[e] - starts[e]))
        error = (found - good[e]) * share_of[1 if good[e] else 0]
        square = error * error
        step = error * rate
        for k in range(starts[e], stops[e]):
            feature = features[k]
            squares[feature] += square
            weights[feature] -= step / math.sqrt(1.0 + squares[feature])
        bias[1] += square
        bias[0] -= step / math.sqrt(1.0 + bias[1])
