"""Facts about a table of sketches, for steps that only read it."""

import numpy as np

NO_SHINGLE = np.uint32(0xFFFFFFFF)
"""Value of all sketch positions of a document without shingles."""


def have_shingles(signatures: np.ndarray) -> np.ndarray:
    """Return bool (documents,): whether each document has a shingle."""
    return (signatures != NO_SHINGLE).any(axis=1)
