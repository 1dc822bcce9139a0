"""Error messages for files that cannot be read or written, with what to do about it."""

import contextlib
import errno
from collections.abc import Iterator
from pathlib import Path

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
GONE = {errno.ENOENT, errno.ENOTDIR}
LOST = {errno.EIO, errno.ESTALE, errno.ENODEV, errno.ENXIO, errno.EREMOTEIO, errno.ENOTCONN}


@contextlib.contextmanager
def named(path: Path) -> Iterator[None]:
    """Add this file's name to an OSError that has none, as errors of writes to open files do."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def in_words(error: OSError) -> str:
    """Return file, cause and remedy as one text; the plain error text for unknown errors."""
    file = error.filename
    if file is None or error.errno is None:
        return str(error)
    if error.errno in FULL:
        return (
            f"{file}: the disk or the quota is full ({error.strerror}). Free some space and run "
            "again: finished work is kept."
        )
    if error.errno in GONE:
        return (
            f"{file}: expected a file, found none. If the disk or folder is missing, restore it "
            "first. Then run again: files below results/ are rebuilt."
        )
    if error.errno in LOST:
        return (
            f"{file}: the disk of this file does not respond ({error.strerror}). Check that the "
            "disk is mounted and healthy, and run again."
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return (
            f"{file}: no permission to read or write this file ({error.strerror}). Change its "
            "permissions."
        )
    if error.errno == errno.ENAMETOOLONG:
        return (
            f"{str(file)[:100]}...: expected a path that the system can open, found one of "
            f"{len(str(file)):,} characters. Move the files to a folder with a shorter path."
        )
    return str(error)
