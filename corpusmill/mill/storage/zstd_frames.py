"""Find block ends of zstd frames from headers alone (RFC 8878), before unpacking any byte. They
bound how far a piece of a file can expand, and the window that the decompressor needs."""

from collections.abc import Callable, Generator, Iterator

MAGIC = 0xFD2FB528
SKIPPABLE = 0x184D2A50
"""First magic number of skippable frames; the last one is 0x184D2A5F."""

PIECE_BLOCKS = 8
"""Blocks per piece. A block expands to at most 128 KiB, so a piece gives about 1 MiB."""

RLE = 1

_Parser = Generator[int, bytes, None]
"""A parser that yields the number of bytes that it needs next. For a negative number, that many
bytes are skipped, and it gets b""."""


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _header(check_window: Callable[[int], None]) -> Generator[int, bytes, bool]:
    """Parse a frame header. Return whether a checksum follows the blocks."""
    descriptor = _number((yield 1))
    single = descriptor >> 5 & 1
    window = 0
    if not single:
        exponent, mantissa = divmod(_number((yield 1)), 8)
        window = (1 << 10 + exponent) // 8 * (8 + mantissa)
    if id_bytes := (0, 1, 2, 4)[descriptor & 3]:
        yield -id_bytes
    if size_bytes := (single, 2, 4, 8)[descriptor >> 6]:
        size = _number((yield size_bytes)) + 256 * (size_bytes == 2)
        window = size if single else window
    check_window(window)
    return bool(descriptor >> 2 & 1)


def _blocks(check_window: Callable[[int], None], ended: Callable[[], None]) -> _Parser:
    """Parse all frames. Stops at invalid data, which the decompressor will report.

    ended: called at the end of each block and each skippable frame.
    """
    while True:
        magic = _number((yield 4))
        if magic & ~0xF == SKIPPABLE:
            yield -_number((yield 4))
            ended()
            continue
        if magic != MAGIC:
            return
        summed = yield from _header(check_window)
        last = 0
        while not last:
            header = _number((yield 3))
            last, kind, size = header & 1, header >> 1 & 3, header >> 3
            yield -(1 if kind == RLE else size)
            ended()
        if summed:
            yield -4


class Pieces:
    """A splitter of zstd files into pieces that each expand to little."""

    def __init__(self, check_window: Callable[[int], None]) -> None:
        """check_window: receives the window size of each frame, and may raise."""
        self._ended = 0
        self._parser: _Parser | None = _blocks(check_window, self._count)
        self._wanted = next(self._parser)
        self._held = b""

    def _count(self) -> None:
        self._ended += 1

    def of(self, stored: bytes) -> Iterator[bytes]:
        """Yield the next bytes of the file in pieces with at most PIECE_BLOCKS block ends."""
        start = at = 0
        while at < len(stored) and self._parser:
            at += self._step(stored, at)
            if self._ended >= PIECE_BLOCKS:
                yield stored[start:at]
                start, self._ended = at, 0
        if start < len(stored):
            yield stored[start:]

    def _step(self, stored: bytes, at: int) -> int:
        """Give the parser the bytes it asks for, as far as available. Return their number."""
        missing = abs(self._wanted) - len(self._held) if self._wanted > 0 else -self._wanted
        taken = min(missing, len(stored) - at)
        if self._wanted > 0:
            self._held += stored[at : at + taken]
        else:
            self._wanted += taken
        if taken == missing:
            given, self._held = self._held, b""
            self._advance(given)
        return taken

    def _advance(self, given: bytes) -> None:
        assert self._parser
        try:
            self._wanted = self._parser.send(given)
            while self._wanted == 0:  # a block or a frame without content
                self._wanted = self._parser.send(b"")
        except StopIteration:
            self._parser = None
