"""LSH: sorted band keys of a part, and the pairs of documents that share one."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from corpusmill.buckets import Slice, halves
from corpusmill.document_ids import ROW_BITS, mixed
from corpusmill.files import load_array, replacing

BLOCK_ROWS = 4096
INCREMENT = np.uint64(0x9E3779B97F4A7C15)


def band_keys(signatures: np.ndarray, rows: np.ndarray, first: int, width: int) -> np.ndarray:
    """uint64 (rows,): a 64-bit digest of signatures[row, first : first + width] for each row.

    Two different slices meet in one key with probability 2**-64, so a key stands for its slice.
    """
    # numpy and no kernel: loading compiled code takes longer than the keys of a usual part.
    keys = np.full(rows.size, INCREMENT)
    for start in range(0, rows.size, BLOCK_ROWS):
        block = signatures[rows[start : start + BLOCK_ROWS], first : first + width]
        part = keys[start : start + BLOCK_ROWS]
        for column in np.ascontiguousarray(block.T, np.uint64):
            part[:] = mixed(part + (column + INCREMENT))
    return keys


def sorted_bands(signatures: np.ndarray, rows: np.ndarray, bands: int, width: int, path: Path):
    """Write the band keys of the given rows: per band its keys ascending, then their rows.

    Two .npy arrays, one behind the other: keys uint64 and rows uint32, both (bands, entries), so
    that a job maps the file and reads its slice. Equal keys stand in ascending row order.
    """
    keys = np.empty((bands, rows.size), np.uint64)
    order = np.empty((bands, rows.size), np.uint32)
    for band in range(bands):
        unsorted = band_keys(signatures, rows, band * width, width)
        ranks = np.argsort(unsorted, kind="stable")
        keys[band] = unsorted[ranks]
        order[band] = rows[ranks]
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.save(file, keys, allow_pickle=False)
        np.save(file, order, allow_pickle=False)


class Bands(NamedTuple):
    """The band file of one part, mapped: keys and rows, both (bands, entries)."""

    part: int
    keys: np.ndarray
    rows: np.ndarray

    @classmethod
    def open(cls, part: int, path: Path) -> "Bands":
        keys = load_array(path)
        if keys.size == 0:
            return cls(part, keys, keys.astype(np.uint32))
        start = keys.offset + keys.nbytes
        with open(path, "rb") as file:
            file.seek(start)
            version = np.lib.format.read_magic(file)
            if version != (1, 0):
                raise ValueError(f"{path}: not a band file. Remove it and run again.")
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
            rows = np.memmap(path, dtype, "r", file.tell(), shape)
        return cls(part, keys, rows)


def _range(keys: np.ndarray, low: int, high: int) -> tuple[int, int]:
    start = int(np.searchsorted(keys, np.uint64(low), "left"))
    if high == 1 << 64:
        return start, keys.size
    return start, int(np.searchsorted(keys, np.uint64(high), "left"))


def star_edges(keys: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """uint64 (edges, 2): (first id of the key's group, id) for every later entry of each group.

    keys: sorted, equal keys with ascending ids. A group of k documents gives k - 1 edges: its
    component is the same as with all k * (k - 1) / 2.
    """
    later = keys[1:] == keys[:-1]
    head = np.zeros(keys.size, np.int64)
    head[1:] = np.where(later, 0, np.arange(1, keys.size))
    head = np.maximum.accumulate(head)[1:][later]
    return np.column_stack([ids[head], ids[1:][later]])


def entries_of_slice(parts: list[Bands], share: Slice) -> int:
    """How many band keys of all parts are in the slice."""
    total = 0
    for part in parts:
        if part.keys.size:
            start, stop = _range(part.keys[share.band], share.low, share.high)
            total += stop - start
    return total


def bounded_slices(parts: list[Bands], share: Slice, most: int) -> Iterator[Slice]:
    """The slice in pieces of at most `most` band keys; a single key is never cut."""
    if share.high - share.low > 1 and entries_of_slice(parts, share) > most:
        for half in halves(share):
            yield from bounded_slices(parts, half, most)
    else:
        yield share


def pairs_of_slice(parts: list[Bands], share: Slice) -> np.ndarray:
    """uint64 (pairs, 2): star edges (least id, other id) of every key in the slice."""
    keys, ids = [], []
    for part in parts:
        if part.keys.size == 0:
            continue
        start, stop = _range(part.keys[share.band], share.low, share.high)
        keys.append(part.keys[share.band, start:stop])
        rows = part.rows[share.band, start:stop].astype(np.uint64)
        ids.append(np.uint64(part.part << ROW_BITS) | rows)
    if not keys:
        return np.zeros((0, 2), np.uint64)
    all_keys, all_ids = np.concatenate(keys), np.concatenate(ids)
    # Stable: parts come in ascending order, so equal keys keep ascending ids, on any machine.
    order = np.argsort(all_keys, kind="stable")
    return star_edges(all_keys[order], all_ids[order])
