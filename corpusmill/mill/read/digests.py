"""SHA-256 digests of texts, as arrays."""

import hashlib
import itertools

import numpy as np

from corpusmill.mill.read.text_column import TextColumn

WORDS = 4

WHOLE = np.dtype([("row", "<u4"), ("digest", "u1", 32), ("text_bytes", "<u8")])
"""A document that lost a span: SHA-256 and size of its text before the cut."""


def digest_words(digests: np.ndarray, word: int = 0) -> np.ndarray:
    """Return uint64: one of each digest's four words, as a number that sorts like its bytes.

    digests: uint8 (documents, 32).
    """
    return (
        np.ascontiguousarray(digests[:, 8 * word : 8 * word + 8]).view(">u8").ravel().astype("<u8")
    )


def digests_of(texts: TextColumn) -> np.ndarray:
    """Return uint8 (documents, 32): the SHA-256 of each text's UTF-8 bytes."""
    data = memoryview(texts.data.data)
    bounds = texts.offsets.tolist()
    found = b"".join(
        hashlib.sha256(data[start:stop]).digest() for start, stop in itertools.pairwise(bounds)
    )
    return np.frombuffer(found, np.uint8).reshape(-1, 32)
