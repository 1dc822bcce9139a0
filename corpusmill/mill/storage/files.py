"""Write files atomically with checksums, and compute digests.

`writing` and its users write the files that jobs exchange; their readers check the sums.
`replacing` is for all other files, such as those for users.
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
BARRIER = "complete.json"
"""Name of a file with the counts of all jobs of a stage."""


@contextlib.contextmanager
def replacing(path: Path, shared: bool = False) -> Iterator[Path]:
    """Yield a temporary path beside `path`, and move it onto `path` when the block succeeds.

    Leftovers of an earlier, killed writer are removed first. If that writer is still alive, its own
    move fails and does no harm. shared: several may write the same content at once, as to a cache;
    then nothing is removed.
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
    """Yield a file that appears with its sums when the block succeeds.

    kept: the user keeps the file, so compute its SHA-256 too.
    """
    path = Path(path)
    with replacing(path) as temporary:
        with open(temporary, "wb") as raw:
            file = SummedFile(raw, name_of(path), kept)
            yield file
        # Sums first: sums without a file do no harm, but a file without sums is rejected.
        with replacing(sums_path(path)) as beside:
            beside.write_bytes(encoded(file.finished()))


@contextlib.contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder beside `folder`, and move it onto `folder` when the block succeeds.

    Sums of its files are added; readers call `check_folder` first.
    """
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
            # Written by a library, so the sums are of what is on disk now.
            place = folder / path.relative_to(temporary)
            with replacing(sums_path(path)) as beside:
                beside.write_bytes(encoded(sums_of(path, name_of(place))))
            sync(path)
        sync(temporary)
        # If a run is killed in between, the folder is missing and the next run makes it.
        if folder.exists():
            shutil.rmtree(folder)
        os.replace(temporary, folder)
        sync(folder.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def files_of_folder(folder: Path) -> list[Path]:
    """Return the files of a `replacing_folder`; DamagedError if one is missing or was added."""
    found = [path for path in Path(folder).rglob("*") if path.is_file()]
    # Ignore Snakemake's own hidden file.
    there = {path for path in found if path.name[0] != "."}
    summed = {summed_path(path) for path in found if path.name.endswith(SUMS)}
    for path in sorted(there ^ summed):
        raise DamagedError(path, "missing, or not as it was written", f"the folder {folder}")
    return sorted(there)


def check_folder(folder: Path) -> None:
    """Raise DamagedError unless the files of a folder match their sums."""
    for path in files_of_folder(folder):
        try:
            for _ in checked_blocks(path):
                pass
        except DamagedError as error:
            raise DamagedError(path, error.what, f"the folder {folder}") from error


def sync(path: Path) -> None:
    """Flush a file, or the names in a folder, to disk."""
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


def load_listing(files: list[Path]) -> list[dict[str, Any]]:
    """Return the counts of every job of a stage. files: of these jobs, or only the barrier."""
    if [file.name for file in files] == [BARRIER]:
        return load_json(files[0])["parts"]
    return [load_json(file) for file in files]


def save_plain_json(path: Path, value: Any) -> None:
    """Save JSON without sums, for readers outside a run."""
    with replacing(path) as temporary:
        temporary.write_text(as_json(value), "utf-8")


def as_json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def own_digest(content: dict) -> str:
    """Return the SHA-256 of an object as JSON, without the member `sha256` that holds it."""
    others = {name: value for name, value in content.items() if name != "sha256"}
    return hashlib.sha256(as_json(others).encode("utf-8", "surrogatepass")).hexdigest()


def content_digest(path: Path) -> str:
    """Return a digest of the content from the file's sums, without reading the file."""
    return load_sums(path).digest


def stored_blocks(path: Path | str) -> Iterator[bytes]:
    """Yield the stored bytes of a file."""
    with open_regular(path) as file:
        while block := file.read(READ_BYTES):
            yield block
