"""SHA-256 digests of texts, as arrays."""

import hashlib
import itertools

import numpy as np

from corpusmill.text.columns import TextColumn

WORDS = 4


def digest_words(digests: np.ndarray, word: int = 0) -> np.ndarray:
    """uint64: one of the four words of each digest, as a number that sorts as its bytes do.

    digests: uint8 (documents, 32).
    """
    return (
        np.ascontiguousarray(digests[:, 8 * word : 8 * word + 8]).view(">u8").ravel().astype("<u8")
    )


def digests_of(texts: TextColumn) -> np.ndarray:
    """uint8 (documents, 32): the SHA-256 of each text's UTF-8 bytes."""
    data = memoryview(texts.data.data)
    bounds = texts.offsets.tolist()
    found = b"".join(
        hashlib.sha256(data[start:stop]).digest() for start, stop in itertools.pairwise(bounds)
    )
    return np.frombuffer(found, np.uint8).reshape(-1, 32)
