"""Responses of untrusted servers, with limits on header size and time."""

import http.client
import io
import socket
import time
import urllib.request
from collections.abc import Callable
from typing import Any, TypeVar

from corpusmill.reader.patience import LEAST_BYTES

MOST_HEADER_BYTES = 1 << 20
"""Maximum number of header bytes of a response. Python itself does not limit those of `100
Continue` and trailers."""
FRAME_BYTES = 16
"""Bytes of overhead allowed per chunk, in addition to twice its size. Only overhead beyond this is
counted."""
MOST_FRAME_BYTES = 1 << 14
"""Maximum number of counted bytes of overhead: extensions after the size of a chunk, which are
ignored."""

HEADER_SECONDS = 30.0
"""Time limit, in seconds, for all headers of a response, and for its trailers."""
WAITED_SECONDS = 30.0
"""A connection that brings fewer than LEAST_BYTES of a body in this many seconds counts as
broken."""

T = TypeVar("T")


class _Arriving(io.RawIOBase):
    """Data from a server. Raises TimeoutError if it arrives too slowly."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock, self._raw = sock, sock.makefile("rb", 0)
        self._silence = sock.gettimeout()
        self._waited, self._came = 0.0, 0
        self._until: float | None = None

    def readable(self) -> bool:
        return True

    def headers_begin(self) -> None:
        self._until = time.monotonic() + HEADER_SECONDS

    def headers_end(self) -> None:
        self._until = None
        self._sock.settimeout(self._silence)

    def is_no_body(self, size: int) -> None:
        """Exclude so many received bytes, which were overhead, from the body."""
        self._came -= size

    def readinto(self, buffer: Any) -> int | None:
        began = time.monotonic()
        if self._waited > WAITED_SECONDS:
            if self._came < LEAST_BYTES:
                raise TimeoutError(
                    f"only {max(self._came, 0):,} bytes received in {self._waited:.0f} s"
                )
            self._waited, self._came = 0.0, 0
        if self._until is not None:
            if (left := self._until - began) <= 0:
                raise TimeoutError(f"its headers did not end within {HEADER_SECONDS:.0f} s")
            self._sock.settimeout(left if self._silence is None else min(left, self._silence))
        try:
            size: int | None = self._raw.readinto(buffer)
        except TimeoutError:
            waited = time.monotonic() - began
            raise TimeoutError(f"timed out: nothing more in {waited:.1f} s") from None
        self._waited += time.monotonic() - began
        self._came += size or 0
        return size

    def close(self) -> None:
        self._raw.close()
        super().close()


class BoundedResponse(http.client.HTTPResponse):
    """A response that raises HTTPException for too many headers, TimeoutError if it is too slow."""

    def __init__(self, sock: socket.socket, *given: Any, **named: Any) -> None:
        super().__init__(sock, *given, **named)
        self.fp.close()
        self._arriving = _Arriving(sock)
        self.fp = io.BufferedReader(self._arriving)
        self._frame_bytes = 0

    def begin(self) -> None:
        self._headers(super().begin)

    def _read_and_discard_trailer(self) -> None:
        self._headers(super()._read_and_discard_trailer)  # type: ignore[misc]

    def _headers(self, read: Callable[[], None]) -> None:
        self._arriving.headers_begin()
        try:
            self._lines(read)
        finally:
            self._arriving.headers_end()

    def _read_next_chunk_size(self) -> int:
        size, taken = self._lines(super()._read_next_chunk_size)  # type: ignore[misc]
        if size < 0:
            raise http.client.HTTPException(f"a chunk of {size} bytes")
        self._frame_bytes = max(0, self._frame_bytes + taken - FRAME_BYTES - 2 * size)
        if self._frame_bytes > MOST_FRAME_BYTES:
            raise http.client.HTTPException(
                f"more than {MOST_FRAME_BYTES:,} bytes of overhead around small chunks"
            )
        return int(size)

    def _lines(self, read: Callable[[], T]) -> tuple[T, int]:
        """Return the result of a function that reads lines, and the number of bytes read."""
        whole: Any = self.fp
        bounded: Any = _Lines(whole)
        self.fp = bounded
        try:
            return read(), bounded.taken
        finally:
            self._arriving.is_no_body(bounded.taken)
            if self.fp is bounded:
                self.fp = whole


class _Lines:
    """A file with a limit on the bytes read by lines."""

    def __init__(self, file: Any) -> None:
        self._file, self.taken = file, 0

    def readline(self, limit: int = -1) -> bytes:
        line: bytes = self._file.readline(limit)
        self.taken += len(line)
        if self.taken > MOST_HEADER_BYTES:
            raise http.client.HTTPException(f"more than {MOST_HEADER_BYTES:,} bytes of headers")
        return line

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


class _Bounded(urllib.request.AbstractHTTPHandler):
    def do_open(self, http_class: Any, req: urllib.request.Request, **given: Any) -> Any:
        def connection(*arguments: Any, **more: Any) -> http.client.HTTPConnection:
            made: http.client.HTTPConnection = http_class(*arguments, **more)
            made.response_class = BoundedResponse
            return made

        return super().do_open(connection, req, **given)


class _Http(_Bounded, urllib.request.HTTPHandler):
    pass


class _Https(_Bounded, urllib.request.HTTPSHandler):
    pass


def opener() -> urllib.request.OpenerDirector:
    """Return an opener for HTTP and HTTPS only, which follows no redirects."""
    made = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler, urllib.request.UnknownHandler, _Http, _Https,
        urllib.request.HTTPDefaultErrorHandler, urllib.request.HTTPErrorProcessor,
    ):  # fmt: skip
        made.add_handler(handler())
    return made
