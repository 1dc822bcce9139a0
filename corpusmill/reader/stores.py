"""The interface of stores, which hold the files of a corpus, and stores for local folders."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from corpusmill.mill.storage.regular_files import open_regular, regular_state

BLOCK_BYTES = 1 << 20


class PassingError(Exception):
    """A temporary fault, such as a busy server or a broken connection."""


class SlowError(PassingError):
    """A server that sends nothing, or too slowly: each attempt takes half a minute."""


PASSING_STATUS = {408, 425, 429, 500, 502, 503, 504}
"""HTTP status codes of temporary faults."""


class MissingError(ValueError):
    """The file does not exist."""


class ForbiddenError(ValueError):
    """Access is denied. Some stores say so of missing files too."""


class Store(Protocol):
    """A place with files. It need not be able to list them."""

    def blocks(self, name: str, start: int = 0, size: int | None = None) -> Iterator[bytes]:
        """Yield the bytes of a file from `start` to its end.

        size: expected size of the whole file, if known. Raise `PassingError` for temporary faults,
        and ValueError for others, including a wrong size.
        """

    def where(self, name: str) -> str:
        """Return the file's path or address, for messages."""


class Folder:
    """A local folder, or one of a shared file system."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)

    def where(self, name: str) -> str:
        return str(self.folder / name)

    def check(self, name: str, size: int | None = None) -> None:
        check_file(self.folder / name, size)

    def blocks(self, name: str, start: int = 0, size: int | None = None) -> Iterator[bytes]:
        path = self.folder / name
        check_file(path, size)
        with open_regular(path) as file:
            file.seek(start)
            while block := file.read(BLOCK_BYTES):
                yield block


def check_file(path: Path, size: int | None) -> None:
    """Raise unless the file exists, is a regular file and has the expected size."""
    try:
        found = regular_state(path).st_size
    except FileNotFoundError:
        raise MissingError(
            f"{path}: no such file. Is the run finished, and did you copy all of its results?"
        ) from None
    if size is not None and found != size:
        raise ValueError(other_size(str(path), size, found))


def other_size(where: str, size: int, found: int) -> str:
    return (
        f"{where}: expected {size} bytes, as listed in manifest.json, found {found}. Copy "
        "this file and manifest.json again."
    )
