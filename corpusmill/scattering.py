"""Survivors of one part, grouped by the shard they go to, so that a shard reads only its slice.

A scatter file is Arrow IPC streams end to end, one per target; its index says where each begins.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from corpusmill.files import load_array, replacing, save_array
from corpusmill.texts import IPC_OPTIONS

SCHEMA = pa.schema(
    [
        ("key", pa.uint64()),
        ("id", pa.uint64()),
        ("copy", pa.uint16()),
        ("source", pa.string()),
        ("text", pa.large_string()),
        ("rest", pa.large_binary()),
    ]
)


def write_scattered(data: Path, index: Path, rows: pa.Table, targets: np.ndarray, count: int):
    """Write `rows`, which are ordered by target, as one stream per target in 0..count-1.

    index: uint64 (count + 1,), the byte at which each target's stream starts in `data`; a target
    without rows has none.
    """
    starts = np.searchsorted(targets, np.arange(count + 1))
    offsets = np.zeros(count + 1, np.uint64)
    with replacing(data) as temporary, open(temporary, "wb") as file:
        for target in range(count):
            offsets[target] = file.tell()
            if starts[target] < starts[target + 1]:
                part = rows.slice(starts[target], starts[target + 1] - starts[target])
                with pa.ipc.new_stream(file, SCHEMA, options=IPC_OPTIONS) as stream:
                    stream.write_table(part)
        offsets[count] = file.tell()
    save_array(index, offsets)


def read_scattered(data: Path, index: Path, target: int) -> Iterator[pa.Table]:
    """The rows of one target, if there are any; nothing else of the file is read."""
    offsets = load_array(index)
    start, stop = int(offsets[target]), int(offsets[target + 1])
    if start < stop:
        with open(data, "rb") as file:
            file.seek(start)
            yield pa.ipc.open_stream(file.read(stop - start)).read_all()
