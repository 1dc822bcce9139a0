"""MinHash sketches by datasketch, bands of them, and what so many equal values say."""

import math
from fractions import Fraction
from functools import cache
from itertools import accumulate

import datasketch
import numpy as np

from qa.oracle.texts import shingles

NO_SHINGLE = 2**32 - 1
BASE = 0x9E3779B97F4A7C15
FOLD = 0xD6E8FEB86659FD93
WRAP = 2**64


def shingle_hash(shingle: str) -> int:
    polynomial = 0
    for character in shingle:
        polynomial = (polynomial * BASE + ord(character)) % WRAP
    return (polynomial ^ polynomial >> 32) * FOLD % WRAP >> 32


def shingle_hashes(cleaned: str, width: int) -> set[int]:
    """`shingle_hash` of all shingles, computed at once; uint64 wraps as it should."""
    if len(cleaned) < width:
        return {shingle_hash(cleaned)} if cleaned else set()
    characters = np.frombuffer(cleaned.encode("utf-32-le"), "<u4").astype(np.uint64)
    count = len(cleaned) - width + 1
    polynomials = np.zeros(count, np.uint64)
    for place in range(width):
        polynomials = polynomials * np.uint64(BASE) + characters[place : place + count]
    folded = (polynomials ^ polynomials >> np.uint64(32)) * np.uint64(FOLD)
    return set((folded >> np.uint64(32)).tolist())


def identity(value: int) -> int:
    return value


def sketch(cleaned: str, settings: dict) -> tuple[int, ...]:
    """`permutations` values; nothing but 2**32 - 1 if the scheme finds no shingle in the text."""
    scheme, width = settings["scheme"], settings["shingle_chars"]
    hashing = {"hashfunc": identity} if scheme == "affine32" else {}
    minhash = datasketch.MinHash(
        num_perm=settings["permutations"], seed=settings["seed"], scheme=scheme, **hashing
    )
    if scheme == "affine32":
        minhash.update_batch(sorted(shingle_hashes(cleaned, width)))
    elif len(cleaned) >= width:
        minhash.update_batch([shingle.encode() for shingle in sorted(shingles(cleaned, width))])
    return tuple(np.asarray(minhash.hashvalues).tolist())


def has_shingle(values: tuple[int, ...]) -> bool:
    return any(value != NO_SHINGLE for value in values)


def bands_of(values: tuple[int, ...], bands: int, rows: int) -> list[tuple[int, ...]]:
    return [values[band * rows : (band + 1) * rows] for band in range(bands)]


def bands_and_rows(config: dict) -> tuple[int, int]:
    dedup, permutations = config["dedup"], config["minhash"]["permutations"]
    if dedup["bands"] != "auto":
        return dedup["bands"], dedup["rows"]
    threshold = dedup["threshold"]
    if dedup["method"] == "sketch":
        index = datasketch.MinHashLSH(threshold=threshold, num_perm=permutations)
        return index.b, index.r
    for rows in range(permutations, 1, -1):
        if 1 - (1 - threshold**rows) ** (permutations // rows) >= 0.995:
            return permutations // rows, rows
    return permutations, 1


@cache
def least_and_enough(permutations: int, threshold: float) -> tuple[int, int]:
    """Equal values from which on a pair is looked at, and from which on it is similar."""
    share = Fraction(str(threshold))
    p, q = share.numerator, share.denominator
    # The chance of k equal values is ways[k] / whole.
    ways = [
        math.comb(permutations, k) * p**k * (q - p) ** (permutations - k)
        for k in range(permutations + 1)
    ]
    whole = q**permutations
    least = next(k for k, sum_ in enumerate(accumulate(ways)) if sum_ * 10**4 > whole)
    from_above = enumerate(accumulate(reversed(ways)))
    largest = permutations - next(k for k, sum_ in from_above if sum_ * 10**9 > whole)
    return least, largest + 1
