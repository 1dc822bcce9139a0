"""Where a corpus lies: listed, asked for a size, read. Another kind of place is one more class."""

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from corpusmill.stream.http_store import HttpStore
from corpusmill.stream.patience import Patience, Say, wait
from corpusmill.stream.stores import Folder, MissingError, PassingError
from corpusmill.verification.findings import NoCorpusError, UnreachableError
from corpusmill.verification.kinds import MANIFEST


class Place(Protocol):
    """Files by their names below the results folder, as `tokens/train/00000.bin`."""

    def where(self, name: str) -> str:
        """The file as people call it: a path or an address."""

    def names(self, folder: str) -> list[str] | None:
        """The files that lie in a folder, not in those below; None if the place cannot list."""

    def size(self, name: str) -> int | None:
        """Its bytes; None if only reading tells. MissingError if it is not there."""

    def blocks(self, name: str, start: int = 0) -> Iterator[bytes]:
        """Its bytes from `start` on. MissingError if it is not there, UnreachableError if it may
        not be read or nobody answers, OSError if a disk fails."""


class LocalPlace:
    """A folder of this machine, or of a file system that it shares."""

    def __init__(self, folder: Path) -> None:
        self._store = Folder(folder)
        self.folder = folder

    def where(self, name: str) -> str:
        return self._store.where(name)

    def names(self, folder: str) -> list[str]:
        try:
            with os.scandir(self.folder / folder) as found:
                return sorted(entry.name for entry in found if entry.is_file())
        except FileNotFoundError:
            return []

    def size(self, name: str) -> int | None:
        self._store.check(name)
        return (self.folder / name).stat().st_size

    def blocks(self, name: str, start: int = 0) -> Iterator[bytes]:
        try:
            yield from self._store.blocks(name, start)
        except PermissionError as error:
            raise UnreachableError(f"{self.where(name)}: may not be read") from error


class HttpPlace:
    """Files behind a server, which lists none and says a size when it sends a file."""

    def __init__(self, store: HttpStore, say: Say, patience: Patience) -> None:
        self._store, self._say, self._patience = store, say, patience

    def where(self, name: str) -> str:
        return self._store.where(name)

    def names(self, folder: str) -> None:
        return None

    def size(self, name: str) -> None:
        return None

    def blocks(self, name: str, start: int = 0) -> Iterator[bytes]:
        """On from where a connection broke off, until nothing comes so many times in a row."""
        failures = 0
        while True:
            try:
                for block in self._store.blocks(name, start):
                    start, failures = start + len(block), 0
                    yield block
                return
            except PassingError as fault:
                failures += 1
                if failures == self._patience.attempts:
                    raise UnreachableError(f"{fault}, {failures} times in a row") from None
                wait(self._patience.seconds(failures), f"{fault}; trying again", self._say)
            except MissingError:
                raise
            except ValueError as error:
                raise UnreachableError(str(error)) from error


def place_of(address: str, say: Say, patience: Patience = Patience()) -> Place:  # noqa: B008
    """address: a results folder or the URL of one, or its manifest.json."""
    if address.startswith(("http://", "https://")):
        return HttpPlace(HttpStore(address.removesuffix(f"/{MANIFEST}")), say, patience)
    if "://" in address:
        kind = address.partition("://")[0]
        raise NoCorpusError(
            f"{address}: expected a folder or an address of http or https, found {kind}. Copy or "
            "mount the corpus, and name the folder."
        )
    path = Path(address)
    return LocalPlace(path.parent if path.name == MANIFEST else path)


class PlaceFile(io.RawIOBase):
    """A file of a place, read here and there, as Parquet is; to read on is no new start."""

    def __init__(self, place: Place, name: str, size: int) -> None:
        """size: as the manifest has it."""
        super().__init__()
        self._place, self._name, self._size = place, name, size
        self._blocks: Iterator[bytes] = iter(())
        self._held = memoryview(b"")
        self._at = 0  # where what is held begins
        self._position = 0
        self._started = False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, place: int, whence: int = os.SEEK_SET) -> int:
        begin = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = begin + place
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        left = self._size - self._position
        wanted = left if size is None or size < 0 else min(size, left)
        pieces = []
        while wanted > 0 and (piece := self._next(wanted)):
            pieces.append(piece)
            wanted -= len(piece)
            self._position += len(piece)
        return b"".join(pieces)

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _next(self, most: int) -> bytes:
        """Some of the bytes at the position; none at the end of the file."""
        offset = self._position - self._at
        if not self._started or offset < 0 or offset > len(self._held):
            self._blocks = self._place.blocks(self._name, self._position)
            self._started, self._held, self._at, offset = True, memoryview(b""), self._position, 0
        if offset == len(self._held):
            self._at += len(self._held)
            self._held, offset = memoryview(next(self._blocks, b"")), 0
        return bytes(self._held[offset : offset + most])


def whole(place: Place, name: str) -> bytes:
    """The content of a small file."""
    return b"".join(place.blocks(name))
