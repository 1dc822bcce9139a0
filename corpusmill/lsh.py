"""LSH: sorted band keys of a part, and the pairs of documents that share one."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from corpusmill.buckets import Slice
from corpusmill.document_ids import ROW_BITS
from corpusmill.files import load_array, replacing
from corpusmill.kernels.bands import band_keys, count_star_edges, star_edges


def sorted_bands(signatures: np.ndarray, rows: np.ndarray, bands: int, width: int, path: Path):
    """Write the band keys of the given rows: per band its keys ascending, then their rows.

    Two .npy arrays, one behind the other: keys uint64 and rows uint32, both (bands, entries), so
    that a job maps the file and reads its slice. Equal keys stand in ascending row order.
    """
    keys = np.empty((bands, rows.size), np.uint64)
    order = np.empty((bands, rows.size), np.uint32)
    scratch = np.empty(rows.size, np.uint64)
    for band in range(bands):
        band_keys(signatures, rows, band * width, width, scratch)
        ranks = np.argsort(scratch, kind="stable")
        keys[band] = scratch[ranks]
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
    all_keys, all_ids = all_keys[order], all_ids[order]
    pairs = np.empty((count_star_edges(all_keys), 2), np.uint64)
    star_edges(all_keys, all_ids, pairs)
    return pairs
