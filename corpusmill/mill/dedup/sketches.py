"""What a table of sketches says by itself, for steps that make none."""

import numpy as np

NO_SHINGLE = np.uint32(0xFFFFFFFF)
"""Every value of the sketch of a document without a shingle."""


def have_shingles(signatures: np.ndarray) -> np.ndarray:
    """bool (documents,): whether each document has a shingle."""
    return (signatures != NO_SHINGLE).any(axis=1)
