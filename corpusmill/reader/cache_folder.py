"""The folder of a cache: which shards are there, whose they are, room for more.

{folder}/00003.bin, .idx    a shard, whole and verified
{folder}/00003.bin.part     what came of it so far; a later attempt goes on from there
{folder}/00003.fetched      it was brought by a cache, which may remove it
{folder}/00003.lock         shared: read by a process; alone: fetched or removed
{folder}/room.lock          alone: who makes room
"""

import contextlib
import shutil
from collections.abc import Container
from pathlib import Path

from corpusmill.mill.storage.sha256 import file_sha256
from corpusmill.reader.downloads import Remote
from corpusmill.reader.manifest import Shards
from corpusmill.reader.node_locks import NodeLock


class CacheFolder:
    """The shards of one split, and the locks by which processes share them."""

    def __init__(self, folder: Path, shards: Shards, itemsize: int) -> None:
        self.folder = folder
        self._shards = shards
        self._itemsize = itemsize
        self._known: set[int] = set()

    def file(self, shard: int, ending: str) -> Path:
        return self.folder / f"{self._shards.numbers[shard]}.{ending}"

    def remote(self, shard: int, ending: str) -> Remote:
        of_bin = ending == "bin"
        size = int(self._shards.tokens[shard]) * self._itemsize
        sha256 = self._shards.sha256 if of_bin else self._shards.index_sha256
        return Remote(
            self._shards.name(shard, ending),
            size if of_bin else self._shards.index_bytes(shard),
            sha256[shard],
        )

    def is_whole(self, shard: int) -> bool:
        """Whether a shard is there. One that no cache has brought is read once, to be sure."""
        for ending in ("bin", "idx"):
            try:
                if self.file(shard, ending).stat().st_size != self.remote(shard, ending).size:
                    return False
            except FileNotFoundError:
                return False
        if shard not in self._known and not self.file(shard, "fetched").exists():
            for ending in ("bin", "idx"):
                if file_sha256(self.file(shard, ending)) != self.remote(shard, ending).sha256:
                    return False
        self._known.add(shard)
        return True

    def refuse_strangers(self, shard: int) -> None:
        """Nothing is written over a file that no cache has brought."""
        for ending in ("bin", "idx"):
            path = self.file(shard, ending)
            if path.exists() and not self.file(shard, "fetched").exists():
                raise ValueError(
                    f"{path}: expected {self._shards.name(shard, ending)} of the corpus, found "
                    "another file, which no cache has brought. Move it away."
                )

    def refuse_a_full_disk(self, shard: int) -> None:
        """A download that cannot end is not begun."""
        parts = [(self.remote(shard, ending).size, self.file(shard, f"{ending}.part"))
                 for ending in ("bin", "idx")]  # fmt: skip
        missing = sum(size - (part.stat().st_size if part.exists() else 0) for size, part in parts)
        if missing > (free := shutil.disk_usage(self.folder).free):
            raise OSError(
                f"{self.folder}: expected {missing} free bytes for "
                f"{self._shards.name(shard, 'bin')}, found {free}. Lower keep_shards or "
                "window_shards, or take a larger disk."
            )

    def so_far(self, shard: int) -> str:
        file = self.remote(shard, "bin")
        with contextlib.suppress(FileNotFoundError):
            came = self.file(shard, "bin.part").stat().st_size
            return f"{file.name}: {came / 1e6:,.0f} of {file.size / 1e6:,.0f} MB"
        return file.name

    def has_room(self, shard: int, kept: int, wanted: Container[int]) -> bool:
        """Whether there are fewer than `kept` others, after shards were removed that nobody reads,
        the first fetched first; but none that is wanted here."""
        number = {name: place for place, name in enumerate(self._shards.numbers)}
        shards = {number[name] for path in self.folder.iterdir()
                  if path.name.endswith((".bin", ".idx", ".part"))
                  and (name := path.name.split(".")[0]) in number} - {shard}  # fmt: skip
        left = len(shards)
        for one in sorted(shards, key=self._fetched_at):
            if left < kept:
                break
            left -= one not in wanted and self.removed(one)
        return left < kept

    def _fetched_at(self, shard: int) -> tuple[float, int]:
        with contextlib.suppress(FileNotFoundError):
            return self.file(shard, "fetched").stat().st_mtime, shard
        return 0.0, shard  # half a shard, or somebody else's

    def removed(self, shard: int) -> bool:
        """Whether a shard could be removed: nobody reads it, and a cache has brought it."""
        fetched = self.file(shard, "fetched")
        if self.file(shard, "bin").exists() and not fetched.exists():
            return False
        lock = NodeLock(self.file(shard, "lock"))
        try:
            if not lock.alone():
                return False
            for ending in ("bin", "idx", "bin.part", "idx.part", "fetched"):
                self.file(shard, ending).unlink(missing_ok=True)
            return True
        finally:
            lock.close()
