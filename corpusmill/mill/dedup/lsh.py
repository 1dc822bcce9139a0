"""LSH: sorted band keys of a part's documents, and documents with equal keys."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from corpusmill.mill.read.digests import digest_words
from corpusmill.mill.read.ids import ROW_BITS, mixed
from corpusmill.mill.storage.arrays import StoredArray, append_array
from corpusmill.mill.storage.buckets import Slice
from corpusmill.mill.storage.files import writing
from corpusmill.mill.storage.sums import CheckedFile, DamagedError

BLOCK_ROWS = 4096
INCREMENT = np.uint64(0x9E3779B97F4A7C15)


def band_keys(signatures: np.ndarray, rows: np.ndarray, first: int, width: int) -> np.ndarray:
    """Return uint64 (rows,): a 64-bit digest of signatures[row, first : first + width] per row.

    Two different slices get the same key with probability 2**-64, so a key identifies its slice.
    """
    # numpy, not a kernel: loading compiled code takes longer than the keys of a usual part.
    keys = np.full(rows.size, INCREMENT)
    for start in range(0, rows.size, BLOCK_ROWS):
        block = signatures[rows[start : start + BLOCK_ROWS], first : first + width]
        part = keys[start : start + BLOCK_ROWS]
        for column in np.ascontiguousarray(block.T, np.uint64):
            part[:] = mixed(part + (column + INCREMENT))
    return keys


def salted(keys: np.ndarray, salts: np.ndarray | None) -> np.ndarray:
    """Return the keys so that documents with different salts have none in common.

    Of equal keys this is certain, as `mixed` is a bijection. Other keys meet with probability
    2**-64, as those of different slices do.
    """
    return keys if salts is None else mixed(keys + salts)


class Banding(NamedTuple):
    """The settings of band keys: config dedup.method, dedup.bands and dedup.rows."""

    method: str
    bands: int
    rows: int


def sorted_bands(
    signatures: np.ndarray,
    rows: np.ndarray,
    bands: int,
    width: int,
    path: Path,
    salts: np.ndarray | None = None,
) -> None:
    """Write the band keys of the given rows as a file of `Bands`. salts: of all documents."""
    of_rows = None if salts is None else salts[rows]
    unsorted = (band_keys(signatures, rows, band * width, width) for band in range(bands))
    save_bands(path, (salted(keys, of_rows) for keys in unsorted), bands, rows)


def sorted_digests(
    digests: np.ndarray, rows: np.ndarray, path: Path, salts: np.ndarray | None = None
) -> None:
    """Write the first words of the given rows' digests as a file of `Bands`, of a single band.

    salts: of all documents.
    """
    of_rows = None if salts is None else salts[rows]
    save_bands(path, [salted(digest_words(digests[rows]), of_rows)], 1, rows)


def save_bands(path: Path, unsorted: Iterable[np.ndarray], bands: int, rows: np.ndarray) -> None:
    """Write the keys of the rows in each band as a file of `Bands`.

    The file has two .npy arrays: keys uint64 and rows uint32, both (bands, entries), so that a job
    maps the file and reads its slice. Rows of equal keys ascend.
    """
    keys = np.empty((bands, rows.size), np.uint64)
    order = np.empty((bands, rows.size), np.uint32)
    for band, of_rows in enumerate(unsorted):
        ranks = np.argsort(of_rows, kind="stable")
        keys[band] = of_rows[ranks]
        order[band] = rows[ranks]
    with writing(path) as file:
        append_array(file, keys)
        append_array(file, order)


class Bands(NamedTuple):
    """The band file of one part: keys and rows, both (bands, entries).

    Each use maps the file again: a map keeps its file open, and thousands of parts exceed the open
    files of a process.
    """

    part: int
    path: Path

    def tables(self) -> tuple[StoredArray, StoredArray]:
        """Return the keys and rows of all bands."""
        file = CheckedFile(self.path)
        keys, rows = StoredArray.next_of(file), StoredArray.next_of(file)
        if (keys.dtype, rows.dtype) != (np.dtype("<u8"), np.dtype("<u4")):
            raise DamagedError(self.path, "not a band file")
        return keys, rows

    def of_band(self, band: int) -> tuple[StoredArray, StoredArray]:
        """Return the keys and rows of one band."""
        keys, rows = self.tables()
        return keys.row(band), rows.row(band)


def count_entries(parts: list[Bands], share: Slice) -> int:
    """Count the band keys of all parts in the slice."""
    found = (part.of_band(share.band)[0].within(share) for part in parts)
    return sum(one.stop - one.start for one in found)


def entries_in(parts: list[Bands], share: Slice) -> tuple[np.ndarray, np.ndarray]:
    """Return (keys, ids) of all entries in the slice, sorted by key and then by id."""
    keys, ids = [np.zeros(0, np.uint64)], [np.zeros(0, np.uint64)]
    for part in parts:
        of_band, of_rows = part.of_band(share.band)
        chosen = of_band.within(share)
        keys.append(np.array(of_band[chosen]))
        rows = of_rows[chosen].astype(np.uint64)
        ids.append(np.uint64(part.part << ROW_BITS) | rows)
    all_keys, all_ids = np.concatenate(keys), np.concatenate(ids)
    # Stable: parts come in ascending order, so equal keys keep ascending ids, on any machine.
    order = np.argsort(all_keys, kind="stable")
    return all_keys[order], all_ids[order]
