"""SHA-256 digests of texts, as arrays."""

import numpy as np

WORDS = 4


def digest_words(digests: np.ndarray, word: int = 0) -> np.ndarray:
    """uint64: one of the four words of each digest, as a number that sorts as its bytes do.

    digests: uint8 (documents, 32).
    """
    return (
        np.ascontiguousarray(digests[:, 8 * word : 8 * word + 8]).view(">u8").ravel().astype("<u8")
    )
