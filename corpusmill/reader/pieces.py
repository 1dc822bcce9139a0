"""Rows put together from pieces of shards; arrays beside the shards, mapped."""

import math
import mmap
from pathlib import Path

import numpy as np

from corpusmill.mill.storage.regular_files import open_regular
from corpusmill.mill.tokens.pack_files import DTYPE, HEADER_BYTES, npy_shape
from corpusmill.reader.split import Split


def copy_pieces(
    split: Split,
    rows: np.ndarray,
    shard: np.ndarray,
    local: np.ndarray,
    place: np.ndarray,
    size: np.ndarray,
) -> None:
    """Copy pieces of shards into rows. local: of their tokens in the shard. place: in the rows."""
    itemsize, into = rows.itemsize, rows.reshape(-1).view(np.uint8).data
    last, source = -1, memoryview(b"")
    order = np.argsort(shard, kind="stable")  # look each shard up once, as `fill` does
    found = [(one[order] * itemsize).tolist() for one in (local, place, size)]
    for number, start, at, bytes_of in zip(shard[order].tolist(), *found, strict=True):
        if number != last:
            last, source = number, split.opened.tokens(number).view(np.uint8).data
        into[at : at + bytes_of] = source[start : start + bytes_of]


def mapped_array(path: Path, dimensions: int, dtype: np.dtype = DTYPE) -> np.ndarray:
    """Return the array in a `.npy` file as a map, which is closed with the array."""
    with open_regular(path) as file:
        found = npy_shape(file.read(HEADER_BYTES), dtype)
        size = file.seek(0, 2)
        shape, at = found or ((), 0)
        if len(shape) != dimensions or at + math.prod(shape) * dtype.itemsize != size:
            raise ValueError(
                f"{path}: expected {dimensions}-dimensional {dtype.name} numbers as corpusmill "
                f"writes them, found shape {shape} in {size} bytes. Copy the file again, or mill "
                "the corpus again."
            )
        data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    return np.frombuffer(data, dtype, math.prod(shape), at).reshape(shape)
