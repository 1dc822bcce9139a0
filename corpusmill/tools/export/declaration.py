"""The declaration of a format, and the data passed to it."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from corpusmill.mill.storage.sha256 import file_sha256
from corpusmill.reader import split as stream_split
from corpusmill.reader.manifest import Vocabulary
from corpusmill.reader.packed_samples import PackedSamples
from corpusmill.reader.stores import check_file
from corpusmill.tools.export.target import Target


class Shard:
    """A token shard of a split, checked against the manifest when it is first read."""

    def __init__(self, split: stream_split.Split, number: int, folder: Path) -> None:
        self.split = split.name
        self.number = number
        self.dtype = split.vocabulary.dtype
        self.tokens = int(split.shards.tokens[number])
        self.bytes = self.tokens * self.dtype.itemsize
        self._split = split
        self._folder = folder

    @cached_property
    def path(self) -> Path:
        """Return the path of its ids, as on disk."""
        path = self._folder / self._split.shards.name(self.number, "bin")
        check_file(path, self.bytes)
        expected = self._split.shards.sha256[self.number]
        if (found := file_sha256(path)) != expected:
            raise ValueError(
                f"{path}: expected SHA-256 {expected}, as listed in manifest.json, found {found}. "
                "Copy the file again, or remove it and run again to rebuild it."
            )
        return path

    def ids(self) -> np.ndarray:
        if not self.tokens:
            return np.zeros(0, self.dtype)
        return np.memmap(self.path, self.dtype, mode="r")

    def starts(self) -> np.ndarray:
        """Return int64 (documents + 1,): the starts of documents, and the end."""
        return self._split.opened.starts(self.number)

    def documents(self) -> pa.Table:
        """Return `id` and `source` of each document, in order."""
        name = f"placements/{self.split}/{self._split.shards.numbers[self.number]}.parquet"
        check_file(self._folder / name, None)
        table = pq.read_table(self._folder / name, columns=["id", "source"])
        if len(table) != int(self._split.shards.documents[self.number]):
            raise ValueError(
                f"{self._folder / name}: expected {self._split.shards.documents[self.number]} "
                f"documents, as listed in manifest.json, found {len(table)}. The file is from "
                "a different run: copy it again."
            )
        return table


class Split(NamedTuple):
    """`train`, `validation` or `test`."""

    name: str
    shards: Sequence[Shard]
    tokens: int
    documents: int
    packed: PackedSamples | None = None
    """Rows that the run packed, in place of consecutive samples."""

    @property
    def dtype(self) -> np.dtype:
        return self.shards[0].dtype

    def samples(self, length: int, most: int, ahead: int = 0) -> Iterator[np.ndarray]:
        """Yield arrays (samples, length + ahead) of `most` samples, the last one possibly shorter.

        Sample i is tokens [i * length, i * length + length + ahead) of the split. An incomplete
        last sample is left out. Packed rows have the same width.
        """
        if self.packed is not None:
            yield from self._packed_rows(self.packed, most)
            return
        count = max((self.tokens - ahead) // length, 0)
        held = np.zeros(0, self.dtype)
        pieces = self._pieces(most * length)
        for at in range(0, count, most):
            samples = min(most, count - at)
            while len(held) < samples * length + ahead:
                held = np.concatenate([held, next(pieces)])
            rows = np.lib.stride_tricks.sliding_window_view(held, length + ahead)
            yield rows[: samples * length : length].copy()
            held = held[samples * length :]

    def _packed_rows(self, packed: PackedSamples, most: int) -> Iterator[np.ndarray]:
        for shard in self.shards:
            _ = shard.path  # checks it
        for at in range(0, len(packed), most):
            yield packed.rows(np.arange(at, min(at + most, len(packed))))

    def _pieces(self, size: int) -> Iterator[np.ndarray]:
        for shard in self.shards:
            ids = shard.ids()
            yield from (ids[at : at + size] for at in range(0, len(ids), size))


class Exported(NamedTuple):
    """The corpus to export."""

    splits: Sequence[Split]
    vocabulary: Vocabulary
    length: int  # tokens of a sample, for formats of samples

    @property
    def shards(self) -> Iterator[Shard]:
        """Yield the shards of all splits."""
        return (shard for split in self.splits for shard in split.shards)


class Format(NamedTuple):
    """A format of token files."""

    read_by: str
    layout: str  # files in the folder
    ids: str  # types of the ids
    files: str  # whether token shards are linked or copied, and what is added
    write: Callable[[Exported, Target], None]
    share: float = 1  # bytes on disk per byte of token shards; nearly 0 for linked files
    uint16_alone: bool = False  # the format has only 16-bit ids
    samples: bool = False  # rows of `length` tokens instead of documents
    ahead: int | None = None  # tokens of a packed row beyond `length`; None: no packed rows
    most_tokens: int | None = None  # of one shard
    needs: str | None = None  # package that only this format requires
