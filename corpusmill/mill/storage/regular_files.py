"""Open regular files only: reading a FIFO may block, and a device may have no end.

Uses only the standard library, as `stream` must.
"""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

KINDS = {
    stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket", stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device", stat.S_IFBLK: "a device",
}  # fmt: skip


class NotRegularError(OSError, ValueError):
    """Raised for a path that is not a regular file."""


def fault_of_kind(path: Path | str) -> str | None:
    """Return what is wrong with a path that is not a regular file; None if it is one. Opens
    nothing."""
    try:
        regular_state(path)
    except NotRegularError as error:
        return str(error)
    except FileNotFoundError:
        if not os.path.islink(path):
            raise
        return str(_other(path, "a symlink that leads to no file"))
    return None


def regular_state(path: Path | str) -> os.stat_result:
    """Return `os.stat` of a file; NotRegularError if it is not a regular file."""
    try:
        state = os.stat(path)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise _other(path, "a symlink that leads in a circle") from None
    _refuse_irregular(path, state)
    return state


def open_regular(path: Path | str) -> BufferedReader:
    """Open a file for reading; NotRegularError, without blocking, if it is not a regular file."""
    regular_state(path)  # check first: opening some devices has effects
    file = open(path, "rb", opener=_without_waiting)  # noqa: SIM115 - the caller closes it
    try:
        _refuse_irregular(path, os.fstat(file.fileno()))
    except NotRegularError:
        file.close()
        raise
    return file


def _without_waiting(path: str, flags: int) -> int:
    """Open without blocking on a FIFO that has replaced the file since the check."""
    return os.open(path, flags | os.O_NONBLOCK)


def _refuse_irregular(path: Path | str, state: os.stat_result) -> None:
    if not stat.S_ISREG(state.st_mode):
        raise _other(path, KINDS.get(stat.S_IFMT(state.st_mode), "something else"))


def _other(path: Path | str, found: str) -> NotRegularError:
    return NotRegularError(
        f"{path}: expected a regular file, found {found}. Replace it with a file, or remove it."
    )
