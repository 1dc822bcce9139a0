"""Files that appear whole or not at all, and their digests."""

import contextlib
import glob
import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

READ_BYTES = 1 << 20


@contextlib.contextmanager
def replacing(path: Path, shared: bool = False) -> Iterator[Path]:
    """A temporary name beside `path`, moved onto it when the block ends well.

    What an earlier, killed writer of the same file left behind is removed first; should that
    writer still be alive, its own move fails and it can harm nothing. shared: several may write
    this same content at once, as to a cache; then nobody's is removed.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not shared:
        for leftover in path.parent.glob(f".{glob.escape(path.name)}~*"):
            leftover.unlink(missing_ok=True)
    temporary = path.with_name(f".{path.name}~{os.getpid()}-{secrets.token_hex(4)}")
    try:
        yield temporary
        with open(temporary, "rb") as written:
            os.fsync(written.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def save_json(path: Path, value: Any) -> None:
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", "utf-8")


def load_json(path: Path) -> Any:
    return json.loads(Path(path).read_text("utf-8"))


def file_sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class DigestingFile:
    """A binary file being written that knows its size and SHA-256 when it is done."""

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
