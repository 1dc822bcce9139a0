"""Survivors of one part, grouped by the shard they go to: sliced streams, and their index."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from corpusmill.storage.arrays import load_array, save_array
from corpusmill.storage.files import writing
from corpusmill.storage.sliced_streams import read_stream, write_streams

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


@dataclass(frozen=True)
class ScatterFiles:
    """What `scatter` makes of a part."""

    data: Path
    index: Path
    counts: Path


def write_scattered(
    data: Path,
    index: Path,
    rows_of: Callable[[slice], pa.Table],
    sizes: np.ndarray,
    targets: np.ndarray,
    count: int,
) -> None:
    """Write the streams of one part, and in `index` where each begins."""
    with writing(data) as file:
        offsets = write_streams(file, SCHEMA, rows_of, sizes, targets, count)
    save_array(index, offsets)


def read_scattered(data: Path, index: Path, target: int) -> Iterator[pa.Table]:
    """The rows of one target of a part."""
    yield from read_stream(data, load_array(index), target)
