"""Shards fetched to a local folder in the background, shared by all processes of a machine."""

import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corpusmill.reader.cache_folder import CacheFolder
from corpusmill.reader.cached_file import cached_file
from corpusmill.reader.downloads import Remote, download
from corpusmill.reader.manifest import Shards
from corpusmill.reader.node_locks import NodeLock
from corpusmill.reader.patience import SAY_SECONDS, Patience, Say, StoppedError
from corpusmill.reader.stores import Store

ASK_AGAIN_SECONDS = 0.1  # interval for checking on another process


class Cache:
    """The shelf of a split that is fetched.

    kept: most shards to keep; None: all. A thread fetches shards one by one, in the order of use.
    """

    def __init__(
        self,
        store: Store,
        folder: Path,
        shards: Shards,
        itemsize: int,
        kept: int | None,
        patience: Patience,
        say: Say,
    ) -> None:
        self.kept = kept
        self._store = store
        self._shards = shards
        self._there = CacheFolder(folder, shards, itemsize)
        self._patience = patience
        self._say = say
        self._begin()

    def _begin(self) -> None:
        """Initialize as in a new process. A forked one has no thread and no lock."""
        self._process = os.getpid()
        self._changed = threading.Condition()
        self._held: dict[int, NodeLock] = {}
        self._wanted: list[int] = []
        self._fault: Exception | None = None
        self._doing = ""
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def __getstate__(self) -> dict[str, Any]:
        given = {"kept", "_store", "_shards", "_there", "_patience", "_say"}
        return {key: value for key, value in vars(self).items() if key in given}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._begin()

    def path(self, shard: int) -> Path:
        if self._process != os.getpid():
            self._begin()
        if not (shard in self._held and self._there.is_whole(shard)):
            self._drop({shard})
            others = list(self._held)
            if self.kept is not None:
                others = others[max(0, len(others) - self.kept + 1) :]
            self.expect([*others, shard], [])
        return self._there.file(shard, "bin")

    def other(self, file: Remote) -> Path:
        return cached_file(self._store, self._there.folder, file, self._patience, self._say)

    def expect(self, now: Sequence[int], soon: Sequence[int]) -> None:
        if self._process != os.getpid():
            self._begin()
        with self._changed:
            self._wanted = list(dict.fromkeys([*now, *soon]))
            self._drop(set(self._held) - set(self._wanted))
            if self._thread is None and not set(self._wanted) <= set(self._held):
                self._fault = None
                self._thread = threading.Thread(target=self._fetch, name="corpusmill", daemon=True)
                self._thread.start()
            self._wait_for(set(now))

    def close(self) -> None:
        """Release what this process holds. Partly fetched shards stay for the next attempt."""
        self._stopped.set()
        if thread := self._thread:
            thread.join()
        self._drop(set(self._held))
        self._begin()

    def _drop(self, shards: set[int]) -> None:
        for shard in shards & set(self._held):
            self._held.pop(shard).close()

    def _wait_for(self, now: set[int]) -> None:
        """Wait until the thread has all of them; report the activity every two seconds."""
        said = time.monotonic()
        while now - set(self._held):
            if self._fault:
                raise self._fault
            self._changed.wait(SAY_SECONDS / 4)
            if time.monotonic() - said > SAY_SECONDS * 3 / 4:
                said = time.monotonic()
                self._say(f"waiting for {self._doing}")

    # In the thread.

    def _fetch(self) -> None:
        """Fetch missing shards in order until none is missing."""
        while True:
            with self._changed:
                missing = [shard for shard in self._wanted if shard not in self._held]
                if not missing or self._stopped.is_set():
                    self._thread = None
                    return
                self._doing = self._shards.name(missing[0], "bin")
            try:
                lock = self._obtained(missing[0])
            except StoppedError:
                continue
            except Exception as fault:  # raised by the process that waits for the shard
                self._say(str(fault))
                with self._changed:
                    self._fault, self._thread = fault, None
                    self._changed.notify_all()
                return
            with self._changed:
                if self.kept is None or missing[0] not in self._wanted:
                    lock.close()  # otherwise 10,000 locks would be 10,000 open files
                if missing[0] in self._wanted:
                    self._held[missing[0]] = lock
                self._changed.notify_all()

    def _obtained(self, shard: int) -> NodeLock:
        """Return a shared lock on a shard. Fetch the shard unless another process does."""
        self._there.folder.mkdir(parents=True, exist_ok=True)
        lock = NodeLock(self._there.file(shard, "lock"))
        try:
            # Checked before sharing: if eight processes shared a missing shard to check it, none
            # could get the exclusive lock.
            while not (
                self._there.is_whole(shard) and lock.shared() and self._there.is_whole(shard)
            ):
                if not lock.alone():
                    self._wait_a_little(f"{self._there.so_far(shard)}, by another process")
                elif not self._there.is_whole(shard):
                    self._there.refuse_strangers(shard)
                    self._make_room(shard)
                    self._there.refuse_a_full_disk(shard)
                    self._bring(shard)
        except BaseException:
            lock.close()
            raise
        return lock

    def _bring(self, shard: int) -> None:
        for ending in ("idx", "bin"):
            file = self._there.remote(shard, ending)
            final, part = self._there.file(shard, ending), self._there.file(shard, f"{ending}.part")
            download(self._store, file, part, self._patience, self._tell, self._stopped)
            self._there.file(shard, "fetched").touch()
            os.replace(part, final)

    def _make_room(self, shard: int) -> None:
        """Remove shards that are not in use until one more fits, and reserve its place."""
        if self.kept is None:
            return
        lock = NodeLock(self._there.folder / "room.lock")
        try:
            while not (lock.alone() and self._there.has_room(shard, self.kept, self._wanted)):
                lock.free()
                self._wait_a_little(
                    f"space in the cache for {self._shards.name(shard, 'bin')}: all "
                    f"{self.kept} cached shards are in use"
                )
            # The next process that counts includes it.
            self._there.file(shard, "bin.part").touch()
        finally:
            lock.close()

    def _tell(self, line: str) -> None:
        self._doing = line

    def _wait_a_little(self, line: str) -> None:
        self._doing = line
        if self._stopped.wait(ASK_AGAIN_SECONDS):
            raise StoppedError
