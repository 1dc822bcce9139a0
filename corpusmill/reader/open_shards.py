"""Shards of a split, mapped while they are read."""

import mmap
from collections import OrderedDict
from collections.abc import Container
from pathlib import Path
from typing import Any

import numpy as np

from corpusmill.mill.storage.regular_files import open_regular
from corpusmill.reader.manifest import Shards
from corpusmill.reader.shelves import Shelf

OPEN_AT_MOST = 128
"""Maximum number of open memory maps. Each is an open file, and a process may be limited to
1,024."""


class OpenShards:
    """Maps of shards. When more than `mapped_bytes` are open, the least recently used is closed:
    mapped pages count as memory of the process."""

    def __init__(self, shards: Shards, shelf: Shelf, dtype: np.dtype, mapped_bytes: int) -> None:
        self._shards = shards
        self._shelf = shelf
        self._dtype = dtype
        self._mapped_bytes = mapped_bytes
        self._open: OrderedDict[int, np.ndarray] = OrderedDict()
        self._bytes = 0
        self._last_starts: tuple[int, np.ndarray] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_open": OrderedDict(), "_bytes": 0, "_last_starts": None}

    def tokens(self, shard: int) -> np.ndarray:
        """Return the ids of a shard, as on disk. Do not keep the array: copy what you need."""
        if (found := self._open.get(shard)) is not None:
            self._open.move_to_end(shard)
            return found
        found = _mapped(self._shelf.path(shard), self._dtype)
        self._bytes += found.nbytes
        while self._open and (self._bytes > self._mapped_bytes or len(self._open) >= OPEN_AT_MOST):
            self._bytes -= self._open.popitem(last=False)[1].nbytes
        self._open[shard] = found
        return found

    def close_all_but(self, shards: Container[int]) -> None:
        """Close the other shards. A removed file uses disk space as long as it is mapped."""
        for shard in [shard for shard in self._open if shard not in shards]:
            self._bytes -= self._open.pop(shard).nbytes

    def starts(self, shard: int) -> np.ndarray:
        """Return int64 (documents + 1,): the starts of a shard's documents, and its end."""
        if self._last_starts and self._last_starts[0] == shard:
            return self._last_starts[1]
        path = self._shelf.path(shard).with_suffix(".idx")
        found, tokens = np.fromfile(path, "<u8"), int(self._shards.tokens[shard])
        if (starts := cut_by(found, tokens)) is None:
            raise ValueError(
                f"{path}: expected positions that increase from 0 to {tokens}, the number of "
                "tokens, found other positions. Copy the file again, or make the corpus again."
            )
        self._last_starts = shard, starts
        return starts


def cut_by(starts: np.ndarray, tokens: int) -> np.ndarray | None:
    """Return int64: the starts of documents, and the end; None if they do not match the number of
    tokens. starts: uint64, as in an index."""
    if not starts.size or starts.max() > tokens:  # a larger number could become negative
        return None
    found = starts.astype(np.int64)
    whole = found[0] == 0 and found[-1] == tokens and (np.diff(found) >= 1).all()
    return found if whole else None


def _mapped(path: Path, dtype: np.dtype) -> np.ndarray:
    with open_regular(path) as file:
        if not file.seek(0, 2):
            return np.zeros(0, dtype)
        return np.frombuffer(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ), dtype)
