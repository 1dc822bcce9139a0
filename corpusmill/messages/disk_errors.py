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
            f"{file}: expected room for it, found none ({error.strerror}). Make room on its disk, "
            "or raise the quota, and run again: what is finished stays."
        )
    if error.errno in GONE:
        return (
            f"{file}: expected a file, found none. Its disk or folder may be gone: bring it back "
            "and run again; one below results/ is made anew then."
        )
    if error.errno in LOST:
        return (
            f"{file}: expected a disk that answers, found none ({error.strerror}). See whether it "
            "is mounted and whole, and run again."
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{file}: may not be read or written ({error.strerror}). Change its permissions."
    return str(error)
