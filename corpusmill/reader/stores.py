"""Where the files of a corpus lie. Another kind of place is a class with these two methods."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from corpusmill.mill.storage.regular_files import open_regular, regular_state

BLOCK_BYTES = 1 << 20


class PassingError(Exception):
    """What went wrong may go well the next time: a busy server, a broken connection."""


class SlowError(PassingError):
    """A server that sends nothing, or drop by drop: each attempt takes half a minute."""


PASSING_STATUS = {408, 425, 429, 500, 502, 503, 504}
"""HTTP's codes for asked too often, too slow, or out of order for a moment."""


class MissingError(ValueError):
    """There is no such file."""


class ForbiddenError(ValueError):
    """A file may not be read. Some stores say so of one that is not there."""


class Store(Protocol):
    """A place with files, of which nothing has to be listed."""

    def blocks(self, name: str, start: int = 0, size: int | None = None) -> Iterator[bytes]:
        """The bytes of a file from `start` on, to its end.

        size: how long the whole file has to be, if that is known. Raises `PassingError` for what
        may go well the next time, and ValueError for the rest, a file of another size among it.
        """

    def where(self, name: str) -> str:
        """The file as people call it: a path or an address."""


class Folder:
    """A folder of this machine or of a file system that it shares."""

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
    """Refuse what is not there, is no regular file, or is not as long as it has to be."""
    try:
        found = regular_state(path).st_size
    except FileNotFoundError:
        raise MissingError(
            f"{path}: no such file. Is the run finished, and copied whole?"
        ) from None
    if size is not None and found != size:
        raise ValueError(other_size(str(path), size, found))


def other_size(where: str, size: int, found: int) -> str:
    return (
        f"{where}: expected {size} bytes, as manifest.json says, found {found}. Copy it again, "
        "and manifest.json with it."
    )
