"""A corpus on an HTTP server: files by address, from any byte on."""

import contextlib
import http.client
import ssl
import string
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from corpusmill.messages.plain_text import shown
from corpusmill.reader.s3.connection import MOST_SAID
from corpusmill.reader.s3.responses import opener
from corpusmill.reader.stores import (
    BLOCK_BYTES,
    PASSING_STATUS,
    ForbiddenError,
    MissingError,
    PassingError,
    SlowError,
    other_size,
)

NO_HEADERS: Mapping[str, str] = MappingProxyType({})
SILENCE_SECONDS = 30.0
"""Timeout in seconds. A connection that receives no data for this long counts as broken."""

MOST_REDIRECTS = 10
REDIRECTS = {301, 302, 303, 307, 308}
KINDS = {404: MissingError, 410: MissingError, 401: ForbiddenError, 403: ForbiddenError}


class HttpStore:
    """Files below an address. If a server ignores ranges, bytes before the start are skipped.

    headers: sent with every request, for example `Authorization`, but not to other servers after a
    redirect.
    """

    def __init__(self, address: str, headers: Mapping[str, str] = NO_HEADERS) -> None:
        if "@" in address.partition("://")[2].partition("/")[0]:
            # The value is not repeated: messages with addresses are logged.
            raise ValueError(
                "an address with a name or password before the host: expected https://host/..., "
                'and the password in headers={"Authorization": "..."}, which only that server gets.'
            )
        if not is_web(address):
            raise ValueError(f"{address}: expected https://host/..., found no valid host or port.")
        self._address = address.rstrip("/")
        self._headers = dict(headers)

    def below(self, folder: str) -> "HttpStore":
        return HttpStore(self.where(folder), self._headers)

    def where(self, name: str) -> str:
        return f"{self._address}/{name}"

    def blocks(self, name: str, start: int = 0, size: int | None = None) -> Iterator[bytes]:
        if size is not None and start == size:
            return
        with _passing(self.where(name)), self._response(name, start) as response:
            yield from sent(response, self.where(name), start, size)

    def url(self, name: str) -> str:
        """Return the URL of a file, escaped: names of tokenizer files may have any characters."""
        return f"{self._address}/{urllib.parse.quote(name)}"

    def _response(self, name: str, start: int) -> Any:
        """Return a response after following redirects. Bodies of redirects are not read: they may
        be endless."""
        where, address, headers = self.where(name), self.url(name), self._headers
        span = {"Range": f"bytes={start}-"} if start else {}
        for _ in range(MOST_REDIRECTS + 1):
            request = urllib.request.Request(address, headers=span)
            for header, value in headers.items():
                request.add_unredirected_header(header, value)
            try:
                return opener().open(request, timeout=SILENCE_SECONDS)
            except urllib.error.HTTPError as answer:
                location = answer.headers.get("Location")
                if answer.code not in REDIRECTS or location is None:
                    raise
                answer.close()
            there = onward(address, location, where)
            if _origin(there) != _origin(address):
                headers = {}  # another host must get no credentials, not even if it redirects back
            address = there
        raise ValueError(
            f"{where}: expected the file, found more than {MOST_REDIRECTS} redirects. Ask "
            "the server's administrator."
        )


def onward(address: str, location: str, where: str) -> str:
    """Return the target of a redirect. Raise ValueError for one that is not followed."""
    # http.client decodes headers as Latin-1.
    there = urllib.parse.quote(location, string.punctuation, "iso-8859-1", "replace")
    with contextlib.suppress(ValueError):
        there = urllib.parse.urljoin(address, there)
        if is_web(there) and not (address.startswith("https:") and there.startswith("http:")):
            return there
    secure = "an https" if address.startswith("https:") else "an http or https"
    named = "one with a user name or a password" if "@" in there else shown(there)[:MOST_SAID]
    raise ValueError(
        f"{where}: expected a redirect to {secure} address, found a redirect to {named}. Ask the "
        "server's administrator."
    )


def is_web(address: str) -> bool:
    """Say whether an address is a valid web URL without user name and password."""
    with contextlib.suppress(ValueError):
        parts = urllib.parse.urlsplit(address)
        host = (parts.hostname or "").encode("idna")  # as Python does when it connects
        known = parts.scheme in ("http", "https") and parts.port != 0
        return bool(host) and known and "@" not in parts.netloc
    return False


def _origin(address: str) -> tuple[str, str]:
    parts = urllib.parse.urlsplit(address)
    return parts.scheme, parts.netloc


@contextlib.contextmanager
def _passing(where: str) -> Iterator[None]:
    """Raise network faults as `PassingError` and permanent ones as ValueError."""
    try:
        yield
    except urllib.error.HTTPError as error:
        error.close()
        said = f"{error.code} {shown(error.reason)[:100]}"
        if error.code in PASSING_STATUS:
            raise PassingError(f"{where}: the server answered {said}") from None
        raise KINDS.get(error.code, ValueError)(
            f"{where}: expected the file, the server answered {said}. Is this the address of the "
            "results folder, and do you have permission to read it?"
        ) from None
    except UnicodeError as error:  # of a host that cannot be written in a request
        raise ValueError(
            f"{where}: expected a host name in ASCII, also in redirects, found other characters "
            f"({error}). Write the host name in ASCII, or ask the server's administrator."
        ) from None
    except (http.client.HTTPException, OSError) as error:
        cause = getattr(error, "reason", error)
        if isinstance(cause, ssl.SSLCertVerificationError):
            raise ValueError(
                f"{where}: expected a certificate that this machine trusts ({error}). Install the "
                "certificate of the server's authority, or name its file in SSL_CERT_FILE."
            ) from None
        kind = SlowError if isinstance(cause, TimeoutError) else PassingError
        raise kind(f"{where}: {str(error)[:MOST_SAID] or type(error).__name__}") from None


def sent(response: Any, where: str, start: int, size: int | None) -> Iterator[bytes]:
    """Yield the body of a response from `start` on. Raise if it is cut short or has the wrong
    size."""
    skip = start if response.status == 200 else _begins_later(response, where, start)
    announced = response.length  # bytes in this response; None if unknown
    whole = None if announced is None else announced + start - skip
    if size is not None and whole is not None and whole != size:
        raise ValueError(other_size(where, size, whole))
    came = 0
    # Not `read`, which loses data received before a timeout.
    while block := response.read1(BLOCK_BYTES):
        came += len(block)
        if skip:
            skip, block = max(skip - len(block), 0), block[skip:]
        if block:
            yield block
    if announced is not None and came != announced:
        # http.client does not report a truncated body.
        raise PassingError(f"{where}: the connection ended after {came} of {announced} bytes")


def _begins_later(response: Any, where: str, start: int) -> int:
    """Return 0, the bytes to skip, if the response is the requested range."""
    span = response.headers.get("Content-Range", "")
    if response.status != 206 or not span.startswith(f"bytes {start}-"):
        raise ValueError(
            f"{where}: expected the bytes from {start} on, the server answered "
            f"{response.status} with Content-Range {span!r}. Ask the server's administrator to "
            "support range requests."
        )
    return 0
