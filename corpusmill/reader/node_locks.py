"""Locks among the processes of a node. The kernel releases the locks of a dead process."""

import contextlib
import fcntl
import os
import weakref
from pathlib import Path

_OPEN: "weakref.WeakSet[NodeLock]" = weakref.WeakSet()


class NodeLock:
    """A lock that is shared or exclusive. It also works between threads, because each lock opens
    the file itself."""

    def __init__(self, path: Path) -> None:
        self._file: int | None = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        _OPEN.add(self)

    def shared(self) -> bool:
        """Acquire it shared without waiting. Say whether that succeeded."""
        return self._had(fcntl.LOCK_SH)

    def alone(self) -> bool:
        # Two that share it and both want it exclusively would wait for each other.
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
        """Release it for good."""
        self.free()
        self.forget()

    def forget(self) -> None:
        """Close only the file, in a forked child: the lock is the parent's and must not outlive
        it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    __del__ = close


def _forget_all() -> None:
    for lock in list(_OPEN):
        lock.forget()


os.register_at_fork(after_in_child=_forget_all)
