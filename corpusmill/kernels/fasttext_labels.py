"""Predict labels from the mean of a document's rows, for each of fastText's losses.

Scores are log(p + 0.00001), rounded as in fastText. The reported probability is their exponential,
at most 1.00001.
"""

import math
from typing import NamedTuple

import numpy as np

from corpusmill.kernels.fasttext_rows import CODES, average_rows
from corpusmill.kernels.jit import kernel

TREE, SIGMOID, SOFTMAX = 1, 2, 3
"""Loss of the model: hierarchical softmax; negative sampling or one-vs-all, which predict the same;
softmax."""

SIGMOIDS = 512
SIGMOID_LIMIT = 8

NOBODY = np.float32(-np.inf)


class Labels(NamedTuple):
    """A model's labels and the label to predict."""

    loss: int
    left: np.ndarray
    right: np.ndarray
    """int32 (2 * labels - 1,), of the tree: the labels first, then inner nodes; -1 for labels."""
    sigmoids: np.ndarray
    """float32 (SIGMOIDS + 1,): sigmoids of numbers from -SIGMOID_LIMIT to SIGMOID_LIMIT."""
    path: np.ndarray
    """int32: inner nodes from the root to the wanted label, in a tree."""
    turns: np.ndarray
    """bool: whether the path turns right at each node."""
    wanted: int
    """The label whose probability is wanted; -1: none."""


@kernel
def dot_row(matrix, row, vector):
    """Return the product of a row and a vector, summed from left to right."""
    product = np.float32(0.0)
    if matrix.codes.shape[0] == 0:
        for j in range(vector.size):
            product += matrix.dense[row, j] * vector[j]
        return product
    last = matrix.codes.shape[1] - 1
    for piece in range(last + 1):
        begin = piece * matrix.piece
        width = matrix.piece if piece < last else vector.size - begin
        at = begin * CODES + np.int64(matrix.codes[row, piece]) * width
        for j in range(width):
            product += vector[begin + j] * matrix.centroids[at + j]
    if matrix.norm_codes.size > 0:
        product *= matrix.norms[matrix.norm_codes[row]]
    return product


@kernel
def log_of(share):
    return np.float32(math.log(np.float64(share) + 1e-5))


@kernel
def goes_right(matrix, node, vector):
    """Return the probability that a node of the tree sends a document to the right."""
    product = dot_row(matrix, node, vector)
    exponential = np.float32(math.exp(-np.float64(product)))
    return np.float32(1.0 / np.float64(np.float32(1.0) + exponential))


@kernel
def keep_best(label, score, best, scores):
    """Enter a label if it is among the best, which are in falling order."""
    at = best.size
    while at > 0 and score >= scores[at - 1]:
        at -= 1
    if at == best.size:
        return
    for k in range(best.size - 1, at, -1):
        best[k] = best[k - 1]
        scores[k] = scores[k - 1]
    best[at] = label
    scores[at] = score


@kernel
def best_of_tree(labels, output, vector, nodes, node_scores, best, scores):
    """Find the best leaves. Branches below a share of 0.00001 are skipped.

    nodes, node_scores: int32 and float32 (labels + 1,), scratch.
    """
    count = (labels.left.size + 1) // 2
    least = log_of(np.float32(0.0))
    nodes[0] = labels.left.size - 1
    node_scores[0] = np.float32(0.0)
    held = 1
    while held > 0:
        held -= 1
        node, score = nodes[held], node_scores[held]
        if score < least or score < scores[best.size - 1]:
            continue
        if labels.left[node] < 0:
            keep_best(node, score, best, scores)
            continue
        share = goes_right(output, node - count, vector)
        nodes[held] = labels.right[node]
        node_scores[held] = score + log_of(share)
        nodes[held + 1] = labels.left[node]
        node_scores[held + 1] = score + log_of(np.float32(1.0 - np.float64(share)))
        held += 2


@kernel
def score_of_path(labels, output, vector):
    """Return log(p) of the wanted label in a tree."""
    score = np.float32(0.0)
    for k in range(labels.path.size):
        share = goes_right(output, labels.path[k], vector)
        if not labels.turns[k]:
            share = np.float32(1.0 - np.float64(share))
        score += log_of(share)
    return score


@kernel
def shares_of(labels, output, vector, shares):
    """Compute the probability of every label. shares: float32 (labels,), written."""
    for label in range(shares.size):
        shares[label] = dot_row(output, label, vector)
    if labels.loss == SIGMOID:
        for label in range(shares.size):
            x = shares[label]
            if x < -SIGMOID_LIMIT:
                shares[label] = np.float32(0.0)
            elif x > SIGMOID_LIMIT:
                shares[label] = np.float32(1.0)
            else:
                place = (x + np.float32(SIGMOID_LIMIT)) * np.float32(SIGMOIDS)
                shares[label] = labels.sigmoids[
                    np.int64(place / np.float32(SIGMOID_LIMIT) / np.float32(2))
                ]
        return
    most = shares[0]
    for label in range(shares.size):
        most = max(most, shares[label])
    total = np.float32(0.0)
    for label in range(shares.size):
        shares[label] = np.float32(math.exp(np.float64(shares[label] - most)))
        total += shares[label]
    for label in range(shares.size):
        shares[label] /= total


@kernel
def predict(data, offsets, words, input, output, labels, scratch, best, probabilities, wanted):
    """Predict the best labels of every document, and the probability of the wanted one.

    offsets: int64 (documents + 1,). scratch: that of average_rows, then vector, float32 (columns,);
    shares, float32 (labels,); nodes, node_scores: of best_of_tree. Written: best, int32 (documents,
    k), -1 if there are fewer labels; probabilities, float32 of that shape; wanted, float32
    (documents,), or empty. A document without known features gets no label, and probability 0.
    """
    rows, word, hashes, vector, shares, nodes, node_scores = scratch
    for d in range(best.shape[0]):
        best[d] = -1
        scores = probabilities[d]
        scores[:] = NOBODY
        score = NOBODY
        found = average_rows(
            data, offsets[d], offsets[d + 1], words, input, (rows, word, hashes), vector
        )
        if found > 0 and labels.loss == TREE:
            best_of_tree(labels, output, vector, nodes, node_scores, best[d], scores)
            if labels.wanted >= 0:
                score = score_of_path(labels, output, vector)
        elif found > 0:
            shares_of(labels, output, vector, shares)
            for label in range(shares.size):
                keep_best(label, log_of(shares[label]), best[d], scores)
            if labels.wanted >= 0:
                score = log_of(shares[labels.wanted])
        for k in range(scores.size):
            scores[k] = np.float32(math.exp(np.float64(scores[k])))
        if wanted.size > 0:
            wanted[d] = np.float32(math.exp(np.float64(score)))
