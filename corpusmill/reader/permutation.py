"""A shuffle of any size in little memory: a keyed bijection of [0, size) with random access."""

import hashlib
import math

import numpy as np

from corpusmill.mill.read.ids import mixed

ROUNDS = 8  # even, so that both halves change equally often

# Up to this size, numbers are sorted by a hash, which makes all orders equally likely. With small
# halves the network does not: for five numbers, some orders came twice as often as others.
SORTED = 1024
KEYS_PER_DIGEST = 4
HALF = np.uint64(32)


class Permutation:
    """A Feistel network on numbers left * columns + right, with left < rows and right < columns.

    In a grid of ceil(sqrt(size)) rows, less than one number in `columns` is too large. So few
    numbers need another pass ("cycle walking"); with a power of two, up to three in four would.
    key: a different one for each shuffle.
    """

    def __init__(self, size: int, key: str) -> None:
        assert 0 < size < 1 << 62, size
        self.size = size
        self._rows = math.isqrt(size - 1) + 1
        self._columns = -(-size // self._rows)
        digest = b"".join(
            hashlib.sha256(f"corpusmill/stream/{key}/{part}".encode()).digest()
            for part in range(ROUNDS // KEYS_PER_DIGEST)
        )
        self._keys = np.frombuffer(digest, "<u8").astype(np.uint64)
        self._sorted: np.ndarray | None = None
        if size <= SORTED:
            numbers = np.arange(size, dtype=np.uint64)
            self._sorted = np.argsort(mixed(mixed(numbers ^ self._keys[0]) + self._keys[1]))

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        """Return int64: the images of numbers below `size`. No two numbers have the same image."""
        if self._sorted is not None:
            return self._sorted[numbers]
        images = self._walk(numbers.astype(np.uint64))
        while (large := np.flatnonzero(images >= self.size)).size:
            images[large] = self._walk(images[large])
        return images.astype(np.int64)

    def _walk(self, numbers: np.ndarray) -> np.ndarray:
        left, right = np.divmod(numbers, np.uint64(self._columns))
        for round in range(0, ROUNDS, 2):
            left = _moved(left, right, self._keys[round], self._rows)
            right = _moved(right, left, self._keys[round + 1], self._columns)
        return left * np.uint64(self._columns) + right


def _moved(half: np.ndarray, other: np.ndarray, key: np.uint64, size: int) -> np.ndarray:
    """Return half + (a number below size derived from other and key), modulo size."""
    end = np.uint64(size)
    # High bits of hash times size instead of a remainder, which takes ten times as long.
    half = half + ((mixed(other ^ key) >> HALF) * end >> HALF)
    half -= end * (half >= end)
    return half
