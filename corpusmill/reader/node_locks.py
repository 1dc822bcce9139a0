"""Locks among the processes of a node. The kernel gives back what a dead process held."""

import contextlib
import fcntl
import os
import weakref
from pathlib import Path

_OPEN: "weakref.WeakSet[NodeLock]" = weakref.WeakSet()


class NodeLock:
    """A lock that many may share, or one has alone. Locks of one file exclude each other in
    threads of a process too, as each opens the file for itself."""

    def __init__(self, path: Path) -> None:
        self._file: int | None = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        _OPEN.add(self)

    def shared(self) -> bool:
        """Whether it could be had, without waiting."""
        return self._had(fcntl.LOCK_SH)

    def alone(self) -> bool:
        # Two that share it and both want it alone would wait for each other.
        self.free()
        return self._had(fcntl.LOCK_EX)

    def free(self) -> None:
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def _had(self, kind: int) -> bool:
        assert self._file is not None
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(self._file, kind | fcntl.LOCK_NB)
            return True
        return False

    def close(self) -> None:
        """Give it back, for good."""
        self.free()
        self.forget()

    def forget(self) -> None:
        """Close the file alone, in a child: the lock is its parent's, and must not outlive it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    __del__ = close


def _forget_all() -> None:
    for lock in list(_OPEN):
        lock.forget()


os.register_at_fork(after_in_child=_forget_all)
