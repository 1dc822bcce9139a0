"""Files that appear whole or not at all, with their sums; their digests.

What crosses from one job to another is written by `writing` and what stands on it, and read by
readers that hold it against its sums. `replacing` is for the rest: what a user gave or is shown.
"""

import contextlib
import glob
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpusmill.messages.disk_errors import named
from corpusmill.mill.storage.regular_files import open_regular
from corpusmill.mill.storage.sums import (
    SUMS,
    DamagedError,
    SummedFile,
    checked_blocks,
    checked_bytes,
    encoded,
    load_sums,
    name_of,
    summed_path,
    sums_of,
    sums_path,
)
from corpusmill.mill.storage.untrusted import json_of

READ_BYTES = 1 << 20


@contextlib.contextmanager
def replacing(path: Path, shared: bool = False) -> Iterator[Path]:
    """A temporary name beside `path`, moved onto it when the block ends well.

    What an earlier, killed writer of the same file left behind is removed first; should that
    writer still be alive, its own move fails and it can harm nothing. shared: several may write
    this same content at once, as to a cache; then nobody's is removed.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not shared:
        for leftover in path.parent.glob(f".{glob.escape(path.name)}~*"):
            if leftover.is_symlink() or not leftover.is_dir():
                leftover.unlink(missing_ok=True)
    temporary = path.with_name(f".{path.name}~{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with named(path):
            yield temporary
            sync(temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def writing(path: Path, kept: bool = False) -> Iterator[SummedFile]:
    """A file to write to that appears with its sums when the block ends well.

    kept: it stays with the user, so that its SHA-256 is wanted too.
    """
    path = Path(path)
    with replacing(path) as temporary:
        with open(temporary, "wb") as raw:
            file = SummedFile(raw, name_of(path), kept)
            yield file
        # First: a file without sums is believed by nobody, sums without a file do no harm.
        with replacing(sums_path(path)) as beside:
            beside.write_bytes(encoded(file.finished()))


@contextlib.contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """A folder of another name beside `folder`, moved onto it when the block ends well, with the
    sums of its files; whoever reads them asks `check_folder` first."""
    folder = Path(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    for leftover in folder.parent.glob(f".{glob.escape(folder.name)}~*"):
        shutil.rmtree(leftover)
    temporary = folder.with_name(f".{folder.name}~{os.getpid()}-{secrets.token_hex(4)}")
    try:
        temporary.mkdir()
        with named(folder):
            yield temporary
        for path in sorted(path for path in temporary.rglob("*") if path.is_file()):
            # A library wrote it: what it meant to write is what lies there now.
            place = folder / path.relative_to(temporary)
            with replacing(sums_path(path)) as beside:
                beside.write_bytes(encoded(sums_of(path, name_of(place))))
            sync(path)
        sync(temporary)
        # Of a run that was killed in between, there is no folder: the next one makes it.
        if folder.exists():
            shutil.rmtree(folder)
        os.replace(temporary, folder)
        sync(folder.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def files_of_folder(folder: Path) -> list[Path]:
    """What `replacing_folder` was given to keep; DamagedError if one is gone or came later."""
    found = [path for path in Path(folder).rglob("*") if path.is_file()]
    # Snakemake keeps a note of its own in it.
    there = {path for path in found if path.name[0] != "."}
    summed = {summed_path(path) for path in found if path.name.endswith(SUMS)}
    for path in sorted(there ^ summed):
        raise DamagedError(path, "not there, or not as it was written", f"the folder {folder}")
    return sorted(there)


def check_folder(folder: Path) -> None:
    """Raise DamagedError unless the files of a folder are what was written."""
    for path in files_of_folder(folder):
        try:
            for _ in checked_blocks(path):
                pass
        except DamagedError as error:
            raise DamagedError(path, error.what, f"the folder {folder}") from error


def sync(path: Path) -> None:
    """Return when what is written to a file, or the names in a folder, outlast a power cut."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def save_text(path: Path, text: str, kept: bool = False) -> None:
    with writing(path, kept) as file:
        file.write(text.encode("utf-8"))


def load_text(path: Path) -> str:
    return checked_bytes(path).decode("utf-8")


def save_json(path: Path, value: Any, kept: bool = False) -> None:
    save_text(path, as_json(value), kept)


def load_json(path: Path) -> Any:
    return json_of(load_text(path), path)


def save_plain_json(path: Path, value: Any) -> None:
    """Without sums, for whoever is no later job of a run."""
    with replacing(path) as temporary:
        temporary.write_text(as_json(value), "utf-8")


def as_json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def own_digest(content: dict) -> str:
    """SHA-256 of an object as JSON without its member `sha256`, where it says this of itself."""
    others = {name: value for name, value in content.items() if name != "sha256"}
    return hashlib.sha256(as_json(others).encode("utf-8", "surrogatepass")).hexdigest()


def content_digest(path: Path) -> str:
    """Another one when the content of a file of ours is; by its sums, the file is not read."""
    return load_sums(path).digest


def stored_blocks(path: Path | str) -> Iterator[bytes]:
    """A file as it lies there."""
    with open_regular(path) as file:
        while block := file.read(READ_BYTES):
            yield block
