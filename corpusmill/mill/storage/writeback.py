"""Start the transfer of written bytes to the disk, so that a later fsync has little left to do."""

import ctypes
from typing import IO, Any

SYNC_FILE_RANGE_WRITE = 2
"""A flag of Linux: start the transfer, and do not wait for it."""


def _found() -> Any:
    """Return Linux's sync_file_range; None on other systems."""
    function = getattr(ctypes.CDLL(None), "sync_file_range", None)
    if function:
        function.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)
    return function


_sync_file_range = _found()


def start_transfer(file: IO[bytes], start: int, stop: int) -> None:
    """Start to transfer bytes of a file to the disk, if the system can do this.

    Errors are left to fsync, which reports them.
    """
    if _sync_file_range:
        file.flush()
        _sync_file_range(file.fileno(), start, stop - start, SYNC_FILE_RANGE_WRITE)
