"""Store arrays in files. Apart from files.py, so that small jobs start without numpy."""

import contextlib
import math
import mmap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from corpusmill.mill.storage.buckets import Slice
from corpusmill.mill.storage.files import writing
from corpusmill.mill.storage.sums import BLOCK_BYTES, CheckedFile, DamagedError, SummedFile


def append_array(file: SummedFile, array: np.ndarray) -> None:
    """Append an array in the format of np.save, without its copy."""
    array = np.ascontiguousarray(array)
    np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
    file.write(array.reshape(-1).view(np.uint8))


def save_array(path: Path, array: np.ndarray) -> None:
    with writing(path) as file:
        append_array(file, array)


@contextlib.contextmanager
def array_writer(path: Path, shape: tuple[int, ...], dtype: np.dtype) -> Iterator[Callable]:
    """Yield a function that appends blocks of rows to one array of this shape."""
    rows = 0
    with writing(path) as file:
        header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)

        def append(block: np.ndarray) -> None:
            nonlocal rows
            rows += len(block)
            file.write(np.ascontiguousarray(block, dtype).reshape(-1).view(np.uint8))

        yield append
        assert rows == shape[0], (path, rows, shape)


class StoredArray:
    """An array in a file. Only the requested rows are read and checked."""

    def __init__(self, file: CheckedFile, at: int, dtype: np.dtype, shape: tuple[int, ...]) -> None:
        """at: byte offset of the first element."""
        self._file, self._at, self.dtype, self.shape = file, at, dtype, shape
        count = math.prod(shape)
        self._array = np.frombuffer(file.unchecked, dtype, count, at).reshape(shape)
        self._row_bytes = dtype.itemsize * math.prod(shape[1:])

    @classmethod
    def next_of(cls, file: CheckedFile) -> "StoredArray":
        """Open the array at the file's position, and move the position behind it."""
        try:
            if np.lib.format.read_magic(file) != (1, 0):
                raise ValueError("another version of the format")
            shape, in_columns, dtype = np.lib.format.read_array_header_1_0(file)
            if in_columns or not shape or min(shape) < 0:
                raise ValueError("no array of rows")
            array = cls(file, file.tell(), dtype, shape)
        except DamagedError:
            raise
        except ValueError as error:
            raise DamagedError(file.path, f"not an array of corpusmill ({error})") from error
        file.seek(array._array.nbytes, 1)
        return array

    @classmethod
    def open(cls, path: Path) -> "StoredArray":
        return cls.next_of(CheckedFile(path))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: int | slice) -> Any:
        """Return one row or a range of rows, checked."""
        if isinstance(rows, slice):
            first, last, _ = rows.indices(len(self))
        else:
            first, last = rows, rows + 1
        self._file.check(self._at + first * self._row_bytes, self._at + last * self._row_bytes)
        return self._array[rows]

    def all(self) -> np.ndarray:
        return self[:]

    def row(self, number: int) -> "StoredArray":
        """Return a row as an array that is read on demand again."""
        place = self._at + number * self._row_bytes
        return StoredArray(self._file, place, self.dtype, self.shape[1:])

    def rows(self, numbers: np.ndarray, columns: Any = slice(None)) -> np.ndarray:
        """Return the rows with these numbers, in any order, and some of their columns."""
        wanted = np.zeros(self._file.size // BLOCK_BYTES + 1, bool)
        first = self._at + numbers.astype(np.int64) * self._row_bytes
        last = first + max(self._row_bytes - 1, 0)
        for further in range(0, self._row_bytes + BLOCK_BYTES, BLOCK_BYTES):
            wanted[np.minimum(first + further, last) // BLOCK_BYTES] = True
        if self._row_bytes:
            self._file.check_blocks(np.flatnonzero(wanted).tolist())
        return self._array[:, columns][numbers]

    def place_of(self, key: Any) -> int:
        """Return np.searchsorted for an ascending array. The search reads unchecked values; the
        neighbors of the result are checked and prove it."""
        place = int(np.searchsorted(self._array, key))
        before, behind = self[max(place - 1, 0) : place], self[place : place + 1]
        if not (before < key).all() or not (behind >= key).all():
            self.all()
            raise AssertionError(f"{self._file.path}: not in ascending order")
        return place

    def within(self, share: Slice) -> slice:
        """Return the places of the keys in [low, high), for an ascending array of uint64."""
        start = self.place_of(np.uint64(share.low))
        at_end = share.high == 1 << 64
        return slice(start, len(self) if at_end else self.place_of(np.uint64(share.high)))

    def read_nothing_ahead(self) -> None:
        """Tell the system to expect access to scattered rows."""
        if self._file.map is not None:
            self._file.map.madvise(mmap.MADV_RANDOM)


def load_array(path: Path) -> np.ndarray:
    """Return an array as a read-only view of its file, fully checked."""
    return StoredArray.open(path).all()
