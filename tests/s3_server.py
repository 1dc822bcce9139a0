"""A real object store on this machine, and a door in front of it that can be told to misbehave.

The store is ministack, in a process of its own: it takes checksums itself and refuses what does
not have them, keeps objects in parts and conditions as S3 does, and forgets all when it ends.
"""

import hashlib
import http.client
import importlib.util
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from listening import listening, send_body

ABSENT = not importlib.util.find_spec("ministack")
NEEDS_STORE = pytest.mark.skipif(ABSENT, reason="ministack is not here: envs/requirements-dev.txt")
SECRET = "not/to+be/told/wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLE"
TOKEN = "IQoJb3JpZ2luX2VjEXAMPLE//not-to-be-told"
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_SESSION_TOKEN": TOKEN,
    "AWS_REGION": "us-east-1", "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_CONFIG_FILE": os.devnull,
}  # fmt: skip


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextmanager
def store(folder: Path) -> Iterator[int]:
    """The port of a store with a bucket `mill`."""
    port = free_port()
    environment = os.environ | {
        "GATEWAY_PORT": str(port), "BIND_HOST": "127.0.0.1", "SERVICES": "s3",
        "TMPDIR": str(folder), "LOG_LEVEL": "ERROR",
    }  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "ministack"], env=environment, cwd=folder,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        until = time.monotonic() + 60
        while not made_bucket(port, "mill"):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait()


def made_bucket(port: int, name: str) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("PUT", f"/{name}")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


class Front:
    """fault: a function of method, path with query, and number of the request among all gives the
    fault to make of it, or None. Each body that comes has to have the digest that is signed."""

    def __init__(self, port: int) -> None:
        self.store = port
        self.fault: Callable[[str, str, int], str | None] = lambda method, path, number: None
        self.asked: list[tuple[str, str]] = []
        self.ranges: list[tuple[str, str | None]] = []
        self.tokens: list[str | None] = []
        self.ahead: Callable[[int], None] = lambda number: None
        self.behind: Callable[[int], None] = lambda number: None
        """Called with the number of a request before it reaches the store, and after."""
        self.lock = threading.Lock()
        self.badly_signed: list[str] = []
        self.unsigned_too = False
        self.seconds_per_block = 0.0
        self.address = ""

    def paths(self, method: str) -> list[str]:
        return [path for asked, path in self.asked if asked == method]


CODES = {
    "403": "ExpiredToken", "503": "SlowDown", "500": "InternalError", "409": "OperationAborted",
    "400": "BadDigest",
}  # fmt: skip
BLOCK = 1 << 16


def handler_of(front: Front) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            self.onward = http.client.HTTPConnection("127.0.0.1", front.store, timeout=60)

        def finish(self) -> None:
            self.onward.close()
            super().finish()

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

        def answer(self) -> None:
            size = int(self.headers.get("Content-Length", "0"))
            body = self.rfile.read(size)
            if len(body) < size:  # the client broke off
                self.close_connection = True
                return
            proof = self.headers["Authorization"] or ""
            digest = self.headers["x-amz-content-sha256"]
            ours = "AWS4-HMAC-SHA256 Credential=test/"
            is_signed = proof.startswith(ours) and digest == hashlib.sha256(body).hexdigest()
            if not is_signed and not front.unsigned_too:
                front.badly_signed.append(self.path)
            with front.lock:
                front.asked.append((self.command, self.path))
                front.ranges.append((self.path, self.headers.get("Range")))
                front.tokens.append(self.headers.get("x-amz-security-token"))
                number = len(front.asked)
            front.ahead(number)
            fault = front.fault(self.command, self.path, number)
            if fault == "no answer":  # the store never hears of it
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            if fault and fault.isdigit():
                said = f"<Error><Code>{CODES.get(fault, 'AccessDenied')}</Code></Error>".encode()
                self.send_response(int(fault))
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said if self.command != "HEAD" else b"")
                return
            if fault == "wrong bytes" and body:
                body = bytes([body[0] ^ 1]) + body[1:]
                fault = None
            self.pass_on(body, fault, number)

        do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = answer  # noqa: N815

        def pass_on(self, body: bytes, fault: str | None, number: int) -> None:
            headers = {name: value for name, value in self.headers.items() if name != "Host"}
            self.onward.request(self.command, self.path, body or None, headers)
            response = self.onward.getresponse()
            data = response.read()
            front.behind(number)
            if fault == "lost answer":  # the store has done it
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            self.send_response(response.status)
            kept = {"content-length", "transfer-encoding", "connection", "date", "server"}
            for name, value in response.getheaders():
                if name.lower() not in kept:
                    self.send_header(name, value)
            size = response.getheader("Content-Length") if self.command == "HEAD" else len(data)
            self.send_header("Content-Length", str(size))
            self.end_headers()
            self.send(data, fault)

        def send(self, data: bytes, fault: str | None) -> None:
            if fault == "wrong bytes" and data:
                data = bytes([data[0] ^ 1]) + data[1:]
            send_body(self, data, fault, front.seconds_per_block, BLOCK)

    return Handler


@contextmanager
def front_of(port: int) -> Iterator[Front]:
    """A door before the store on a port of its own."""
    front = Front(port)
    with listening(handler_of(front)) as front.address:
        yield front
    assert front.badly_signed == []
