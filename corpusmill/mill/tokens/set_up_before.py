"""Tokenizers that were set up before, in the user's cache folder.

Setting up a tokenizer means loading it with transformers and trying its encoders on probes. That
takes seconds and depends only on the tokenizer's files, the settings, this code and the versions of
the libraries. The name of an entry is a digest of all of these. An entry is one file: a SHA-256,
then the files of the folder. It is not used if its SHA-256 is wrong.
"""

import contextlib
import hashlib
import json
import logging
import os
import platform
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import msgspec

from corpusmill.kernels.cache import home
from corpusmill.mill.storage.files import files_of_folder, replacing, replacing_folder
from corpusmill.mill.storage.regular_files import open_regular
from corpusmill.mill.storage.sha256 import file_sha256

LIBRARIES = ("transformers", "tokenizers", "gigatoken", "sentencepiece", "tiktoken")
"""Libraries that load tokenizers. Transformers uses the last two if they are installed."""
MOST_ENTRIES = 8
"""Number of tokenizers to keep. That of Qwen3 takes 19 MB."""
MOST_BYTES = 1 << 27
"""Maximum size of a tokenizer to keep, in bytes."""
DIGEST_BYTES = hashlib.sha256().digest_size


class _Facts(msgspec.Struct):
    """The member of a tokenizer's corpusmill.json that is needed before a run."""

    vocabulary: int


def entries() -> Path:
    """Return the folder of the entries."""
    return home() / "tokenizers"


class Asked(NamedTuple):
    """The settings of a tokenizer that its kept files depend on."""

    end_of_text: str
    engine: str
    name: str
    """The name under which the run records the tokenizer."""


def entry_of(source: str, asked: Asked) -> Path | None:
    """Return the place of a tokenizer's entry; None if it should not have one.

    source: a folder, or the name of a tokenizer on a hub, which has no entry.
    """
    digest = hashlib.sha256()
    size = 0
    try:
        for path in sorted(Path(source).iterdir()):
            # Transformers may read other tokenizers in folders; a link may change its target.
            if path.is_symlink() or not path.is_file():
                return None
            size += path.stat().st_size
            if size > MOST_BYTES:
                return None
            digest.update(json.dumps([path.name, file_sha256(path)]).encode())
    except (OSError, ValueError):
        return None
    versions = [platform.python_version(), platform.machine(), *map(_version_of, LIBRARIES)]
    rooms = Path(__file__).parent.parent
    modules = [path for room in ("storage", "tokens") for path in (rooms / room).glob("*.py")]
    code = [file_sha256(path) for path in sorted(modules)]
    digest.update(json.dumps([asked._asdict(), versions, code], sort_keys=True).encode())
    return entries() / digest.hexdigest()


def _version_of(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None


def files_of(entry: Path) -> dict[str, bytes] | None:
    """Return the files of an entry by name; None if there is no such entry, or it is damaged."""
    try:
        with open_regular(entry) as file:
            stored = file.read(DIGEST_BYTES + 2 * MOST_BYTES)
    except OSError:
        return None
    content = memoryview(stored)[DIGEST_BYTES:]
    if hashlib.sha256(content).digest() != stored[:DIGEST_BYTES]:
        logging.warning("%s: damaged, so the tokenizer is set up again", entry)
        return None
    files = msgspec.msgpack.decode(content, type=dict[str, bytes])
    # A digest does not say who wrote the entry: nothing may be written outside the folder.
    plain = all(name not in ("", "..") and Path(name).name == name for name in files)
    return files if plain else None


def keep(folder: Path, entry: Path) -> None:
    """Keep the tokenizer in `folder` for later runs, and remove the oldest entries.

    If that fails, as in a read-only home, later runs set it up again.
    """
    content = msgspec.msgpack.encode(
        {path.name: path.read_bytes() for path in files_of_folder(folder)}
    )
    with contextlib.suppress(OSError):
        with replacing(entry, shared=True) as temporary:
            temporary.write_bytes(hashlib.sha256(content).digest() + content)
        for _, oldest in sorted(_by_age())[:-MOST_ENTRIES]:
            oldest.unlink()


def _by_age() -> Iterator[tuple[int, Path]]:
    for entry in entries().iterdir():
        with contextlib.suppress(OSError):  # another run has just removed it
            yield entry.stat().st_mtime_ns, entry


def vocabulary_of(source: str, asked: Asked) -> int | None:
    """Return the number of ids of a tokenizer that was set up before; None if it was not."""
    entry = entry_of(source, asked)
    files = files_of(entry) if entry else None
    return msgspec.json.decode(files["corpusmill.json"], type=_Facts).vocabulary if files else None


def set_up(source: str, folder: Path, asked: Asked, make: Callable[[], bool]) -> None:
    """Write `folder` from its entry if there is one; otherwise call `make`.

    make: writes the folder, and returns whether to keep it for later runs.
    """
    entry = entry_of(source, asked)
    if entry and (files := files_of(entry)):
        with replacing_folder(folder) as temporary:
            for name, content in files.items():
                (temporary / name).write_bytes(content)
        with contextlib.suppress(OSError):
            os.utime(entry)
        logging.info("the tokenizer was set up in an earlier run, and kept in %s", entry)
        return
    # A source that changed meanwhile must not be kept under its old digest.
    if make() and entry and entry == entry_of(source, asked):
        keep(folder, entry)
