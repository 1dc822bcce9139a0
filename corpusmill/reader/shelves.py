"""Where the shards of a split are when they are read."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from corpusmill.reader.manifest import Shards
from corpusmill.reader.stores import check_file


class Shelf(Protocol):
    """Gives shards as files of this machine."""

    kept: int | None
    """How many shards there is room for; None: for all."""

    def path(self, shard: int) -> Path:
        """The `.bin` of a shard, with its `.idx` beside it; both as long as they should be."""

    def expect(self, now: Sequence[int], soon: Sequence[int]) -> None:
        """Have the shards of `now` here before it returns, those of `soon` as early as may be."""


class Here:
    """Shards that lie in the folder of their corpus."""

    kept: int | None = None

    def __init__(self, folder: Path, shards: Shards, itemsize: int) -> None:
        self.folder = folder
        self._shards = shards
        self._itemsize = itemsize

    def path(self, shard: int) -> Path:
        path = self.folder / self._shards.name(shard, "bin")
        check_file(path, int(self._shards.tokens[shard]) * self._itemsize)
        check_file(path.with_suffix(".idx"), self._shards.index_bytes(shard))
        return path

    def expect(self, now: Sequence[int], soon: Sequence[int]) -> None:
        """They are here."""
