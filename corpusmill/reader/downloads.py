"""Verified downloads of files from a store; a later attempt continues a partial one."""

import contextlib
import os
import stat
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import NamedTuple

from corpusmill.mill.storage.sha256 import file_sha256
from corpusmill.reader.patience import Attempts, Patience
from corpusmill.reader.stores import PassingError, Store

WRONG_TIMES = 3  # downloads of the whole file before giving up: then the store's file differs


class Remote(NamedTuple):
    """A file of a store, as the manifest lists it."""

    name: str
    size: int
    sha256: str


def download(
    store: Store,
    file: Remote,
    part: Path,
    patience: Patience,
    tell: Callable[[str], None],
    stopped: Event,
) -> None:
    """Download a file to `part`, which may contain its beginning, and verify it.

    tell: called with the progress, or with a fault before the next attempt.
    """
    for _ in range(WRONG_TIMES):
        _complete(store, file, part, patience, tell, stopped)
        found = file_sha256(part)
        if found == file.sha256:
            return
        # The old bytes may be of another file, or a byte changed on the way.
        tell(f"{file.name}: SHA-256 is {found}, expected {file.sha256}; downloading again")
        part.unlink()
    raise ValueError(
        f"{store.where(file.name)}: expected SHA-256 {file.sha256}, found {found}, {WRONG_TIMES} "
        "times. The file at this address is not the one in manifest.json: upload it again."
    )


def _complete(
    store: Store,
    file: Remote,
    part: Path,
    patience: Patience,
    tell: Callable[[str], None],
    stopped: Event,
) -> None:
    """Fetch the rest of a file, with as many attempts as needed."""
    attempts = Attempts(patience, tell, stopped, "The received bytes are kept: try again later.")
    while True:
        before = _present(part, file.size)
        try:
            _append(store, file, part, tell, attempts)
            return
        except PassingError as fault:
            attempts.failed(fault, came=_present(part, file.size) - before)


def _present(part: Path, size: int) -> int:
    """Return how many bytes of a file are present. A part that is too long is of another file and
    is removed."""
    with contextlib.suppress(FileNotFoundError):
        state = part.lstat()
        if not stat.S_ISREG(state.st_mode):
            raise ValueError(
                f"{part}: expected a partial download, found something else, perhaps a symlink. "
                "Move it away."
            )
        if (present := state.st_size) <= size:
            return present
        part.unlink()
    return 0


def _append(
    store: Store, file: Remote, part: Path, tell: Callable[[str], None], attempts: Attempts
) -> None:
    with open(part, "ab") as out:
        present = out.tell()
        for block in store.blocks(file.name, present, file.size):
            attempts.check()
            out.write(block)
            present += len(block)
            tell(f"{file.name}: {present / 1e6:,.0f} of {file.size / 1e6:,.0f} MB")
            if present > file.size:
                raise PassingError(
                    f"{store.where(file.name)}: received more than {file.size} bytes"
                )
        if present < file.size:
            raise PassingError(
                f"{store.where(file.name)}: received only {present} of {file.size} bytes"
            )
        out.flush()
        os.fsync(out.fileno())
