"""MinHash sketches of text columns, equal to datasketch's bit for bit."""

from typing import NamedTuple

import numpy as np

from corpusmill.kernels.sketch import sketch_affine32, sketch_legacy
from corpusmill.mill.dedup.sketches import NO_SHINGLE
from corpusmill.mill.read.text_column import TextColumn
from corpusmill.mill.read.unicode_tables import character_table

_MERSENNE_PRIME = (1 << 61) - 1


def permutations_of(scheme: str, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (a, b) as datasketch draws them for this scheme, number of permutations and seed."""
    generator = np.random.RandomState(seed)
    if scheme == "legacy":
        drawn = [
            (
                generator.randint(1, _MERSENNE_PRIME, dtype=np.uint64),
                generator.randint(0, _MERSENNE_PRIME, dtype=np.uint64),
            )
            for _ in range(count)
        ]
        a, b = np.array(drawn, dtype=np.uint64).reshape(-1, 2).T
        return np.ascontiguousarray(a), np.ascontiguousarray(b)
    halves = generator.randint(0, 1 << 31, count, dtype=np.uint32)
    a = halves * np.uint32(2) + np.uint32(1)
    return a, generator.randint(0, 1 << 32, count, dtype=np.uint32)


class MinHasher(NamedTuple):
    """The setting of a sketch: config section `minhash`."""

    scheme: str
    permutations: int
    shingle_chars: int
    seed: int

    def sign(self, texts: TextColumn) -> np.ndarray:
        """Return uint32 (documents, permutations): the sketch of every document."""
        documents = texts.offsets.size - 1
        signatures = np.full((documents, self.permutations), NO_SHINGLE, np.uint32)
        a, b = permutations_of(self.scheme, self.permutations, self.seed)
        kernel = sketch_legacy if self.scheme == "legacy" else sketch_affine32
        kernel(texts.data, texts.offsets, character_table(), self.shingle_chars, a, b, signatures)
        return signatures
