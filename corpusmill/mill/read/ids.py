"""Document ids, and keyed hashes of ids, which make every random choice.

id = part << 32 | row, one-to-one with (source, file, line). When a corpus grows, parts keep their
numbers, so ids and all choices made by their hashes stay the same.
"""

import hashlib
import itertools
from collections.abc import Iterator

import numpy as np

ROW_BITS = 32
ROW_MASK = (1 << ROW_BITS) - 1


def ids_of_part(part: int, rows: int) -> np.ndarray:
    """Return uint64 (rows,): the ids of all documents of a part."""
    return np.uint64(part << ROW_BITS) | np.arange(rows, dtype=np.uint64)


def by_part(ids: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield (part, places, rows) for each part: positions in `ids`, and rows in ascending order.

    Ascending rows let the caller read each file from start to end.
    """
    order = np.argsort(ids, kind="stable")  # once; a search per part would be slower
    parts = (ids[order] >> np.uint64(ROW_BITS)).astype(np.int64)
    bounds = np.append(np.flatnonzero(np.diff(parts, prepend=-1)), ids.size)
    for start, stop in itertools.pairwise(bounds):
        places = order[start:stop]
        yield int(parts[start]), places, (ids[places] & np.uint64(ROW_MASK)).astype(np.int64)


def starts_of_parts(rows: list[int]) -> np.ndarray:
    """Return int64 (parts + 1,): the dense number of each part's first document, then the total."""
    return np.concatenate([[0], np.cumsum(rows)]).astype(np.int64)


def dense_numbers(ids: np.ndarray, part_starts: np.ndarray) -> np.ndarray:
    """Return int64: document numbers without gaps, part after part."""
    part, row = ids >> np.uint64(ROW_BITS), ids & np.uint64(ROW_MASK)
    return part_starts[part.astype(np.int64)] + row.astype(np.int64)


def mixed(x: np.ndarray) -> np.ndarray:
    """Apply splitmix64's finalizer, a bijection of 64-bit numbers."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def keyed_hash(ids: np.ndarray, seed: int, purpose: str) -> np.ndarray:
    """Return uint64, uniformly distributed, with a different key for every seed and purpose.

    This is a bijection of the ids: two documents never share a hash of the same purpose.
    """
    key = hashlib.sha256(f"corpusmill/{seed}/{purpose}".encode()).digest()
    first, second = np.frombuffer(key[:16], "<u8")
    return mixed(mixed(ids.astype(np.uint64) ^ first) + second)


def unit_hash(ids: np.ndarray, seed: int, purpose: str) -> np.ndarray:
    """Return float64 in [0, 1): the upper 53 bits of `keyed_hash` as a fraction."""
    return (keyed_hash(ids, seed, purpose) >> np.uint64(11)) * 2.0**-53
