"""The folder of an export. Files appear only when complete, and a resumed export keeps them."""

import contextlib
import glob
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from corpusmill.messages.progress import Progress
from corpusmill.mill.storage.files import replacing, sync
from corpusmill.mill.storage.untrusted import whole_file

DEFAULT = Path("exports")
"""Default folder of exports."""

MADE = ".export-made.txt"
"""Names of the files that an unfinished export has begun, one per line."""

LONGEST_NAME = 200
"""Maximum length, in characters, of the name of an export's file."""


class Target:
    """The folder of an export. names: its files in the order in which they were made."""

    def __init__(self, folder: Path, progress: Progress) -> None:
        self.folder = folder
        self.progress = progress
        self.names: list[str] = []

    def wants(self, name: str, bytes_read: int = 0) -> bool:
        """Say whether a file has to be made. An existing one was made from the same corpus.

        bytes_read: of token shards, for the progress.
        """
        self.names.append(name)
        self.progress.advance(bytes_read)
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            return False
        with open(self.folder / MADE, "a", encoding="utf-8") as made:
            made.write(f"{name}\n")
        return True

    @contextlib.contextmanager
    def path(self, name: str) -> Iterator[Path]:
        """Yield a temporary path; the file gets its name when the block succeeds."""
        with replacing(self.folder / name) as temporary:
            yield temporary

    @contextlib.contextmanager
    def file(self, name: str) -> Iterator[IO[bytes]]:
        with self.path(name) as path, open(path, "wb") as file:
            yield file

    def write(self, name: str, content: bytes) -> None:
        """Write a small file, unless it exists."""
        if self.wants(name):
            with self.file(name) as file:
                file.write(content)

    def same(self, name: str, source: Path) -> None:
        """Add a file with the bytes of `source`: a hard link, or a copy where hard links are
        impossible."""
        with self.path(name) as path:
            try:
                os.link(source, path)
            except OSError:
                shutil.copyfile(source, path)
        sync((self.folder / name).parent)


def refuse_links(folder: Path, results: Path) -> None:
    """Raise ValueError if the folder is or contains a symlink or a special file. If the user named
    a folder outside the results, that folder itself may be a symlink."""
    chosen = next((root for root in (results, DEFAULT.parent) if root in folder.parents), folder)
    if chosen == DEFAULT.parent and folder.parent != DEFAULT:
        chosen = folder
    inner = [folder, *folder.parents]
    ours = inner[: inner.index(chosen)]
    for path in (*reversed(ours), *(folder.rglob("*") if folder.is_dir() else ())):
        is_link = path.is_symlink()
        if is_link or not (path.is_dir() or path.is_file() or not path.exists()):
            raise ValueError(
                f"{path}: expected a folder or a file of an export, found "
                f"{'a symlink' if is_link else 'something else'}. Exports do not "
                "write through such a path: remove it, or name a different folder with --to."
            )


def remove_made(folder: Path) -> None:
    """Remove the files of an unfinished export, and folders that are then empty."""
    root = folder.resolve()
    for name in whole_file(folder / MADE).decode("utf-8", "surrogateescape").splitlines():
        path = folder / name
        if len(name) > LONGEST_NAME or "\0" in name:
            raise ValueError(
                f"{folder / MADE}: expected names of files, found others. Remove the folder."
            )
        inside = path.parent.resolve()
        # The list comes from the disk: paths out of the folder are not ours.
        if inside == root or root in inside.parents:
            for file in (path, *inside.glob(f".{glob.escape(path.name)}~*")):
                if file.is_file() and not file.is_symlink():
                    file.unlink()
            while inside != root and inside.is_dir() and not any(inside.iterdir()):
                inside.rmdir()
                inside = inside.parent
    os.truncate(folder / MADE, 0)
