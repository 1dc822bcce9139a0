"""Arrow IPC streams in one file, one stream per target, so that a target reads only its slice.

The writer stores the offsets of the streams elsewhere.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from corpusmill.mill.storage.sums import CheckedFile, SummedFile

IPC_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")

BLOCK_BYTES = 8 << 20


def blocks_of(sizes: np.ndarray, start: int, stop: int) -> Iterator[slice]:
    """Yield slices of start..stop of at most BLOCK_BYTES each, or of one larger row."""
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
    options: pa.ipc.IpcWriteOptions = IPC_OPTIONS,
) -> np.ndarray:
    """Write rows, which are ordered by target, as one stream per target in 0..count-1.

    rows_of: returns the rows of a slice. `sizes`, the bytes of each row, limit a slice to about
    BLOCK_BYTES, however often a document is repeated. Returns uint64 (count + 1,), the byte of
    `file` at which each target's stream starts. A target without rows has no stream.
    """
    starts = np.searchsorted(targets, np.arange(count + 1))
    offsets = np.zeros(count + 1, np.uint64)
    for target in range(count):
        offsets[target] = file.tell()
        if starts[target] < starts[target + 1]:
            with pa.ipc.new_stream(file, schema, options=options) as stream:
                for block in blocks_of(sizes, int(starts[target]), int(starts[target + 1])):
                    stream.write_table(rows_of(block))
    offsets[count] = file.tell()
    return offsets


def read_stream(data: Path, offsets: np.ndarray, target: int) -> Iterator[pa.Table]:
    """Yield the rows of one target, if any. Reads only the checksum blocks that contain them."""
    start, stop = int(offsets[target]), int(offsets[target + 1])
    if start < stop:
        yield pa.ipc.open_stream(pa.py_buffer(CheckedFile(data).view(start, stop))).read_all()
