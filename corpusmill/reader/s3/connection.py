"""Signed requests to one bucket, over connections that are kept open."""

import contextlib
import http.client
import os
import socket
import ssl
import threading
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from types import MappingProxyType
from typing import Any, NamedTuple

from corpusmill.messages.progress import awaiting
from corpusmill.reader.s3.addresses import SCHEME
from corpusmill.reader.s3.answers import Answer, fault
from corpusmill.reader.s3.credentials import Access, load_access
from corpusmill.reader.s3.responses import BoundedResponse
from corpusmill.reader.s3.signature import query_string, quoted, signed
from corpusmill.reader.stores import PassingError, SlowError

CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 30.0
"""Timeout in seconds. A connection that receives no data for this long counts as broken."""
REFUSAL_BYTES = 1 << 16
MOST_SAID = 200
"""Maximum number of characters quoted from a network error, which may contain received data."""
MOST_BYTES = 1 << 23
"""Maximum size in bytes of a response that is read into memory: twice a list of 1,000 keys of 1,024
bytes, all escaped."""
BLOCK_BYTES = 1 << 20
NOTHING: Mapping[str, str] = MappingProxyType({})
OF_NO_BYTES = sha256(b"").hexdigest()


class Blocks(NamedTuple):
    """A body that is not in memory. blocks: yields it from the beginning at each call."""

    bytes: int
    blocks: Callable[[], Iterator[memoryview]]


Body = bytes | memoryview | Blocks


class Target(NamedTuple):
    """The address of a bucket's requests."""

    secure: bool
    host: str
    port: int
    folder: str
    """Prefix of keys in the path."""

    @property
    def host_header(self) -> str:
        usual = self.port == (443 if self.secure else 80)
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if usual else f"{host}:{self.port}"


def target_of(bucket: str, access: Access) -> Target:
    if access.endpoint is None:
        host = f"s3.{access.region}.amazonaws.com"
        # The wildcard certificate *.s3... does not cover names with dots.
        return (
            Target(True, host, 443, f"/{bucket}")
            if "." in bucket
            else Target(True, f"{bucket}.{host}", 443, "")
        )
    with contextlib.suppress(ValueError):
        found = urllib.parse.urlsplit(access.endpoint)
        secure, port = found.scheme == "https", found.port
        host = found.hostname or ""
        host.encode("idna")  # as Python does when it connects
        if found.scheme in ("http", "https") and host and not {" ", "@"} & set(found.netloc):
            folder = found.path.rstrip("/")
            return Target(secure, host, port or (443 if secure else 80), f"{folder}/{bucket}")
    # Not repeated: the malformed URL may contain a password.
    raise ValueError(
        "the endpoint of the store: expected http(s)://host or http(s)://host:port, found "
        "something else. Correct --endpoint-url, AWS_ENDPOINT_URL or endpoint_url of the profile."
    )


class Connections:
    """Requests to one bucket from any number of threads, each with current credentials."""

    def __init__(self, bucket: str, endpoint: str | None = None) -> None:
        self.bucket = bucket
        self.silence_seconds = SILENCE_SECONDS
        """Timeout of new connections."""
        self._endpoint = endpoint
        self._begin()

    def _begin(self) -> None:
        """Initialize as in a new process, without connections."""
        self.requests = 0
        """Requests sent so far."""
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._idle: list[tuple[Target, http.client.HTTPConnection]] = []
        self._asking: set[http.client.HTTPConnection] = set()
        self._ended = False

    def __getstate__(self) -> dict[str, Any]:
        given = {"bucket", "silence_seconds", "_endpoint"}
        return {name: value for name, value in vars(self).items() if name in given}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._begin()

    def where(self, key: str) -> str:
        return f"{SCHEME}{self.bucket}/{key}"

    def close(self) -> None:
        """Close open connections that are not in use."""
        if self._process == os.getpid():
            with self._lock:
                while self._idle:
                    self._idle.pop()[1].close()

    def end(self) -> None:
        """Abort all requests and send no more: their results are not needed."""
        with self._lock:
            self._ended = True
            for connection in self._asking:
                if opened := connection.sock:
                    with contextlib.suppress(OSError):
                        # Not the TLS socket, which only the reading thread may use.
                        socket.socket.shutdown(opened, socket.SHUT_RDWR)

    @contextlib.contextmanager
    def _under_way(self, where: str, connection: http.client.HTTPConnection) -> Iterator[None]:
        with self._lock:
            self._asking.add(connection)
            ended = self._ended
        try:
            if ended:
                raise PassingError(f"{where}: aborted")
            yield
        finally:
            with self._lock:
                self._asking.discard(connection)

    def ask(
        self,
        method: str,
        key: str,
        query: Mapping[str, str] = NOTHING,
        headers: Mapping[str, str] = NOTHING,
        body: Body = b"",
        digest: str = OF_NO_BYTES,
        most: int = MOST_BYTES,
    ) -> Answer:
        """Return a response of at most `most` bytes. digest: SHA-256 of the body, included in the
        signature. Raise PassingError or Refusal for an error, ValueError for a longer response."""
        where = self.where(key)
        with faults_of_the_network(where), awaiting(f"{method} {where}"):
            while True:
                target, connection, kept = self._connection(where)
                try:
                    send = self._signed(target, where, method, key, query, headers, digest)
                    with self._under_way(where, connection):
                        response = _answered(connection, method, *send, body)
                        answer = Answer(
                            response.status, _headers(response), _whole(response, where, most)
                        )
                    break
                except (http.client.RemoteDisconnected, ConnectionError):
                    connection.close()
                    if not kept:  # otherwise the store closed it meanwhile
                        raise
                except BaseException:
                    connection.close()
                    raise
            self._keep(target, connection, response.will_close)
        if answer.status >= 300:
            raise fault(where, *answer)
        return answer

    @contextlib.contextmanager
    def opened(self, key: str, headers: Mapping[str, str]) -> Iterator[http.client.HTTPResponse]:
        """Yield the response to a GET, with its body unread."""
        where = self.where(key)
        with faults_of_the_network(where):
            target, connection, _ = self._connection(where, fresh=True)
            try:
                send = self._signed(target, where, "GET", key, NOTHING, headers, OF_NO_BYTES)
                response = _answered(connection, "GET", *send, b"")
                if response.status >= 300:
                    said = response.read(REFUSAL_BYTES)
                    raise fault(where, response.status, _headers(response), said)
                yield response
            finally:
                connection.close()

    def _connection(
        self, where: str, fresh: bool = False
    ) -> tuple[Target, http.client.HTTPConnection, bool]:
        """Return a connection, and whether it was used before."""
        if self._process != os.getpid():
            self._begin()
        target = target_of(self.bucket, load_access(where, self._endpoint))
        with self._lock:
            self.requests += 1
            for place, (of, connection) in enumerate(self._idle if not fresh else []):
                if of == target:
                    del self._idle[place]
                    return target, connection, True
        return target, _connected(target, self.silence_seconds), False

    def _keep(
        self, target: Target, connection: http.client.HTTPConnection, will_close: bool
    ) -> None:
        if will_close:
            connection.close()
            return
        with self._lock:
            self._idle.append((target, connection))

    def _signed(
        self,
        target: Target,
        where: str,
        method: str,
        key: str,
        query: Mapping[str, str],
        headers: Mapping[str, str],
        digest: str,
    ) -> tuple[str, dict[str, str]]:
        """Return path with query, and headers."""
        access = load_access(where, self._endpoint)
        path = quoted(f"{target.folder}/{key}" if key else target.folder or "/")
        text = query_string(query)
        all_headers = {"Host": target.host_header, "x-amz-content-sha256": digest, **headers}
        send = signed(
            method, path, text, all_headers, access.credentials, access.region, datetime.now(UTC)
        )
        return f"{path}?{text}" if text else path, send


def _connected(target: Target, silence_seconds: float) -> http.client.HTTPConnection:
    """Connect to a store, through the https proxy of the environment if there is one."""
    patience = min(CONNECT_SECONDS, silence_seconds)
    if not target.secure:
        connection = http.client.HTTPConnection(target.host, target.port, patience)
    else:
        proxy = urllib.request.getproxies().get("https")
        context = ssl.create_default_context()
        if proxy and not urllib.request.proxy_bypass(target.host):
            at = urllib.parse.urlsplit(proxy)
            connection = http.client.HTTPSConnection(
                at.hostname or "", at.port or 3128, timeout=patience, context=context
            )
            connection.set_tunnel(target.host, target.port)
        else:
            connection = http.client.HTTPSConnection(
                target.host, target.port, timeout=patience, context=context
            )
    connection.response_class = BoundedResponse
    connection.connect()
    connection.sock.settimeout(silence_seconds)
    return connection


def _answered(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    headers: dict[str, str],
    body: Body,
) -> http.client.HTTPResponse:
    try:
        if isinstance(body, Blocks):
            headers = {**headers, "Content-Length": str(body.bytes)}
            connection.request(method, path, body.blocks(), headers)
        else:
            # An empty body is a body: stores refuse a PUT without a length.
            connection.request(method, path, body if method in ("PUT", "POST") else None, headers)
    except (BrokenPipeError, ConnectionResetError):
        # A store may refuse and close early; then its response explains why.
        with contextlib.suppress(OSError, http.client.HTTPException):
            return connection.getresponse()
        raise
    return connection.getresponse()


def _whole(response: http.client.HTTPResponse, where: str, most: int) -> bytes:
    body = response.read(most + 1)
    if len(body) > most:
        raise ValueError(
            f"{where}: expected an answer of at most {most:,} bytes, found more. Is the endpoint "
            "an object store?"
        )
    if response.length:  # http.client does not report a truncated body
        raise http.client.IncompleteRead(body, response.length)
    return body


def _headers(response: http.client.HTTPResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in response.getheaders()}


@contextlib.contextmanager
def faults_of_the_network(where: str) -> Iterator[None]:
    try:
        yield
    except ssl.SSLCertVerificationError as error:
        raise ValueError(
            f"{where}: expected a certificate that this machine trusts ({error}). Install the "
            "certificate of the store's authority, or name its file in SSL_CERT_FILE."
        ) from None
    except (http.client.HTTPException, OSError) as error:
        kind = SlowError if isinstance(error, TimeoutError) else PassingError
        raise kind(f"{where}: {str(error)[:MOST_SAID] or type(error).__name__}") from None
