"""Document ids, and every use of chance: keyed hashes of them.

id = part << 32 | row, one-to-one with (source, file, line). Parts keep their numbers when a
corpus grows, so ids do too, and whatever is decided by a hash of the id.
"""

import hashlib
import itertools
from collections.abc import Iterator

import numpy as np

ROW_BITS = 32
ROW_MASK = (1 << ROW_BITS) - 1


def ids_of_part(part: int, rows: int) -> np.ndarray:
    """uint64 (rows,): the ids of all documents of a part."""
    return np.uint64(part << ROW_BITS) | np.arange(rows, dtype=np.uint64)


def by_part(ids: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """(part, places, rows) for each part that some ids are of: where in `ids` they stand, and
    their rows, ascending, so that a file is read from its start to its end."""
    order = np.argsort(ids, kind="stable")  # once; a search per part is parts times ids
    parts = (ids[order] >> np.uint64(ROW_BITS)).astype(np.int64)
    bounds = np.append(np.flatnonzero(np.diff(parts, prepend=-1)), ids.size)
    for start, stop in itertools.pairwise(bounds):
        places = order[start:stop]
        yield int(parts[start]), places, (ids[places] & np.uint64(ROW_MASK)).astype(np.int64)


def starts_of_parts(rows: list[int]) -> np.ndarray:
    """int64 (parts + 1,): the dense number of each part's first document, then the total."""
    return np.concatenate([[0], np.cumsum(rows)]).astype(np.int64)


def dense_numbers(ids: np.ndarray, part_starts: np.ndarray) -> np.ndarray:
    """int64: documents numbered without gaps, part after part."""
    part, row = ids >> np.uint64(ROW_BITS), ids & np.uint64(ROW_MASK)
    return part_starts[part.astype(np.int64)] + row.astype(np.int64)


def mixed(x: np.ndarray) -> np.ndarray:
    """splitmix64's finalizer, a bijection of 64-bit numbers."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def keyed_hash(ids: np.ndarray, seed: int, purpose: str) -> np.ndarray:
    """uint64, evenly spread; another key for every seed and purpose.

    A bijection of the ids: no two documents ever share a hash of the same purpose.
    """
    key = hashlib.sha256(f"corpusmill/{seed}/{purpose}".encode()).digest()
    first, second = np.frombuffer(key[:16], "<u8")
    return mixed(mixed(ids.astype(np.uint64) ^ first) + second)


def unit_hash(ids: np.ndarray, seed: int, purpose: str) -> np.ndarray:
    """float64 in [0, 1): `keyed_hash` as a fraction of its range, 53 bits of it."""
    return (keyed_hash(ids, seed, purpose) >> np.uint64(11)) * 2.0**-53
