"""MinHash sketches: the smallest image of a document's shingle hashes under each permutation."""

import numpy as np

from corpusmill.kernels.clean import clean_text, longest_of
from corpusmill.kernels.jit import kernel
from corpusmill.kernels.shingles import rolling_hashes, sha1_hashes

MERSENNE_PRIME = np.uint64((1 << 61) - 1)
MAX_HASH = np.uint64((1 << 32) - 1)
TILE = 4096  # shingle hashes that stay in the first-level cache for all permutations


@kernel
def fmix32(hashes, n):
    """Apply MurmurHash3's finalizer in place, as datasketch's `affine32` does to its input."""
    for i in range(n):
        h = hashes[i]
        h ^= h >> np.uint32(16)
        h = np.uint32(h * np.uint32(0x85EBCA6B))
        h ^= h >> np.uint32(13)
        h = np.uint32(h * np.uint32(0xC2B2AE35))
        hashes[i] = h ^ h >> np.uint32(16)


@kernel
def lower_affine32(hashes, n, a, b, signature):
    """Lower signature[j] to the minimum of (a[j] * h + b[j]) modulo 2**32 over h in hashes[:n].

    All arrays are uint32; a and b hold one value per permutation; hashes are already mixed.
    """
    for start in range(0, n, TILE):
        # A slice that starts at zero: LLVM vectorizes this reduction into 16 lanes, but not the
        # same loop over range(start, stop) (measured: 590 and 97 million shingles per second).
        tile = hashes[start : min(start + TILE, n)]
        # Two permutations per pass, as loads of hashes take a quarter of the time. If their number
        # is odd, the last pass has one of them twice.
        for j in range(0, signature.size, 2):
            k = min(j + 1, signature.size - 1)
            factor, shift, least = a[j], b[j], signature[j]
            factor_k, shift_k, least_k = a[k], b[k], signature[k]
            for i in range(tile.size):
                least = min(least, np.uint32(np.uint32(factor * tile[i]) + shift))
                least_k = min(least_k, np.uint32(np.uint32(factor_k * tile[i]) + shift_k))
            signature[j], signature[k] = least, least_k


@kernel
def lower_legacy(hashes, n, a, b, signature):
    """Lower signature[j] to the smallest image of hashes[:n], as datasketch before 2.0 does.

    hashes, signature: uint32. a, b: uint64, one value per permutation.
    """
    for j in range(signature.size):
        least = np.uint64(signature[j])
        for i in range(n):
            # The product wraps modulo 2**64 before the prime is taken, as in the reference. A
            # 128-bit product would be a better hash, but an incompatible signature.
            image = a[j] * np.uint64(hashes[i]) + b[j]
            image = (image & MERSENNE_PRIME) + (image >> np.uint64(61))
            image = image - MERSENNE_PRIME if image >= MERSENNE_PRIME else image
            least = min(least, image & MAX_HASH)
        signature[j] = np.uint32(least)


@kernel
def sketch_affine32(data, offsets, table, width, a, b, signatures):
    """Write the affine32 sketch of each document's rolling shingle hashes to its row of
    `signatures`.

    data: uint8; offsets: int64 (documents + 1,); signatures: uint32 (documents, permutations), all
    2**32 - 1 on entry. Rows of documents without a shingle stay so.
    """
    longest = longest_of(offsets)
    chars = np.empty(longest + 4, np.uint32)
    hashes = np.empty(longest + 4, np.uint32)
    for d in range(offsets.size - 1):
        n = clean_text(data, offsets[d], offsets[d + 1], table, chars)
        count = rolling_hashes(chars, n, width, hashes)
        fmix32(hashes, count)
        lower_affine32(hashes, count, a, b, signatures[d])


@kernel
def sketch_legacy(data, offsets, table, width, a, b, signatures):
    """Write sketches like `sketch_affine32`, with SHA-1 shingle hashes and datasketch 1's
    permutations."""
    longest = longest_of(offsets)
    chars = np.empty(longest + 4, np.uint32)
    hashes = np.empty(longest + 4, np.uint32)
    message = np.empty(4 * width + 72, np.uint8)
    w = np.empty(80, np.uint32)
    for d in range(offsets.size - 1):
        n = clean_text(data, offsets[d], offsets[d + 1], table, chars)
        count = sha1_hashes(chars, n, width, message, w, hashes)
        lower_legacy(hashes, count, a, b, signatures[d])
