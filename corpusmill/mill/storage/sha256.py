"""SHA-256 of files. Uses only the standard library, as training code must."""

import hashlib
from pathlib import Path
from typing import IO, Any

from corpusmill.mill.storage.regular_files import open_regular


def file_sha256(path: Path) -> str:
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class DigestingFile:
    """A binary file being written that counts its bytes and computes its SHA-256."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._sha256 = hashlib.sha256()
        self.bytes = 0

    def write(self, block: Any) -> int:
        size = memoryview(block).nbytes
        self._file.write(block)
        self._sha256.update(block)
        self.bytes += size
        return size

    def flush(self) -> None:
        self._file.flush()

    @property
    def sha256(self) -> str:
        return self._sha256.hexdigest()
