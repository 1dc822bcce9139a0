"""Scatter files: the kept documents of a part as streams, one per target shard, with an index."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from corpusmill.mill.read.ids import ids_of_part
from corpusmill.mill.read.parts import TextPart
from corpusmill.mill.read.text_column import TextRows, string_array
from corpusmill.mill.storage.arrays import load_array, save_array
from corpusmill.mill.storage.files import writing
from corpusmill.mill.storage.sliced_streams import read_stream, write_streams

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
    """Outputs of `scatter` for one part."""

    data: Path
    index: Path
    counts: Path


class PartRows:
    """The documents of a text part as rows of SCHEMA, in any order."""

    def __init__(self, text: Path, part: int) -> None:
        # Not take(): for every block it would copy a chunked column whole, and combining the chunks
        # is a copy too.
        read = pa.Table.from_batches(
            TextPart(text, ["text", "rest"]).batches(),
            pa.schema([SCHEMA.field("text"), SCHEMA.field("rest")]),
        )
        self._texts, self._rests = TextRows(read.column("text")), TextRows(read.column("rest"))
        self._sources = TextPart(text, ["file"]).sources()
        self.ids = ids_of_part(part, read.num_rows)
        self.sizes = self._texts.sizes + self._rests.sizes

    def table(self, rows: np.ndarray, copy: np.ndarray, key: np.ndarray) -> pa.Table:
        """Return rows of SCHEMA. rows: row numbers in the part."""
        columns = [
            pa.array(key),
            pa.array(self.ids[rows]),
            pa.array(copy),
            self._sources.take(pa.array(rows)).cast(pa.string()),
            string_array(list(self._texts[rows])),
            string_array(list(self._rests[rows])).cast(pa.large_binary()),
        ]
        return pa.table(columns, schema=SCHEMA)


def write_scattered(
    data: Path,
    index: Path,
    rows_of: Callable[[slice], pa.Table],
    sizes: np.ndarray,
    targets: np.ndarray,
    count: int,
) -> None:
    """Write the streams of one part, and the start of each to `index`."""
    with writing(data) as file:
        offsets = write_streams(file, SCHEMA, rows_of, sizes, targets, count)
    save_array(index, offsets)


def read_scattered(data: Path, index: Path, target: int) -> Iterator[pa.Table]:
    """Yield the rows of one target of a part."""
    yield from read_stream(data, load_array(index), target)
