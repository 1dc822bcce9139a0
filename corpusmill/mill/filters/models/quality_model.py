"""Quality models: file format and scores. Bytes: docs/reference/formats.md."""

import hashlib
import json
import math
import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

from corpusmill.kernels.quality import score_texts
from corpusmill.mill.read.text_column import TextColumn
from corpusmill.mill.read.unicode_tables import character_table
from corpusmill.mill.storage.files import replacing
from corpusmill.mill.storage.sha256 import DigestingFile
from corpusmill.mill.storage.untrusted import whole_file

MAGIC = b"cmqualit"
VERSION = 1
HEAD = struct.Struct("<8sII")
ALIGNED = 64
DIGEST_BYTES = 32
LEAST_BITS, MOST_BITS = 10, 26
MOST_WORDS = 5
MOST_MODEL_BYTES = (4 << MOST_BITS) + (1 << 20)


class Definition(NamedTuple):
    """The features of a text."""

    most_words: int
    """Words of the longest n-gram."""
    bits: int
    """Features are numbers below 2**bits."""


class QualityModel(NamedTuple):
    definition: Definition
    bias: float
    weights: np.ndarray
    """float32 (2**bits,)."""

    def score(self, texts: TextColumn) -> np.ndarray:
        """Return float32 (documents,): similarity to the good texts, 0 to 1; 0 for texts without
        words."""
        longest = int(texts.sizes().max(initial=0)) + 2
        scores = np.empty(texts.offsets.size - 1, np.float32)
        score_texts(
            texts.data, texts.offsets, character_table(), *self.definition, self.weights,
            self.bias, np.empty(longest, np.uint32), np.empty(longest, np.uint64),
            np.empty(longest * self.definition.most_words, np.uint32), scores,
        )  # fmt: skip
        return scores


def save_quality_model(path: Path, model: QualityModel) -> str:
    """Write the file and return its SHA-256."""
    head = json.dumps(model.definition._asdict() | {"bias": model.bias.hex()}).encode()
    head += b" " * (-(HEAD.size + len(head)) % ALIGNED)
    with replacing(path) as temporary, open(temporary, "wb") as file:
        digesting = DigestingFile(file)
        digesting.write(HEAD.pack(MAGIC, VERSION, len(head)) + head)
        digesting.write(np.ascontiguousarray(model.weights, "<f4").data)
        digesting.write(bytes.fromhex(digesting.sha256))
    return digesting.sha256


def load_quality_model(path: Path) -> QualityModel:
    """Read a model; ValueError if the file is truncated, damaged or not a quality model."""
    data = whole_file(path, MOST_MODEL_BYTES)
    if data[: len(MAGIC)] != MAGIC:
        raise ValueError(
            f"{path}: expected a quality model, found a file that begins with {data[:8]!r}. Train "
            "such a model with corpusmill train-filter."
        )
    if len(data) < HEAD.size:
        raise cut_off(path, HEAD.size, len(data))
    _, version, head_bytes = HEAD.unpack_from(data)
    if version != VERSION:
        raise ValueError(
            f"{path}: expected version {VERSION} of quality models, found {version}. Train the "
            "model again with this version of corpusmill."
        )
    start = HEAD.size + head_bytes
    if len(data) < start:
        raise cut_off(path, start, len(data))
    try:
        head = json.loads(data[HEAD.size : start])
        definition = Definition(head["most_words"], head["bits"])
        bias = float.fromhex(head["bias"])
        if (
            definition.bits not in range(LEAST_BITS, MOST_BITS + 1)
            or definition.most_words not in range(1, MOST_WORDS + 1)
            or not math.isfinite(bias)
        ):
            raise ValueError(head)
        size = start + (4 << definition.bits) + DIGEST_BYTES
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise damaged(path) from error
    if len(data) < size:
        raise cut_off(path, size, len(data))
    body = memoryview(data)[: size - DIGEST_BYTES]
    if hashlib.sha256(body).digest() != data[size - DIGEST_BYTES :]:
        raise damaged(path)
    return QualityModel(definition, bias, np.frombuffer(data, "<f4", 1 << definition.bits, start))


def cut_off(path: Path, expected: int, found: int) -> ValueError:
    return ValueError(
        f"{path}: cut off: expected {expected:,} bytes, found {found:,}. Copy the model again."
    )


def damaged(path: Path) -> ValueError:
    return ValueError(
        f"{path}: damaged: the file's bytes do not match the SHA-256 at its end. Copy the model "
        "again."
    )
