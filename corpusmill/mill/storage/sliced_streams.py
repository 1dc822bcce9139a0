"""Arrow IPC streams end to end in one file, one per target, so that a target reads only its slice.

Whoever writes such a file keeps beside it where each stream begins.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from corpusmill.mill.storage.sums import CheckedFile, SummedFile

IPC_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")

BLOCK_BYTES = 32 << 20


def blocks_of(sizes: np.ndarray, start: int, stop: int) -> Iterator[slice]:
    """start..stop cut so that no slice has more than BLOCK_BYTES, unless one row has."""
    ends = np.cumsum(sizes[start:stop])
    done = 0
    while start + done < stop:
        before = ends[done - 1] if done else 0
        more = max(1, int(np.searchsorted(ends[done:], before + BLOCK_BYTES, "right")))
        yield slice(start + done, start + done + more)
        done += more


def write_streams(
    file: SummedFile,
    schema: pa.Schema,
    rows_of: Callable[[slice], pa.Table],
    sizes: np.ndarray,
    targets: np.ndarray,
    count: int,
) -> np.ndarray:
    """Write rows, which are ordered by target, as one stream per target in 0..count-1.

    rows_of: the rows of a slice; never asked for more than about BLOCK_BYTES of text at once, as
    `sizes` (bytes of each row) say, however often a document is repeated.
    Returns uint64 (count + 1,), the byte of `file` at which each target's stream starts; a target
    without rows has none.
    """
    starts = np.searchsorted(targets, np.arange(count + 1))
    offsets = np.zeros(count + 1, np.uint64)
    for target in range(count):
        offsets[target] = file.tell()
        if starts[target] < starts[target + 1]:
            with pa.ipc.new_stream(file, schema, options=IPC_OPTIONS) as stream:
                for block in blocks_of(sizes, int(starts[target]), int(starts[target + 1])):
                    stream.write_table(rows_of(block))
    offsets[count] = file.tell()
    return offsets


def read_stream(data: Path, offsets: np.ndarray, target: int) -> Iterator[pa.Table]:
    """The rows of one target, if there are any; nothing else of the file is read but what is
    summed with them."""
    start, stop = int(offsets[target]), int(offsets[target + 1])
    if start < stop:
        yield pa.ipc.open_stream(pa.py_buffer(CheckedFile(data).view(start, stop))).read_all()
