"""Regular files and nothing else: a FIFO keeps its reader waiting, and a device has no end."""

import errno
import os
import stat
from pathlib import Path
from typing import IO

KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}


def fault_of_kind(path: Path | str) -> str | None:
    """What is wrong with a file that is not a regular one; None if it is. Opens nothing."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        if not os.path.islink(path):
            raise
        loops = error.errno == errno.ELOOP
        return _fault(path, f"a symlink that leads {'in a circle' if loops else 'to no file'}")
    return None if stat.S_ISREG(mode) else _fault(path, _kind(mode))


def open_regular(path: Path | str) -> IO[bytes]:
    """Open a file for reading; raises ValueError, and never waits, if it is not a regular one."""
    # Without O_NONBLOCK, opening a FIFO waits for somebody who writes.
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(file).st_mode
    if not stat.S_ISREG(mode):
        os.close(file)
        raise ValueError(_fault(path, _kind(mode)))
    return open(file, "rb")


def _kind(mode: int) -> str:
    return KINDS.get(stat.S_IFMT(mode), "another kind")


def _fault(path: Path | str, found: str) -> str:
    return (
        f"{path}: expected a regular file, found {found}. Put a file in its place, or take it away."
    )
