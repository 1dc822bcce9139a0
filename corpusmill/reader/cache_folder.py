"""The folder of a cache: its shards, their origin, and its limit.

{folder}/00003.bin, .idx    a shard, complete and verified
{folder}/00003.bin.part     a partial download; a later attempt continues it
{folder}/00003.fetched      marks a shard that a cache fetched and may remove
{folder}/00003.lock         shared: in use by a process; exclusive: fetched or removed
{folder}/{sha256}-pack-2048.npy   an index of packed rows, complete and verified; also .part, .lock
{folder}/room.lock          exclusive: held while shards are removed
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
    """The cached shards of one split, and the locks by which processes share them."""

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
        """Say whether a shard is present. One that no cache has fetched is verified once."""
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
        """Refuse to overwrite a file that no cache has fetched."""
        for ending in ("bin", "idx"):
            path = self.file(shard, ending)
            if path.exists() and not self.file(shard, "fetched").exists():
                raise ValueError(
                    f"{path}: expected no file, or {self._shards.name(shard, ending)} as "
                    "corpusmill downloaded it, found a different file. Move this file away."
                )

    def refuse_a_full_disk(self, shard: int) -> None:
        """Refuse to start a download that does not fit on the disk."""
        parts = [(self.remote(shard, ending).size, self.file(shard, f"{ending}.part"))
                 for ending in ("bin", "idx")]  # fmt: skip
        missing = sum(size - (part.stat().st_size if part.exists() else 0) for size, part in parts)
        if missing > (free := shutil.disk_usage(self.folder).free):
            raise OSError(
                f"{self.folder}: expected {missing} bytes of free space for "
                f"{self._shards.name(shard, 'bin')}, found {free}. Lower keep_shards or "
                "window_shards, or use a larger disk."
            )

    def so_far(self, shard: int) -> str:
        file = self.remote(shard, "bin")
        with contextlib.suppress(FileNotFoundError):
            came = self.file(shard, "bin.part").stat().st_size
            return f"{file.name}: {came / 1e6:,.0f} of {file.size / 1e6:,.0f} MB"
        return file.name

    def has_room(self, shard: int, kept: int, wanted: Container[int]) -> bool:
        """Remove unused shards, oldest first, until fewer than `kept` others are left, and say
        whether that succeeded. Wanted shards stay."""
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
        return 0.0, shard  # a partial shard, or a file of other software

    def removed(self, shard: int) -> bool:
        """Remove a shard if a cache fetched it and no process uses it. Say whether it was
        removed."""
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
