"""Answers of a server that may be anybody's: their headers have an end, and they come."""

import http.client
import io
import socket
import time
import urllib.request
from collections.abc import Callable
from typing import Any

MOST_HEADER_BYTES = 1 << 20
"""Of an answer: what Python reads of `100 Continue` and behind the last chunk has no other end."""

HEADER_SECONDS = 30.0
"""Until all headers of an answer are there, however they come."""
WAITED_SECONDS = 30.0
LEAST_BYTES = 1 << 14
"""In so many seconds of waiting; with fewer a connection counts as broken."""


class _Arriving(io.RawIOBase):
    """What comes from a server; TimeoutError where it comes drop by drop."""

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

    def readinto(self, buffer: Any) -> int | None:
        began = time.monotonic()
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
        if self._waited > WAITED_SECONDS:
            if self._came < LEAST_BYTES:
                raise TimeoutError(f"{self._came:,} bytes in {self._waited:.0f} s of waiting")
            self._waited, self._came = 0.0, 0
        return size

    def close(self) -> None:
        self._raw.close()
        super().close()


class BoundedResponse(http.client.HTTPResponse):
    """HTTPException where a server goes on with headers, TimeoutError where it is too slow."""

    def __init__(self, sock: socket.socket, *given: Any, **named: Any) -> None:
        super().__init__(sock, *given, **named)
        self.fp.close()
        self._arriving = _Arriving(sock)
        self.fp = io.BufferedReader(self._arriving)

    def begin(self) -> None:
        self._arriving.headers_begin()
        try:
            self._within(super().begin)
        finally:
            self._arriving.headers_end()

    def _read_and_discard_trailer(self) -> None:
        self._within(super()._read_and_discard_trailer)  # type: ignore[misc]

    def _within(self, read: Callable[[], None]) -> None:
        whole: Any = self.fp
        bounded: Any = _Lines(whole)
        self.fp = bounded
        try:
            read()
        finally:
            if self.fp is bounded:
                self.fp = whole


class _Lines:
    """A file of which so many bytes are read by lines, and no more."""

    def __init__(self, file: Any) -> None:
        self._file, self._left = file, MOST_HEADER_BYTES

    def readline(self, limit: int = -1) -> bytes:
        line: bytes = self._file.readline(limit)
        self._left -= len(line)
        if self._left < 0:
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
    """It speaks HTTP and HTTPS and nothing else, and follows no redirect."""
    made = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler, urllib.request.UnknownHandler, _Http, _Https,
        urllib.request.HTTPDefaultErrorHandler, urllib.request.HTTPErrorProcessor,
    ):  # fmt: skip
        made.add_handler(handler())
    return made
