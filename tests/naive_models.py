"""fastText and the quality model once more, slowly; and model files of fastText made by hand."""

import hashlib
import math
import re
import struct
from dataclasses import dataclass, field, replace

import numpy as np
from naive import MASK_64, clean, keyed_hash, mixed, unit_hash

LOSSES = {"hs": 1, "ns": 2, "softmax": 3, "ova": 4}


@dataclass
class Quantized:
    """codes: (rows, pieces); centroids: one (256, columns of the piece) for each piece."""

    codes: np.ndarray
    centroids: list[np.ndarray]
    norms: np.ndarray | None = None

    def dense(self) -> np.ndarray:
        pieces = [of[self.codes[:, p]] for p, of in enumerate(self.centroids)]
        rows = np.concatenate(pieces, axis=1)
        return rows if self.norms is None else rows * self.norms[:, None]


@dataclass
class Model:
    words: list[bytes]
    labels: list[bytes]
    counts: list[int]
    input: np.ndarray | Quantized
    output: np.ndarray | Quantized
    loss: str = "softmax"
    buckets: int = 0
    least: int = 0
    most: int = 0
    most_words: int = 1
    kept: dict[int, int] | None = None
    version: int = 12
    kind: int = 3
    columns: int = field(init=False)

    def __post_init__(self) -> None:
        self.columns = dense(self.input).shape[1]

    def like(self, **changed) -> "Model":
        return replace(self, **changed)


def dense(matrix: np.ndarray | Quantized) -> np.ndarray:
    return matrix.dense() if isinstance(matrix, Quantized) else matrix


def matrix_bytes(matrix: np.ndarray | Quantized) -> bytes:
    if not isinstance(matrix, Quantized):
        return struct.pack("<2q", *matrix.shape) + matrix.astype("<f4").tobytes()
    columns, rows = dense(matrix).shape[1], len(matrix.codes)
    pieces = len(matrix.centroids)
    first, last = matrix.centroids[0].shape[1], matrix.centroids[-1].shape[1]
    data = struct.pack("<b2qi", matrix.norms is not None, rows, columns, matrix.codes.size)
    data += matrix.codes.tobytes() + struct.pack("<4i", columns, pieces, first, last)
    data += b"".join(of.astype("<f4").tobytes() for of in matrix.centroids)
    if matrix.norms is not None:
        different = np.unique(matrix.norms)
        table = np.zeros(256, "<f4")
        table[: different.size] = different
        data += np.searchsorted(different, matrix.norms).astype(np.uint8).tobytes()
        data += struct.pack("<4i", 1, 1, 1, 1) + table.tobytes()
    return data


def model_bytes(model: Model) -> bytes:
    """As fastText saves it."""
    data = struct.pack(
        "<14id", 793712314, model.version, model.columns, 5, 5, 1, 5, model.most_words,
        LOSSES[model.loss], model.kind, model.buckets, model.least, model.most, 100, 1e-4,
    )  # fmt: skip
    entries = model.words + model.labels
    pruned = -1 if model.kept is None else len(model.kept)
    data += struct.pack("<3i2q", len(entries), len(model.words), len(model.labels), 99, pruned)
    for number, entry in enumerate(entries):
        is_label = number >= len(model.words)
        count = model.counts[number - len(model.words)] if is_label else 7
        data += entry + b"\0" + struct.pack("<qb", count, is_label)
    for pair in (model.kept or {}).items():
        data += struct.pack("<2i", *pair)
    for matrix in (model.input, model.output):
        data += struct.pack("<b", isinstance(matrix, Quantized)) + matrix_bytes(matrix)
    return data


def signed(value: int) -> int:
    return value - (1 << 32) if value >= 1 << 31 else value


def fnv(data: bytes) -> int:
    value = 2166136261
    for byte in data:
        byte = byte - 256 if byte >= 128 else byte
        value = ((value ^ byte & 0xFFFFFFFF) * 16777619) & 0xFFFFFFFF
    return value


def tokens_of(text: str) -> list[bytes]:
    """The words of a line and its end; a word that reads </s> is one, too."""
    words = [word for word in re.split(rb"[ \n\r\t\v\f\0]+", text.encode()) if word]
    found = [*words, b"</s>"]
    return found[: found.index(b"</s>") + 1]


def character_ngrams(word: bytes, least: int, most: int) -> list[bytes]:
    text = "<" + word.decode() + ">"
    return [
        text[start : start + chars].encode()
        for start in range(len(text))
        for chars in range(1, most + 1)
        if start + chars <= len(text)
        and chars >= least
        and not (chars == 1 and (start == 0 or start + 1 == len(text)))
    ]


def rows_of(model: Model, text: str) -> list[int]:
    entries = {entry: number for number, entry in enumerate(model.words + model.labels)}
    rows, hashes = [], []

    def bucket(number: int) -> None:
        if model.kept is None:
            rows.append(len(model.words) + number)
        elif number in model.kept:
            rows.append(len(model.words) + model.kept[number])

    for token in tokens_of(text):
        entry = entries.get(token)
        if entry is None and token.startswith(b"__label__"):
            continue
        if entry is not None and entry >= len(model.words):
            continue
        hashes.append(signed(fnv(token)))
        rows += [] if entry is None else [entry]
        if token != b"</s>":
            for ngram in character_ngrams(token, model.least, model.most):
                bucket(fnv(ngram) % model.buckets)
    for start in range(len(hashes)):
        value = hashes[start] % (1 << 64)
        for other in hashes[start + 1 : start + model.most_words]:
            value = (value * 116049371 + other) % (1 << 64)
            bucket(value % model.buckets)
    return rows


def tree_of(counts: list[int]) -> dict[int, tuple[int, int]]:
    """Node -> its two children."""
    labels = len(counts)
    weights = dict(enumerate(counts))
    open_nodes, tree = set(range(labels)), {}
    for node in range(labels, 2 * labels - 1):
        pair = []
        for _ in range(2):
            # The rarest; of equal ones a joint before a label, and of labels the last.
            taken = min(
                open_nodes, key=lambda n: (weights[n], n < labels, n if n >= labels else -n)
            )
            open_nodes.remove(taken)
            pair.append(taken)
        tree[node] = (pair[0], pair[1])
        weights[node] = weights[pair[0]] + weights[pair[1]]
        open_nodes.add(node)
    return tree


def leaf_shares(model: Model, hidden: np.ndarray) -> list[float]:
    labels = len(model.labels)
    tree, output = tree_of(model.counts), dense(model.output)
    shares = [0.0] * labels

    def descend(node: int, log_share: float) -> None:
        if node < labels:
            shares[node] = math.exp(log_share)
            return
        right = 1 / (1 + math.exp(-float(output[node - labels] @ hidden)))
        descend(tree[node][0], log_share + math.log(1 - right + 1e-5))
        descend(tree[node][1], log_share + math.log(right + 1e-5))

    descend(2 * labels - 2, 0.0)
    return shares


def sigmoid(x: float) -> float:
    """In steps of 1 / 32, downwards."""
    if abs(x) > 8:
        return float(x > 0)
    return 1 / (1 + math.exp(-math.floor(x * 32) / 32))


def fasttext_shares(model: Model, text: str) -> list[float] | None:
    """What fastText tells as probability of each label; None if it knows no row of the text."""
    rows = rows_of(model, text)
    if not rows:
        return None
    hidden = dense(model.input).astype(np.float64)[rows].mean(axis=0)
    if model.loss == "hs":
        return leaf_shares(model, hidden)
    products = dense(model.output).astype(np.float64) @ hidden
    if model.loss == "softmax":
        exponentials = np.exp(products - products.max())
        return (exponentials / exponentials.sum() + 1e-5).tolist()
    return [sigmoid(float(product)) + 1e-5 for product in products]


ALONE = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"


def quality_words(text: str) -> list[str]:
    """Of the cleaned text; characters of scripts without spaces are words."""
    return re.sub(f"({ALONE})", r" \1 ", clean(text)).split(" ")


def quality_features(text: str, most_words: int, bits: int) -> list[int]:
    hashes = []
    for word in filter(None, quality_words(text)):
        value = 0xCBF29CE484222325
        for character in word:
            value = (value ^ ord(character)) * 0x100000001B3 & MASK_64
        hashes.append(mixed(value))
    features = []
    for first in range(len(hashes)):
        value = hashes[first]
        features.append(value >> 64 - bits)
        for other in hashes[first + 1 : first + most_words]:
            value = mixed(value * 0x9E3779B97F4A7C15 + other & MASK_64)
            features.append(value >> 64 - bits)
    return features


def logistic(x: float) -> float:
    """The house's own, operation by operation."""
    x = min(max(-x, -40.0), 40.0)
    k = math.floor(x * 1.4426950408889634 + 0.5)
    r = (x - k * 0.693145751953125) - k * 1.42860682030941723212e-6
    power = 1.0
    for n in range(14, 0, -1):
        power = 1.0 + power * r / n
    return 1.0 / (1.0 + math.ldexp(power, k))


def quality_score(features: list[int], weights: np.ndarray, bias: float) -> float:
    if not features:
        return 0.0
    total = 0.0
    for feature in features:
        total += float(weights[feature])
    return logistic(bias + total / len(features))


def quality_training(
    good: list[str], bad: list[str], most_words: int, bits: int, held_out: float, epochs: int,
    rate: float, seed: int,
) -> tuple[np.ndarray, float, dict[str, bool]]:  # fmt: skip
    """The weights, the bias, and the texts that were held out: whether each is good."""
    is_good = dict.fromkeys(good, True) | dict.fromkeys(bad, False)
    for text in set(good) & set(bad):
        del is_good[text]
    features = {text: quality_features(text, most_words, bits) for text in is_good}
    sha = {text: hashlib.sha256(text.encode()).digest() for text in is_good if features[text]}
    key = {text: int.from_bytes(sha[text][:8], "big") for text in sha}
    apart = {text: is_good[text] for text in key
             if unit_hash(key[text], seed, "train-filter/held out") < held_out}  # fmt: skip
    seen = sorted(set(key) - set(apart), key=sha.get)
    count = sum(is_good[text] for text in seen)
    share = {True: len(seen) / (2 * count), False: len(seen) / (2 * (len(seen) - count))}
    weights, squares = np.zeros((2, 1 << bits))
    bias, bias_squares = 0.0, 0.0
    for epoch in range(epochs):
        for text in sorted(
            seen, key=lambda one: keyed_hash(key[one], seed, f"train-filter/epoch {epoch}")
        ):
            error = quality_score(features[text], weights, bias) - is_good[text]
            error *= share[is_good[text]]
            for feature in features[text]:
                squares[feature] += error * error
                weights[feature] -= error * rate / math.sqrt(1.0 + squares[feature])
            bias_squares += error * error
            bias -= error * rate / math.sqrt(1.0 + bias_squares)
    return weights.astype(np.float32), bias, apart
