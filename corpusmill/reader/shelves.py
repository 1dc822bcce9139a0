"""Access to the shards of a split as local files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from corpusmill.reader.downloads import Remote
from corpusmill.reader.manifest import Shards
from corpusmill.reader.stores import check_file


class Shelf(Protocol):
    """Provides shards as local files."""

    kept: int | None
    """Maximum number of shards that fit; None: all."""

    def path(self, shard: int) -> Path:
        """Return the path of a shard's `.bin`, next to its `.idx`. Both have the right size."""

    def other(self, file: Remote) -> Path:
        """Return the path of a file beside the shards, of the right size."""

    def expect(self, now: Sequence[int], soon: Sequence[int]) -> None:
        """Wait until the shards of `now` are local, and start fetching those of `soon`."""


class Here:
    """Shards in the folder of their corpus."""

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

    def other(self, file: Remote) -> Path:
        path = self.folder / file.name
        check_file(path, file.size)
        return path

    def expect(self, now: Sequence[int], soon: Sequence[int]) -> None:
        """Do nothing: they are local."""
