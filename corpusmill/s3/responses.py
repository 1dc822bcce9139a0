"""Answers of a server that may be anybody's: their headers have an end."""

import http.client
import urllib.request
from collections.abc import Callable
from typing import Any

MOST_HEADER_BYTES = 1 << 20
"""Of an answer: what Python reads of `100 Continue` and behind the last chunk has no other end."""


class BoundedResponse(http.client.HTTPResponse):
    """HTTPException where a server goes on with headers."""

    def begin(self) -> None:
        self._within(super().begin)

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


def opener(*handlers: urllib.request.BaseHandler) -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_Http, _Https, *handlers)
