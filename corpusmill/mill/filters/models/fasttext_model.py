"""Predict labels with a fastText model. Labels and probabilities equal fastText's."""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from corpusmill.kernels import fasttext_labels as kernels
from corpusmill.kernels.fasttext_labels import Labels
from corpusmill.kernels.fasttext_rows import (
    BLOCK,
    CODES,
    END_OF_LINE,
    Matrix,
    Words,
    fill_slots,
)
from corpusmill.mill.filters.models.fasttext_file import (
    Dense,
    FastTextFile,
    Quantized,
    read_fasttext,
)
from corpusmill.mill.read.text_column import TextColumn

COPIED_BYTES = 256 << 20
"""Matrices up to this size are copied to large pages, with rows at cache lines. Reading them is
then 1.5 times as fast. Larger ones stay in the file, which jobs share."""
CACHE_LINE = 64

KERNEL_LOSSES = {1: kernels.TREE, 2: kernels.SIGMOID, 3: kernels.SOFTMAX, 4: kernels.SIGMOID}


class Predictions(NamedTuple):
    """Predictions for some documents."""

    best: np.ndarray
    """int32 (documents, k): numbers of the best labels, -1 if there are fewer."""
    probabilities: np.ndarray
    """float32 of the same shape: probabilities of these labels; 0 without a label."""
    wanted: np.ndarray
    """float32 (documents,): probability of the wanted label; empty if there is none."""


class FastTextModel:
    """A model in memory. Large dense matrices stay in the memory-mapped file."""

    def __init__(self, path: Path) -> None:
        file = read_fasttext(path)
        self.path = Path(path)
        self.labels = file.labels()
        self._words = _words(file)
        self._input, self._output = _matrix(file, file.input), _matrix(file, file.output)
        self._columns = file.settings.columns
        self._loss = KERNEL_LOSSES[file.settings.loss]
        joins = len(self.labels) if self._loss == kernels.TREE else 0
        self._left, self._right = huffman_tree(file.label_counts[:joins])

    def predict(self, texts: TextColumn, k: int = 1, wanted: int = -1) -> Predictions:
        """Return the k best labels of every document, and the probability of the label `wanted`.

        As in fastText, probabilities can be slightly above 1.
        """
        documents = texts.offsets.size - 1
        best = np.empty((documents, k), np.int32)
        probabilities = np.empty((documents, k), np.float32)
        of_wanted = np.empty(documents if wanted >= 0 else 0, np.float32)
        kernels.predict(
            texts.data, texts.offsets, self._words, self._input, self._output,
            self._asked(wanted), self._scratch(texts), best, probabilities, of_wanted,
        )  # fmt: skip
        if np.isnan(probabilities).any() or np.isnan(of_wanted).any():
            raise ValueError(
                f"{self.path}: expected finite numbers in the matrices, found NaN or infinity. "
                "Train the model again, with a lower learning rate."
            )
        return Predictions(best, probabilities, of_wanted)

    def _asked(self, wanted: int) -> Labels:
        path, turns = path_to(self._left, self._right, wanted)
        return Labels(self._loss, self._left, self._right, sigmoid_table(), path, turns, wanted)

    def _scratch(self, texts: TextColumn) -> tuple[np.ndarray, ...]:
        longest = int(texts.sizes().max(initial=0))
        # Leave room for one n-gram's rows behind a full block.
        rows = BLOCK + self._words.most_chars + max(self._words.most_words, 0)
        labels = len(self.labels)
        return (
            np.empty(rows, np.int64),
            np.empty(longest + 2, np.uint8),
            np.empty(longest // 2 + 2, np.int32),
            np.empty(self._columns, np.float32),
            np.empty(labels, np.float32),
            np.empty(labels + 1, np.int32),
            np.empty(labels + 1, np.float32),
        )


def _words(file: FastTextFile) -> Words:
    settings, entries = file.settings, file.starts.size
    first = int(file.starts[0])
    dictionary = file.data[first : int(file.stops[-1])]
    slots = np.zeros((1 << (2 * entries).bit_length(), 4), np.uint32)
    fill_slots(dictionary, file.starts - first, file.stops - first, slots)
    shift = settings.buckets.bit_length() + 31
    # For a power of two, the factor would not fit into 32 bits.
    factor = min((1 << shift) // max(settings.buckets, 1), 2**32 - 1)
    kept = np.full(settings.buckets if file.kept is not None else 0, -1, np.int32)
    if file.kept is not None:
        kept[file.kept[:, 0]] = file.kept[:, 1]
    return Words(
        data=dictionary, slots=slots, words=file.words,
        end_of_line=_end_of_line(file), least_chars=settings.least_chars,
        most_chars=settings.most_chars, most_words=settings.most_words,
        buckets=np.uint32(settings.buckets), bucket_factor=np.uint32(factor),
        bucket_shift=np.uint64(shift), is_pruned=file.kept is not None, kept=kept,
    )  # fmt: skip


def _end_of_line(file: FastTextFile) -> int:
    """Return the entry of `</s>`; -1 if there is none."""
    wanted = np.frombuffer(END_OF_LINE, np.uint8)
    sizes = file.stops - file.starts
    found = [
        entry
        for entry in np.flatnonzero(sizes == wanted.size).tolist()
        if np.array_equal(file.data[file.starts[entry] : file.stops[entry]], wanted)
    ]
    return found[-1] if found else -1


def _floats(file: FastTextFile, start: int, count: int) -> np.ndarray:
    """Return a view of the file. The numbers may be unaligned."""
    return np.frombuffer(file.data, "<f4", count, start)


def _at_cache_lines(numbers: np.ndarray) -> np.ndarray:
    """Return a copy aligned to a cache line. numpy uses large pages for large arrays."""
    copied = np.empty(numbers.nbytes + CACHE_LINE, np.uint8)
    start = -copied.ctypes.data % CACHE_LINE
    view = copied[start : start + numbers.nbytes].view(np.float32)
    view[:] = numbers
    return view


def _matrix(file: FastTextFile, found: Dense | Quantized) -> Matrix:
    nothing, no_codes = np.zeros(0, np.float32), np.zeros(0, np.uint8)
    if isinstance(found, Dense):
        dense = _floats(file, found.start, found.rows * found.columns)
        if dense.nbytes <= COPIED_BYTES:
            dense = _at_cache_lines(dense)
        return Matrix(
            dense.reshape(found.rows, found.columns), no_codes.reshape(0, 0), nothing, 0,
            no_codes, nothing,
        )  # fmt: skip
    quantizer = found.quantizer
    codes = file.data[found.start : found.start + found.rows * quantizer.pieces]
    has_norms = found.norms is not None
    return Matrix(
        dense=nothing.reshape(0, 0),
        codes=codes.reshape(found.rows, quantizer.pieces),
        centroids=_floats(file, quantizer.start, found.columns * CODES).copy(),
        piece=quantizer.piece,
        norm_codes=file.data[found.norm_start :][: found.rows] if has_norms else no_codes,
        norms=_floats(file, found.norms.start, CODES).copy() if found.norms else nothing,
    )


def huffman_tree(counts: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the left and right children of all nodes, int32 (2 * labels - 1,) each; -1 for labels.

    counts: of the labels, in falling order. The two rarest nodes are joined repeatedly. On a tie
    between a label and an inner node, the inner node comes first, as in fastText.
    """
    labels = len(counts)
    nodes = max(2 * labels - 1, 0)
    left, right = np.full(nodes, -1, np.int32), np.full(nodes, -1, np.int32)
    weight = [*counts, *[10**15] * (labels - 1)]
    leaf, joint = labels - 1, labels
    for node in range(labels, nodes):
        pair = []
        for _ in range(2):
            if leaf >= 0 and weight[leaf] < weight[joint]:
                pair.append(leaf)
                leaf -= 1
            else:
                pair.append(joint)
                joint += 1
        left[node], right[node] = pair
        weight[node] = weight[pair[0]] + weight[pair[1]]
    return left, right


def path_to(left: np.ndarray, right: np.ndarray, wanted: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the inner nodes on the path from the root to a label, and whether it turns right
    there."""
    labels = (left.size + 1) // 2
    parent = {int(child): node for node in range(labels, left.size)
              for child in (left[node], right[node])}  # fmt: skip
    asked: list[int] = []
    turns: list[bool] = []
    node = wanted
    while node in parent:
        turns.append(bool(right[parent[node]] == node))
        node = parent[node]
        asked.append(node - labels)
    return np.array(asked[::-1], np.int32), np.array(turns[::-1], bool)


def sigmoid_table() -> np.ndarray:
    """Return fastText's sigmoid table; fastText rounds sigmoids down to its entries."""
    limit, count = kernels.SIGMOID_LIMIT, kernels.SIGMOIDS
    x = [2 * limit * i / count - limit for i in range(count + 1)]
    return np.array([1 / (1 + math.exp(-one)) for one in x], np.float32)
