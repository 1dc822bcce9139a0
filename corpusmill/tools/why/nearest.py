"""The documents whose sketches are most similar to that of a text."""

from typing import NamedTuple

import numpy as np

from corpusmill.mill.read.ids import ROW_BITS
from corpusmill.mill.read.text_column import TextColumn, string_array
from corpusmill.mill.storage.arrays import load_array
from corpusmill.run.typed import as_given
from corpusmill.tools.why.results import Results

NEAREST = 5
BLOCK_ROWS = 1 << 14


class Near(NamedTuple):
    """A document, and its share of sketch values equal to the text's: an estimate of their Jaccard
    similarity."""

    id: int
    similarity: float


def sketch_of(results: Results, text: str) -> np.ndarray:
    """Return uint32 (permutations,)."""
    from corpusmill.mill.dedup.minhash import MinHasher

    hasher = MinHasher(**as_given(results.config.minhash))
    return hasher.sign(TextColumn.of(string_array([text.encode("utf-8")])))[0]


def sketches(results: Results, part: int) -> np.ndarray:
    """Return uint32 (documents, permutations)."""
    path = results.path("signatures/{}.npy", part)
    if not path.exists():
        raise ValueError(f"{path}, which contained the sketches, has been removed")
    return load_array(path)


def nearest(results: Results, text: str) -> list[Near]:
    """Return the documents that share a value, the most similar first. Raise ValueError without
    sketches."""
    from corpusmill.mill.dedup.sketches import NO_SHINGLE

    if results.config.dedup.method == "exact":
        raise ValueError("this run has no sketches (dedup.method exact)")
    # Checked first: the number of values comes from an untrusted summary.json.
    if sketches(results, 0).shape[1:] != (results.config.minhash.permutations,):
        raise ValueError(f"the sketches in {results.folder}/signatures do not match summary.json")
    sketch, found = sketch_of(results, text), []
    if (sketch == NO_SHINGLE).all():
        raise ValueError("the text has no shingles to compare")
    for part in range(results.parts):
        table = sketches(results, part)
        for start in range(0, len(table), BLOCK_ROWS):
            equal = np.count_nonzero(table[start : start + BLOCK_ROWS] == sketch, axis=1)
            best = np.argsort(-equal, kind="stable")[:NEAREST]
            found += [
                Near((part << ROW_BITS) + start + row, float(equal[row] / sketch.size))
                for row in best.tolist()
                if equal[row]
            ]
        found = sorted(found, key=lambda one: (-one.similarity, one.id))[:NEAREST]
    return found
