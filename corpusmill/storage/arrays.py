"""Arrays in files of their own. Apart from files.py, so that small jobs start without numpy."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from corpusmill.storage.files import replacing


def save_array(path: Path, array: np.ndarray) -> None:
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.save(file, array, allow_pickle=False)


@contextlib.contextmanager
def array_writer(path: Path, shape: tuple[int, ...], dtype: np.dtype) -> Iterator[Callable]:
    """A function that appends blocks of rows to the file of one array of this shape."""
    rows = 0
    with replacing(path) as temporary, open(temporary, "wb") as file:
        header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)

        def append(block: np.ndarray) -> None:
            nonlocal rows
            rows += len(block)
            file.write(np.ascontiguousarray(block, dtype).data)

        yield append
        assert rows == shape[0], (path, rows, shape)


def load_array(path: Path) -> np.ndarray:
    """An array as a read-only view of its file, so only what is used is read."""
    return np.load(path, mmap_mode="r", allow_pickle=False)
