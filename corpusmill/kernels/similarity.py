"""How alike the sketches of all pairs of documents are."""

import numpy as np

from corpusmill.kernels.jit import kernel

BLOCK = 256  # sketches that stay in the second-level cache while another block passes


@kernel
def equal_values(one, other):
    """In how many places two sketches are equal. uint32 (permutations,) each."""
    equal = np.uint32(0)
    for j in range(one.size):
        # Back to 32 bits each time: as wide as what is compared, it fills the same lanes.
        equal = np.uint32(equal + np.uint32(one[j] == other[j]))
    return equal


@kernel
def count_pairs(signatures, counts):
    """Add to counts[k] the pairs of rows of `signatures` with k equal values, all of them.

    signatures: uint32 (documents, permutations). counts: int64 (permutations + 1,).
    """
    documents = signatures.shape[0]
    for first in range(0, documents, BLOCK):
        for second in range(first, documents, BLOCK):
            for i in range(first, min(first + BLOCK, documents)):
                for j in range(max(second, i + 1), min(second + BLOCK, documents)):
                    counts[equal_values(signatures[i], signatures[j])] += 1
