"""Input files as bytes and lines, packed or not; one that ends too early is an error."""

import functools
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple, Protocol

import zstandard

from corpusmill.storage.progress import Progress
from corpusmill.storage.sums import checked_blocks

BLOCK_BYTES = 1 << 18
MAX_WINDOW = 1 << 31  # what `zstd --long=31` writes, as large public dumps do


class Seen(Protocol):
    """Whoever is told all bytes of a file; a digest of hashlib for one."""

    def update(self, data: bytes, /) -> None:
        pass


def _stored_blocks(file: IO[bytes], progress: Progress, seen: Seen | None) -> Iterator[bytes]:
    while block := file.read(BLOCK_BYTES):
        if seen:
            seen.update(block)
        yield block
        progress.advance(len(block))


def _checked_blocks(path: Path, progress: Progress) -> Iterator[bytes]:
    for block in checked_blocks(path):
        yield block
        progress.advance(len(block))


def _not_empty(path: str, stored: Iterator[bytes]) -> Iterator[bytes]:
    """The same blocks; raises if there are none, as no compressed file is."""
    first = next(stored, None)
    if first is None:
        raise ValueError(f"{path}: no bytes at all, not even of an empty file. Fetch it again.")
    yield first
    yield from stored


class Packing(NamedTuple):
    """A compressed format: a file is one piece after another, each whole by itself."""

    name: str
    piece: str
    start: Callable  # makes what unpacks one piece
    error: type[Exception]
    padded: bool  # zeros after the last piece are allowed, as tape blocks have them


ZSTD = Packing(
    name="zstd",
    piece="frame",
    start=lambda: zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW).decompressobj(),
    error=zstandard.ZstdError,
    padded=False,
)
GZIP = Packing(
    name="gzip",
    piece="member",
    start=lambda: zlib.decompressobj(wbits=31),
    error=zlib.error,
    padded=True,
)


def _unpacked(packing: Packing, path: str, stored: Iterator[bytes]) -> Iterator[bytes]:
    """The content of all pieces; raises where one is damaged or cut off."""
    piece = None
    offset = 0
    for block in _not_empty(path, stored):
        while block:
            if piece is None:
                if packing.padded and not block.strip(b"\0"):
                    break
                piece = packing.start()
            try:
                yield piece.decompress(block)
            except packing.error as error:
                raise ValueError(
                    f"{path}: damaged {packing.name} data in the {BLOCK_BYTES} bytes from byte "
                    f"{offset} on ({error}). Fetch the file again."
                ) from error
            offset += len(block) - len(piece.unused_data)
            block = piece.unused_data
            if piece.eof:
                piece = None
    if piece is not None:
        raise ValueError(
            f"{path}: the {packing.name} stream is cut off at byte {offset}, inside a "
            f"{packing.piece}. Fetch the file again."
        )


def _plain_blocks(path: str, stored: Iterator[bytes]) -> Iterator[bytes]:
    yield from stored


_PACKED = {".zst": functools.partial(_unpacked, ZSTD), ".gz": functools.partial(_unpacked, GZIP)}


def lines_of(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The lines of a byte stream without their ends; a last line needs no end."""
    open_line: list[bytes] = []
    for block in blocks:
        first, *others = block.split(b"\n")
        open_line.append(first)
        if others:
            yield b"".join(open_line)
            yield from others[:-1]
            open_line = [others[-1]]
    if last := b"".join(open_line):
        yield last


def unpacked_by_name(path: str, stored: Iterator[bytes]) -> Iterator[bytes]:
    """The content of a file of this name, of whose bytes as they lie there we have the blocks."""
    return _PACKED.get(Path(path).suffix, _plain_blocks)(path, stored)


def read_blocks(path: str, progress: Progress, seen: Seen | None = None) -> Iterator[bytes]:
    """The content of a file, unpacked if it ends in .zst or .gz, every byte of it accounted for.

    seen: is told the bytes as they lie there.
    """
    with open(path, "rb") as file:
        yield from unpacked_by_name(path, _stored_blocks(file, progress, seen))


def read_lines(path: str, progress: Progress, seen: Seen | None = None) -> Iterator[bytes]:
    """The lines of such a file."""
    return lines_of(read_blocks(path, progress, seen))


def read_written_blocks(path: Path, progress: Progress) -> Iterator[bytes]:
    """The content of a file that an earlier job wrote, held against its sums."""
    return unpacked_by_name(str(path), _checked_blocks(path, progress))


def read_written_lines(path: Path, progress: Progress) -> Iterator[bytes]:
    return lines_of(read_written_blocks(path, progress))


def lines_within(
    path: str, start: int, end: int, progress: Progress
) -> Iterator[tuple[int, bytes]]:
    """(offset, line) of the lines of a plain file that begin from byte `start` to before `end`."""
    with open(path, "rb") as file:
        if start:
            file.seek(start - 1)
            file.readline()  # the end of the line before, its newline alone at the least
        offset = file.tell()
        while offset < end and (line := file.readline()):
            yield offset, line.removesuffix(b"\n")
            offset += len(line)
            progress.advance(len(line))
