"""Checksums of files by block. Writers store them beside the file, and readers verify what they
read.

They include the recipe by which the file was made. The sums of `text/00001.arrow` are in
`text/.00001.arrow.sums`, so that file formats stay standard. docs/internals/files.md describes them
byte by byte.
"""

import hashlib
import mmap
import os
import struct
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import xxhash

from corpusmill.mill.storage.recipes import NO_RECIPE, Digest, followed
from corpusmill.mill.storage.regular_files import open_regular
from corpusmill.mill.storage.untrusted import whole_file
from corpusmill.mill.storage.writeback import start_transfer

BLOCK_BYTES = 1 << 15
"""Bytes per checksum. Even for a single row, this many bytes are read and checked."""

MAGIC = b"millsum2"
_HEADER = struct.Struct("<8s32s16sQI")
_ONE = struct.Struct("<Q")
_WORD = (1 << 64) - 1

SUMS = ".sums"

SMALL_BYTES = 1 << 20
"""Files up to this size are read at once; larger ones are memory-mapped."""

TRANSFER_BYTES = 8 << 20
"""Minimum number of written bytes whose transfer to the disk to start at once. If the disk got all
of them at the end, the job would wait for it."""


class DamagedError(ValueError):
    """Raised for a file between jobs that is not as written."""

    def __init__(self, path: Path, what: str, remove: str = "the file") -> None:
        super().__init__(f"{path}: {what}: remove {remove} and run again to rebuild it")
        self.path, self.what = path, what


class Sums(NamedTuple):
    """The recorded name, size and checksums of a file."""

    name: str
    """Path relative to results. It is unique."""
    bytes: int
    of_blocks: array
    """uint64 (blocks,): one checksum per block of BLOCK_BYTES; the last block may be shorter."""
    sha256: str | None
    """SHA-256 of the file, if the user keeps it; else None."""
    recipe: Digest = NO_RECIPE
    """The recipe by which the file was made."""

    @property
    def digest(self) -> str:
        """A digest of the content."""
        return xxhash.xxh3_128_hexdigest(self.of_blocks.tobytes(), seed=self.bytes)


def sums_path(path: Path) -> Path:
    return path.with_name(f".{path.name}{SUMS}")


def summed_path(sums: Path) -> Path:
    """Return the file that these sums are for."""
    return sums.with_name(sums.name.removeprefix(".").removesuffix(SUMS))


def name_of(path: Path) -> str:
    """Return the path of a file relative to the folder `results`, or the last two parts of its
    path."""
    parts = Path(path).absolute().parts
    above = [place for place, part in enumerate(parts) if part == "results"]
    return "/".join(parts[above[-1] + 1 :] if above else parts[-2:])


class _BlockSum:
    """A checksum of a file's blocks. It depends on name, position and content."""

    def __init__(self, name: str) -> None:
        self._seed = xxhash.xxh3_64_intdigest(name.encode())

    def seed(self, number: int) -> int:
        return self._seed + number & _WORD

    def __call__(self, number: int, block: Any) -> int:
        return xxhash.xxh3_64_intdigest(block, self.seed(number))


class SummedFile:
    """A binary file being written that computes the sums of its data."""

    def __init__(self, file: IO[bytes], name: str, kept: bool) -> None:
        """kept: the user keeps the file, so compute its SHA-256 too."""
        self._file, self._name = file, name
        self._sum_of = _BlockSum(name)
        self._of_blocks = array("Q")
        self._open = xxhash.xxh3_64(seed=self._sum_of.seed(0))
        self._held = 0  # bytes of the open block
        self._sha256 = hashlib.sha256() if kept else None
        self.bytes = 0
        self._on_its_way = 0  # bytes whose transfer to the disk has begun

    def write(self, data: Any) -> int:
        view = memoryview(data)
        if not view.nbytes:
            return 0
        view = view.cast("B")
        self._file.write(view)
        if self._sha256:
            self._sha256.update(view)
        self.bytes += view.nbytes
        if self.bytes - self._on_its_way >= TRANSFER_BYTES:
            start_transfer(self._file, self._on_its_way, self.bytes)
            self._on_its_way = self.bytes
        place = 0
        while place < view.nbytes:
            piece = view[place : place + BLOCK_BYTES - self._held]
            self._open.update(piece)
            self._held += piece.nbytes
            place += piece.nbytes
            if self._held == BLOCK_BYTES:
                self._close_block()
        return view.nbytes

    def _close_block(self) -> None:
        self._of_blocks.append(self._open.intdigest())
        self._open = xxhash.xxh3_64(seed=self._sum_of.seed(len(self._of_blocks)))
        self._held = 0

    def tell(self) -> int:
        return self.bytes

    def flush(self) -> None:
        self._file.flush()

    @property
    def closed(self) -> bool:
        return self._file.closed

    @property
    def sha256(self) -> str:
        assert self._sha256, f"{self._name} is not kept"
        return self._sha256.hexdigest()

    def finished(self) -> Sums:
        """Return the sums of all data written."""
        if self._held:
            self._close_block()
        sha256 = self._sha256.hexdigest() if self._sha256 else None
        recipe = followed(self._name) or NO_RECIPE
        return Sums(self._name, self.bytes, self._of_blocks, sha256, recipe)


def sums_of(path: Path, name: str) -> Sums:
    """Return the sums of a file on disk that something else wrote."""
    with open(os.devnull, "wb") as nowhere, open(path, "rb") as file:
        summed = SummedFile(nowhere, name, kept=True)
        while block := file.read(SMALL_BYTES):
            summed.write(block)
        return summed.finished()


def encoded(sums: Sums) -> bytes:
    """Return the stored form of sums. The last eight bytes are the sum of the others."""
    name = sums.name.encode()
    sha256 = bytes.fromhex(sums.sha256) if sums.sha256 else bytes(32)
    header = _HEADER.pack(MAGIC, sha256, sums.recipe, sums.bytes, len(name))
    content = header + name + sums.of_blocks.tobytes()
    return content + _ONE.pack(xxhash.xxh3_64_intdigest(content))


def _decoded(stored: bytes) -> Sums | None:
    """Return stored sums; None if they are damaged."""
    content, end = stored[: -_ONE.size], stored[-_ONE.size :]
    if len(content) < _HEADER.size or end != _ONE.pack(xxhash.xxh3_64_intdigest(content)):
        return None
    magic, sha256, recipe, size, name_bytes = _HEADER.unpack_from(content)
    if magic != MAGIC:
        return None
    try:
        of_blocks = array("Q", content[_HEADER.size + name_bytes :])
        name = content[_HEADER.size : _HEADER.size + name_bytes].decode()
    except ValueError:
        return None
    return Sums(name, size, of_blocks, sha256.hex() if any(sha256) else None, recipe)


def recipe_in(sums: Path | str) -> Digest | None:
    """Return the recipe in stored sums, without checking them: reading the file does that.

    None if there are no sums; empty bytes if they have another version.
    """
    try:
        file = os.open(sums, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        header = os.read(file, _HEADER.size)
    finally:
        os.close(file)
    known = len(header) == _HEADER.size and header.startswith(MAGIC)
    return _HEADER.unpack(header)[2] if known else b""


def load_sums(path: Path) -> Sums:
    """Load the sums of a file; DamagedError if they are missing, damaged or those of another
    file."""
    path = Path(path)
    beside = sums_path(path)
    try:
        stored = whole_file(beside)
    except FileNotFoundError as error:
        what = f"it cannot be verified, because its checksums in {beside} are missing"
        copied = "(when you copy results, copy hidden files too)"
        raise DamagedError(path, f"{what} {copied}") from error
    if (sums := _decoded(stored)) is None:
        other = stored[:7] == MAGIC[:7] and stored[7:8] != MAGIC[7:]
        what = "from another version of corpusmill" if other else "not what was written"
        raise DamagedError(path, f"its checksums in {beside} are {what}")
    if sums.name != name_of(path):
        what = f"expected the checksums of {name_of(path)}, found those of {sums.name}"
        raise DamagedError(path, what)
    expected = followed(sums.name)
    if expected not in (None, sums.recipe):
        told = f"expected recipe {expected.hex()[:12]}, found {sums.recipe.hex()[:12]}"
        what = f"made from other settings, code or inputs than those of this run ({told})"
        raise DamagedError(path, what)
    return sums


class _Expected:
    """The sums of a file, for checking its blocks."""

    def __init__(self, path: Path, found_bytes: int) -> None:
        self.path = path
        self._sums = load_sums(path)
        self._sum_of = _BlockSum(self._sums.name)
        if found_bytes != self._sums.bytes:
            raise DamagedError(
                path,
                f"expected {self._sums.bytes} bytes, found {found_bytes} (cut off or changed)",
            )

    @property
    def blocks(self) -> int:
        return len(self._sums.of_blocks)

    def check(self, number: int, block: Any) -> None:
        if self._sum_of(number, block) != self._sums.of_blocks[number]:
            raise DamagedError(
                self.path,
                f"block {number} differs from what was written (bit rot or a changed file)",
            )


class CheckedFile:
    """A file being read that returns only verified bytes.

    It can replace a Python file, for example in pyarrow.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            self._expected = _Expected(self.path, size)
            self.map = None
            if size > SMALL_BYTES:
                self.map = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
            self._data = memoryview(file.read() if self.map is None else self.map)
        self.size = self._data.nbytes
        self._seen = bytearray(self._expected.blocks)
        self._place = 0

    @property
    def unchecked(self) -> memoryview:
        """The bytes for callers that use `check` or `check_blocks` first."""
        return self._data

    def check(self, start: int, stop: int) -> None:
        """Raise DamagedError unless the bytes from start to before stop are as written."""
        if start < stop:
            self.check_blocks(range(start // BLOCK_BYTES, (stop - 1) // BLOCK_BYTES + 1))

    def check_blocks(self, numbers: Any) -> None:
        for number in numbers:
            if not self._seen[number]:
                start = number * BLOCK_BYTES
                self._expected.check(number, self._data[start : start + BLOCK_BYTES])
                self._seen[number] = 1

    def view(self, start: int, stop: int) -> memoryview:
        self.check(start, stop)
        return self._data[start:stop]

    # Methods of Python files.

    closed = False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, place: int, whence: int = os.SEEK_SET) -> int:
        begin = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self.size}[whence]
        self._place = begin + place
        return self._place

    def _next(self, size: int | None) -> memoryview:
        stop = self.size if size is None or size < 0 else min(self._place + size, self.size)
        found = self.view(self._place, stop)
        self._place += found.nbytes
        return found

    def read(self, size: int | None = -1) -> bytes:
        return bytes(self._next(size))

    def read_buffer(self, size: int | None = None) -> Any:
        """Return a buffer for pyarrow without copying."""
        import pyarrow as pa

        return pa.py_buffer(self._next(size))

    def close(self) -> None:
        """Do nothing: returned views may still be in use. The last one releases the map."""


def checked_blocks(path: Path, blocks: int = 8) -> Iterator[bytes]:
    """Yield the content of a file, `blocks` blocks at a time, each verified."""
    with open_regular(path) as file:
        expected = _Expected(Path(path), os.fstat(file.fileno()).st_size)
        number = 0
        while read := file.read(blocks * BLOCK_BYTES):
            view = memoryview(read)
            for start in range(0, len(read), BLOCK_BYTES):
                expected.check(number, view[start : start + BLOCK_BYTES])
                number += 1
            yield read


def checked_bytes(path: Path) -> bytes:
    """Return the verified content of a small file."""
    return b"".join(checked_blocks(path, SMALL_BYTES // BLOCK_BYTES))
