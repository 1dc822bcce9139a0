"""Regular files and nothing else: a FIFO keeps its reader waiting, and a device has no end.

Needs nothing but Python, as `stream` has no more.
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
    """Something else lies where a file should."""


def fault_of_kind(path: Path | str) -> str | None:
    """What is wrong with a file that is not a regular one; None if it is. Opens nothing."""
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
    """`os.stat` of a file; NotRegularError for everything that is none."""
    try:
        state = os.stat(path)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise _other(path, "a symlink that leads in a circle") from None
    _refuse_irregular(path, state)
    return state


def open_regular(path: Path | str) -> BufferedReader:
    """A file, open for reading; NotRegularError, without waiting, for everything that is none."""
    regular_state(path)  # first: to open some devices does something
    file = open(path, "rb", opener=_without_waiting)  # noqa: SIM115 - the caller closes it
    try:
        _refuse_irregular(path, os.fstat(file.fileno()))
    except NotRegularError:
        file.close()
        raise
    return file


def _without_waiting(path: str, flags: int) -> int:
    """A FIFO that came meanwhile has no writer, and would be waited for."""
    return os.open(path, flags | os.O_NONBLOCK)


def _refuse_irregular(path: Path | str, state: os.stat_result) -> None:
    if not stat.S_ISREG(state.st_mode):
        raise _other(path, KINDS.get(stat.S_IFMT(state.st_mode), "something else"))


def _other(path: Path | str, found: str) -> NotRegularError:
    return NotRegularError(
        f"{path}: expected a regular file, found {found}. Put a file in its place, or remove it."
    )
