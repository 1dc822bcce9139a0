"""Places of a corpus, which list and read files. Another kind of place is another class."""

import io
import os
import posixpath
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

from corpusmill.messages.progress import awaiting
from corpusmill.mill.storage.regular_files import regular_state
from corpusmill.mill.storage.untrusted import joined
from corpusmill.reader.hub_addresses import is_hub
from corpusmill.reader.manifest import read_sealed
from corpusmill.reader.opening import latest_below, store_of
from corpusmill.reader.patience import Attempts, Patience, Say, patiently
from corpusmill.reader.s3.addresses import is_s3
from corpusmill.reader.s3.bucket import Bucket, Listed
from corpusmill.reader.s3_store import S3Store, faults_of_a_store
from corpusmill.reader.stores import (
    Folder,
    ForbiddenError,
    MissingError,
    PassingError,
    Store,
    check_file,
)
from corpusmill.tools.verify.findings import NoCorpusError, UnreachableError
from corpusmill.tools.verify.kinds import COPIED, EXPORT, LOCAL, MANIFEST, Advice, published_at

LeftOut = Callable[[str, str], None]
"""Called with the name of something that was not checked, and with the reason."""


class Place(ABC):
    """Files named below the results folder, such as `tokens/train/00000.bin`.

    A place that can list them replaces the methods that return None.
    """

    advice: Advice

    def __init__(self, store: Store) -> None:
        self._store = store

    def where(self, name: str) -> str:
        """Return the file's path or address, for messages."""
        return self._store.where(name)

    def names(self, folder: str) -> list[str] | None:
        """Return the files directly in a folder."""
        return None

    def folders(self, folder: str) -> list[str] | None:
        """Return the folders directly in a folder, without hidden ones."""
        return None

    def below(self, folder: str, left_out: LeftOut) -> Iterable[str] | None:
        """Yield all files below a folder. left_out: called for each folder that is skipped."""
        return None

    def size(self, name: str) -> int | None:
        """Return its bytes; None if only reading tells. Raise MissingError if it does not exist."""
        return None

    @abstractmethod
    def blocks(self, name: str, start: int = 0) -> Iterator[bytes]:
        """Yield its bytes from `start` on. Raise MissingError if it does not exist,
        UnreachableError if access is denied or the server does not answer, OSError if a disk
        fails."""


class LocalPlace(Place):
    """A local folder, or one of a shared file system."""

    advice = LOCAL

    def __init__(self, folder: Path) -> None:
        super().__init__(Folder(folder))
        self.folder = folder

    def names(self, folder: str) -> list[str]:
        return sorted(entry.name for entry in self._entries(folder) if not is_folder(entry))

    def folders(self, folder: str) -> list[str]:
        found = (entry.name for entry in self._entries(folder) if is_folder(entry))
        return sorted(name for name in found if name[0] != ".")

    def below(self, folder: str, left_out: LeftOut) -> Iterator[str]:
        """Yield each file once, even if several symlinks lead to its folder. Symlinks out of the
        place are not followed: they may lead anywhere on the machine."""
        top = os.path.realpath(self.folder)
        ahead, links, seen = [folder], list[str](), set[str]()
        while ahead or links:
            inner = ahead.pop() if ahead else links.pop(0)
            real = os.path.realpath(self.folder / inner)
            if real in seen:
                continue
            seen.add(real)
            if os.path.commonpath([top, real]) != top:
                left_out(inner, f"a link that leads out of {self.folder}; it is not followed")
                continue
            try:
                names, folders = self.names(inner), self.folders(inner)
            except UnreachableError as error:
                left_out(inner, str(error))
                continue
            yield from (posixpath.join(inner, name) for name in names)
            for name in reversed(folders):
                path = posixpath.join(inner, name)
                (links if os.path.islink(self.folder / path) else ahead).append(path)

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self.folder / folder) as found:
                return list(found)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            said = f"{self.where(folder)}: cannot be listed ({error.strerror})"
            raise UnreachableError(said) from error

    def size(self, name: str) -> int | None:
        check_file(self.folder / name, None)
        return regular_state(self.folder / name).st_size

    def blocks(self, name: str, start: int = 0) -> Iterator[bytes]:
        try:
            yield from self._store.blocks(name, start)
        except PermissionError as error:
            raise UnreachableError(
                f"{self.where(name)}: no permission to read this file"
            ) from error


def is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a circular symlink, which is reported when it is opened


class RemotePlace(Place):
    """Files on a server, which lists none and gives sizes only in responses."""

    advice = COPIED

    def __init__(self, store: Store, say: Say, patience: Patience) -> None:
        super().__init__(store)
        self._say, self._patience = say, patience

    def _next(self, blocks: Iterator[bytes], name: str) -> bytes:
        with awaiting(self.where(name)):
            return next(blocks, b"")

    def blocks(self, name: str, start: int = 0) -> Iterator[bytes]:
        """Yield the bytes, resuming after interruptions, until several attempts in a row bring
        nothing."""
        attempts = Attempts(self._patience, self._say)
        while True:
            before = start
            try:
                blocks = iter(self._store.blocks(name, start))
                while block := self._next(blocks, name):
                    start += len(block)
                    yield block
                return
            except PassingError as fault:
                try:
                    attempts.failed(fault, came=start - before)
                except OSError as error:
                    raise UnreachableError(str(error)) from None
            except MissingError:
                raise
            except ValueError as error:
                raise UnreachableError(str(error)) from error


class BucketPlace(RemotePlace):
    """Files in a bucket, listed once."""

    def __init__(self, store: S3Store, say: Say, patience: Patience) -> None:
        super().__init__(store, say, patience)
        self._folder = f"{store.folder}/"
        self.advice = published_at(store.where("").rstrip("/"))
        self._bucket = Bucket.of(store.connections)
        self._lock = Lock()

    @cached_property
    def _sizes(self) -> dict[str, int]:
        def listed() -> Listed:
            with faults_of_a_store(), awaiting(f"the list of {self.where('')}"):
                return self._bucket.listed(self._folder)

        try:
            found = patiently(listed, Attempts(self._patience, self._say))
        except (OSError, ValueError) as error:
            raise UnreachableError(str(error)) from error
        finally:
            self._bucket.connections.close()
        return {key.removeprefix(self._folder): size for key, size in found.sizes.items()}

    def names(self, folder: str) -> list[str]:
        return sorted(name for name in self._inside(folder) if "/" not in name)

    def folders(self, folder: str) -> list[str]:
        return sorted({name.partition("/")[0] for name in self._inside(folder) if "/" in name})

    def below(self, folder: str, left_out: LeftOut) -> list[str]:
        return sorted(posixpath.join(folder, name) for name in self._inside(folder))

    def _inside(self, folder: str) -> list[str]:
        prefix = f"{folder}/" if folder else ""
        with self._lock:
            return [name.removeprefix(prefix) for name in self._sizes if name.startswith(prefix)]

    def size(self, name: str) -> int:
        with self._lock:
            if name not in self._sizes:
                raise MissingError(f"{self.where(name)}: it is missing")
            return self._sizes[name]


HERE = Patience(slow_attempts=2)
"""Retries of interactive commands."""


def place_of(address: str, say: Say, patience: Patience = HERE) -> Place:
    """Return the place of an address: a results folder, an export, its URL, a publication, or the
    manifest.json or export.json in one of them."""
    if not (is_s3(address) or is_hub(address) or address.startswith(("http://", "https://"))):
        if "://" in address:
            kind = address.partition("://")[0]
            raise NoCorpusError(
                f"{address}: expected a folder, or an address of http, https, s3 or hf, found "
                f"{kind}. Copy or mount the corpus, and name the folder."
            )
        path = Path(address)
        return LocalPlace(path.parent if path.name in (MANIFEST, EXPORT) else path)
    try:
        with awaiting(address):
            store = published(store_of(address.removesuffix(f"/{EXPORT}")), patience, say)
    except (OSError, ValueError) as error:
        raise NoCorpusError(f"{error}") from error
    if isinstance(store, S3Store):
        return BucketPlace(store, say, patience)
    return RemotePlace(store, say, patience)


def published(store: Store, patience: Patience, say: Say) -> Store:
    """Return the store itself, or that of the latest version published there."""

    def first() -> None:
        next(iter(store.blocks(MANIFEST)), b"")

    try:
        patiently(first, Attempts(patience, say))
    except (MissingError, ForbiddenError) as missing:
        try:
            below, latest = latest_below(store, missing, patience, say)
        except (MissingError, ForbiddenError):
            return store  # it may be an export; otherwise that is reported later
        # If readers refuse it, it is not a corpus, whatever files it has.
        read_sealed(below, patience, say, latest.manifest_sha256)
        return below
    return store


class PlaceFile(io.RawIOBase):
    """A file of a place with random access, as Parquet needs it. Sequential reads continue one
    request."""

    def __init__(self, place: Place, name: str, size: int) -> None:
        """Open it. size: from the manifest."""
        super().__init__()
        self._place, self._name, self._size = place, name, size
        self._blocks: Iterator[bytes] = iter(())
        self._held = memoryview(b"")
        self._at = 0  # start of the buffer in the file
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
        """Return some bytes from the position on; none at the end of the file."""
        offset = self._position - self._at
        if not self._started or offset < 0 or offset > len(self._held):
            self._blocks = self._place.blocks(self._name, self._position)
            self._started, self._held, self._at, offset = True, memoryview(b""), self._position, 0
        if offset == len(self._held):
            self._at += len(self._held)
            self._held, offset = memoryview(next(self._blocks, b"")), 0
        return bytes(self._held[offset : offset + most])


def whole(place: Place, name: str) -> bytes:
    """Return the content of a small file."""
    return joined(place.blocks(name), place.where(name))
