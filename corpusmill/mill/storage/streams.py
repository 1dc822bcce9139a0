"""Read input files as bytes and lines, compressed or not. A truncated file is an error."""

import itertools
import os
import sys
import zlib
from collections.abc import Callable, Container, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

import zstandard

from corpusmill.messages.disk_errors import named
from corpusmill.messages.progress import Progress
from corpusmill.mill.storage.regular_files import open_regular
from corpusmill.mill.storage.sums import checked_blocks
from corpusmill.mill.storage.zstd_frames import Pieces

BLOCK_BYTES = 1 << 18
PIECE_BYTES = 1 << 20
"""Approximate maximum of bytes unpacked at once, because a few bytes may unpack to gigabytes."""

MANY_PIECES = 10_000
LEAST_PIECE_BYTES = 16
"""Minimum average size of frames or members in a file that has more than MANY_PIECES of them.
Opening one takes as long as unpacking some thousand bytes."""


class ReadLimits(NamedTuple):
    """Limits for reading untrusted files."""

    line_bytes: int
    window_log: int
    """Largest zstd window, as a power of two. `zstd --long=31`, used for large public dumps, needs
    31."""
    read_bytes: int = sys.maxsize
    """Maximum number of bytes read, stored or unpacked, before ReadEnoughError is raised."""

    def for_a_look(self) -> "ReadLimits":
        """Return limits for reading one record of any size, so that checks of first records end."""
        return self._replace(read_bytes=self.line_bytes + LOOKED_BEYOND)


LOOKED_BEYOND = 8 << 20


MAX_WINDOW = 1 << 31

READ_LIMITS = ReadLimits(line_bytes=1 << 26, window_log=27)
"""The defaults, as in config.yaml."""


class ReadEnoughError(ValueError):
    """Raised when read_bytes are read and the file goes on."""

    def __init__(self, path: str, most: int) -> None:
        super().__init__(
            f"{path}: expected a record that ends within {most:,} bytes, found none. Correct the "
            "file, or leave it out of sources[].files."
        )


class Seen(Protocol):
    """A receiver of all bytes of a file, such as a digest of hashlib."""

    def update(self, data: bytes, /) -> None:
        pass


def _stored_blocks(path: str, file: IO[bytes], seen: Seen | None) -> Iterator[bytes]:
    if not os.fstat(file.fileno()).st_size:
        _refuse_content(path, file)
        return
    while block := file.read(BLOCK_BYTES):
        if seen:
            seen.update(block)
        yield block


def _refuse_content(path: str, file: IO[bytes]) -> None:
    """Raise ValueError if a file of size 0 has content: files of /proc may have no end."""
    found, cause = "some", None
    try:
        if not file.read(1):
            return
    except OSError as error:
        found, cause = f"an error ({error.strerror})", error
    raise ValueError(
        f"{path}: expected no content, as its size is 0 bytes, found {found}. This path is not a "
        "regular file on disk: list a copy of the file in sources[].files instead, or remove the "
        "path from sources[].files."
    ) from cause


def _bounded(path: str, blocks: Iterator[bytes], most: int) -> Iterator[bytes]:
    read = 0
    for block in blocks:
        yield block
        read += len(block)
        if read > most:
            raise ReadEnoughError(path, most)


def _told(blocks: Iterator[bytes], progress: Progress) -> Iterator[bytes]:
    for block in blocks:
        yield block
        progress.advance(len(block))


def _not_empty(path: str, stored: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the blocks; ValueError if there are none, because no compressed file is empty."""
    first = next(stored, None)
    if first is None:
        raise ValueError(f"{path}: expected compressed data, found an empty file. Fetch it again.")
    yield first
    yield from stored


class _Zstd:
    """A zstd frame. `_zstd_pieces` has cut the input so that each piece expands to little."""

    def __init__(self, packing: zstandard.ZstdDecompressor) -> None:
        self.piece = packing.decompressobj()

    def unpacked(self, block: bytes) -> Iterator[bytes]:
        yield self.piece.decompress(block)


def _zstd_frames() -> Callable[[], _Zstd]:
    # The windows of all frames are already checked. A new decompressor per frame would take forty
    # times as long as unpacking a small frame.
    return partial(_Zstd, zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW))


class _Gzip:
    """A gzip member."""

    def __init__(self) -> None:
        self.piece = zlib.decompressobj(wbits=31)

    def unpacked(self, block: bytes) -> Iterator[bytes]:
        while block:
            yield self.piece.decompress(block, PIECE_BYTES)
            # At the end, zlib keeps the old tail, and what follows is only in unused_data.
            block = b"" if self.piece.eof else self.piece.unconsumed_tail


class Packing(NamedTuple):
    """A compressed format. Files consist of independent pieces."""

    name: str
    piece: str
    opened: Callable[[], Callable[[], Any]]  # for a file, makes what unpacks one piece
    error: type[Exception]
    padded: bool  # whether zeros may follow the last piece, as in tape blocks


ZSTD = Packing(
    name="zstd", piece="frame", opened=_zstd_frames, error=zstandard.ZstdError, padded=False
)
GZIP = Packing(name="gzip", piece="member", opened=lambda: _Gzip, error=zlib.error, padded=True)


def _unpacked(
    packing: Packing, path: str, stored: Iterator[bytes], progress: Progress
) -> Iterator[bytes]:
    """Yield the content of all pieces; ValueError if one is damaged or truncated."""
    start, piece = packing.opened(), None
    offset = pieces = held = 0
    for block in _not_empty(path, stored):
        while block:
            if piece is None:
                if packing.padded and not block.strip(b"\0"):
                    progress.advance(len(block))
                    break
                if pieces >= MANY_PIECES and held < LEAST_PIECE_BYTES * pieces:
                    raise ValueError(
                        f"{path}: expected at least {LEAST_PIECE_BYTES} bytes per {packing.name} "
                        f"{packing.piece} on average, found {held:,} bytes in the first "
                        f"{pieces:,}. Compress the file again."
                    )
                piece = start()
                pieces += 1
            taken = 0
            try:
                for unpacked in piece.unpacked(block):
                    held += len(unpacked)
                    yield unpacked
                    ended = piece.piece.eof
                    left = len(piece.piece.unused_data if ended else piece.piece.unconsumed_tail)
                    progress.advance(len(block) - left - taken)
                    taken = len(block) - left
            except packing.error as error:
                raise ValueError(
                    f"{path}: damaged {packing.name} data in the {BLOCK_BYTES} bytes that start "
                    f"at byte {offset} ({error}). Fetch the file again."
                ) from error
            offset += len(block) - len(piece.piece.unused_data)
            block = piece.piece.unused_data
            if piece.piece.eof:
                piece = None
    if piece is not None:
        raise ValueError(
            f"{path}: the {packing.name} stream is cut off at byte {offset}, inside a "
            f"{packing.piece}. Fetch the file again."
        )


def _zstd_pieces(path: str, stored: Iterator[bytes], window_log: int) -> Iterator[bytes]:
    """Yield the bytes; ValueError before a frame that needs a larger window."""

    def check_window(window: int) -> None:
        if window > 1 << window_log:
            raise ValueError(
                f"{path}: expected zstd frames with a window of at most {1 << window_log:,} bytes, "
                f"found a window of {window:,}, which needs as much memory. Compress the "
                "file again without --long, or set input.max_window_log to "
                f"{(window - 1).bit_length()}."
            )

    pieces = Pieces(check_window)
    for block in stored:
        yield from pieces.of(block)


class LongLine(NamedTuple):
    """A line that is too long to hold."""

    start: bytes
    bytes: int
    ended: bool = True
    """False if reading stopped before the line's end."""


SHOWN_BYTES = 80


def lines_of(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the lines of a byte stream without line ends. The last line needs no end."""
    for line in limited_lines(blocks, sys.maxsize):
        assert not isinstance(line, LongLine)
        yield line


def lines_at(blocks: Iterator[bytes], rows: Container[int]) -> Iterator[bytes | None]:
    """Yield the lines of a byte stream as `lines_of` does, but None for those not in `rows`.

    A block without a line of `rows` is only searched for line ends.
    """
    row = 0
    held: list[bytes] = []
    for block in blocks:
        ends = block.count(b"\n")
        if any(one in rows for one in range(row, row + ends + 1)):
            first, *others = block.split(b"\n")
            held.append(first)
            for other in others:
                yield b"".join(held) if row in rows else None
                held = [other]
                row += 1
        else:
            yield from itertools.repeat(None, ends)
            row += ends
            begun = block[block.rfind(b"\n") + 1 :][:1]  # all that is needed of an unwanted line
            held = [begun] if ends or begun else held
    if any(held):
        yield b"".join(held) if row in rows else None


def limited_lines(blocks: Iterator[bytes], most: int) -> Iterator[bytes | LongLine]:
    """Yield the lines. Of lines over `most` bytes, only the start is held."""
    held: list[bytes] = []
    size = 0
    while True:
        try:
            block = next(blocks, None)
        except ReadEnoughError:
            if size > most:
                yield LongLine(held[0], size, ended=False)
            raise
        if block is None:
            break
        first, *others = block.split(b"\n")
        size += len(first)
        if size <= most:
            held.append(first)
        else:
            held = [_start_of([*held, first])]
        if others:
            yield b"".join(held) if size <= most else LongLine(held[0], size)
            if len(block) <= most:
                yield from others[:-1]
            else:
                yield from (_line(other, most) for other in others[:-1])
            held, size = [others[-1]], len(others[-1])
            if size > most:
                held = [_start_of(held)]
    if size:
        yield b"".join(held) if size <= most else LongLine(held[0], size)


def _line(line: bytes, most: int) -> bytes | LongLine:
    return line if len(line) <= most else LongLine(_start_of([line]), len(line))


def _start_of(held: list[bytes]) -> bytes:
    start = b""
    for piece in held:
        start += piece[: SHOWN_BYTES - len(start)]
        if len(start) == SHOWN_BYTES:
            break
    return start


def unpacked_by_name(
    path: str, stored: Iterator[bytes], progress: Progress, limits: ReadLimits = READ_LIMITS
) -> Iterator[bytes]:
    """Yield the content of a file from its stored blocks, unpacked as its name says."""
    match Path(path).suffix:
        case ".zst":
            pieces = _zstd_pieces(path, stored, limits.window_log)
            return _unpacked(ZSTD, path, pieces, progress)
        case ".gz":
            return _unpacked(GZIP, path, stored, progress)
    return _told(stored, progress)


def window_bytes(path: str, limits: ReadLimits) -> int:
    """Return the memory that unpacking a file may need beside its records."""
    return 1 << limits.window_log if Path(path).suffix == ".zst" else 0


def read_blocks(
    path: str, progress: Progress, seen: Seen | None = None, limits: ReadLimits = READ_LIMITS
) -> Iterator[bytes]:
    """Yield the content of a file, unpacked if it ends in .zst or .gz. Every byte is checked.

    seen: receives the stored bytes.
    """
    with open_regular(path) as file, named(Path(path)):
        stored = _bounded(path, _stored_blocks(path, file, seen), limits.read_bytes)
        unpacked = unpacked_by_name(path, stored, progress, limits)
        yield from _bounded(path, unpacked, limits.read_bytes)


def read_lines(
    path: str, progress: Progress, seen: Seen | None = None, limits: ReadLimits = READ_LIMITS
) -> Iterator[bytes | LongLine]:
    """Yield the lines of a file, unpacked if it ends in .zst or .gz."""
    return limited_lines(read_blocks(path, progress, seen, limits), limits.line_bytes)


def read_written_blocks(path: Path, progress: Progress) -> Iterator[bytes]:
    """Yield the content of a file that an earlier job wrote, checked against its sums."""
    return unpacked_by_name(str(path), checked_blocks(path), progress)


def read_written_lines(path: Path, progress: Progress) -> Iterator[bytes]:
    return lines_of(read_written_blocks(path, progress))


def lines_within(
    path: str, start: int, end: int, progress: Progress, limits: ReadLimits = READ_LIMITS
) -> Iterator[tuple[int, bytes | LongLine]]:
    """Yield (offset, line) for lines of a plain file that start from byte `start` to before `end`.

    ReadEnoughError for a line of more than limits.read_bytes.
    """
    most = limits.line_bytes
    with open_regular(path) as file:
        if start:
            file.seek(start - 1)
            # Skip the rest of the line before, at least its newline.
            _passed_over(path, file, limits.read_bytes)
        offset = file.tell()
        while offset < end and (line := file.readline(max(most, SHOWN_BYTES) + 1)):
            size = len(line)
            if len(line.removesuffix(b"\n")) > most:
                more, ended = (
                    (0, True)
                    if line.endswith(b"\n")
                    else _passed_over(path, file, limits.read_bytes)
                )
                size += more
                yield offset, LongLine(line[:SHOWN_BYTES].removesuffix(b"\n"), size - ended)
            else:
                yield offset, line.removesuffix(b"\n")
            offset += size
            progress.advance(size)


def _passed_over(path: str, file: IO[bytes], most: int) -> tuple[int, bool]:
    """Skip to the end of the line. Return the bytes skipped, and whether the last one ends a
    line."""
    passed = 0
    while piece := file.readline(PIECE_BYTES):
        passed += len(piece)
        if piece.endswith(b"\n"):
            return passed, True
        if passed > most:
            raise ReadEnoughError(path, most)
    return passed, False
