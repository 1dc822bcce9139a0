"""Sets of texts as 64-bit hashes: 8 bytes per text, whatever its length.

With n texts in the set, another text matches by mistake with probability n / 2**64.
"""

from collections.abc import Callable, Iterable

import numpy as np
import pyarrow as pa

from corpusmill.kernels.words import facts_of_words
from corpusmill.mill.filters.features.words import room_for, word_table
from corpusmill.mill.read.text_column import TextColumn


def hashes_of(texts: list[str]) -> np.ndarray:
    """Return uint64: the hashes that these texts have as words."""
    column = TextColumn.of(pa.array(texts, pa.large_string()))
    chars, facts, hashes = room_for(len(texts))
    facts_of_words(column.data, column.offsets, word_table(), chars, facts, hashes)
    return hashes


def hashed_set(pieces: Iterable[list[str]], cleaned: Callable[[str], str]) -> np.ndarray:
    """Return uint64, ascending: the hashes of all texts of a list."""
    found = [hashes_of([cleaned(one) for one in lines if one]) for lines in pieces]
    return np.unique(np.concatenate([np.zeros(0, np.uint64), *found]))


def listed(candidates: list[list[str]], known: np.ndarray) -> list[list[str]]:
    """Return those of each list's texts that are in a set, in order."""
    hashes = hashes_of([one for texts in candidates for one in texts])
    places = np.searchsorted(known, hashes)
    has = np.zeros(hashes.size, bool)
    inside = places < known.size
    has[inside] = known[places[inside]] == hashes[inside]
    of_all = iter(has.tolist())
    return [[one for one in texts if next(of_all)] for texts in candidates]
