"""Servers that an enemy runs: slow ones are given up, odd answers are a sentence."""

import contextlib
import itertools
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from threading import Event

import pytest
from click.testing import CliRunner

from corpusmill.cli.main import main
from corpusmill.reader.downloads import Remote, download
from corpusmill.reader.http_store import HttpStore
from corpusmill.reader.patience import Patience
from corpusmill.reader.s3.answers import PassingFault, parsed
from corpusmill.reader.s3.bucket import MOST_BARREN, Bucket
from corpusmill.reader.stores import PassingError
from corpusmill.run.job_progress import Heartbeat
from corpusmill.tools.verify.findings import UnreachableError
from corpusmill.tools.verify.locations import RemotePlace


@contextlib.contextmanager
def saying(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """The address of a server that answers every request so, byte for byte."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    threading.Thread(target=one, args=(server.accept()[0],), daemon=True).start()

        def one(asked: socket.socket) -> None:
            with asked, contextlib.suppress(OSError):
                asked.recv(1 << 16)
                answer(asked)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)


def again_and_again(piece: bytes, first: bytes = b"") -> Callable[[socket.socket], None]:
    def answer(asked: socket.socket) -> None:
        asked.sendall(first)
        while True:
            asked.sendall(piece)
            time.sleep(0.02)

    return answer


FOUND = b"HTTP/1.1 200 OK\r\n"
SLOW = {
    "100 Continue": again_and_again(b"HTTP/1.1 100 Continue\r\n\r\n"),
    "a header": again_and_again(b"a", FOUND + b"X: "),
    "headers": again_and_again(b"X: a\r\n", FOUND),
    "a body": again_and_again(b"a", FOUND + b"\r\n"),
    "chunks": again_and_again(b"1\r\na\r\n", FOUND + b"Transfer-Encoding: chunked\r\n\r\n"),
    "nothing": again_and_again(b""),
}


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr("corpusmill.reader.s3.responses.HEADER_SECONDS", 0.4)
    monkeypatch.setattr("corpusmill.reader.s3.responses.WAITED_SECONDS", 0.4)


@pytest.mark.parametrize("slow", SLOW)
def test_place__of_a_server_that_is_too_slow_is_given_up(slow, impatient):
    said: list[str] = []
    with saying(SLOW[slow]) as address:
        began = time.monotonic()
        place = RemotePlace(HttpStore(address), said.append, Patience(3, 0.01, 0.01))
        with pytest.raises(UnreachableError, match=f"{address}/manifest.json: .*3 times in a row"):
            for _ in place.blocks("manifest.json"):
                pass
    assert time.monotonic() - began < 8
    assert len(said) == 2


@pytest.mark.parametrize("slow", ["a header", "a body", "nothing"])
def test_verify__gives_a_slow_server_up_after_two_attempts(slow, impatient, monkeypatch):
    monkeypatch.setattr("corpusmill.reader.http_store.SILENCE_SECONDS", 0.4)
    with saying(SLOW[slow]) as address:
        began = time.monotonic()
        got = CliRunner().invoke(main, ["verify", address])
    assert got.exit_code == 2
    assert f"{address}/manifest.json: " in got.stderr
    assert "2 times in a row" in got.stderr
    assert time.monotonic() - began < 8


class Dripping:
    """A store that sends a few bytes from where it is asked, and breaks off."""

    def __init__(self) -> None:
        self.asked = 0

    def where(self, name: str) -> str:
        return name

    def blocks(self, name: str, start: int, size: int) -> Iterator[bytes]:
        self.asked += 1
        assert self.asked < 10
        yield b"abc"
        raise PassingError(f"{name}: broken off")


def test_download__is_given_up_where_each_attempt_brings_few_bytes(tmp_path):
    file, store = Remote("a.bin", 1 << 20, "0" * 64), Dripping()
    with pytest.raises(OSError, match=r"a\.bin: broken off, 3 times in a row"):
        download(store, file, tmp_path / "a", Patience(3, 0, 0), lambda line: None, Event())
    assert store.asked == 3


def test_heartbeat__says_what_is_waited_for(monkeypatch):
    monkeypatch.setattr("corpusmill.run.job_progress.SAY_EVERY_SECONDS", 0.05)
    said: list[str] = []
    heartbeat = Heartbeat(said.append)
    with saying(SLOW["a header"]) as address:
        place = RemotePlace(HttpStore(address), said.append, Patience(1, 0.01, 0.01))

        def read() -> None:
            with contextlib.suppress(UnreachableError):
                list(place.blocks("a"))

        reader = threading.Thread(target=read)
        reader.start()
        heartbeat.start()
        time.sleep(0.5)
        heartbeat.stop()
    reader.join()
    assert said[-1].startswith(f"waiting for {address}/a (")


def answering(body: bytes, head: bytes = b"") -> Callable[[socket.socket], None]:
    size = f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
    return lambda asked: asked.sendall(FOUND + head + size + body)


@pytest.mark.parametrize("to", [b"http://[::1", b"http://\x1b[31m\xff[", b"http://a:b/"])
def test_store__that_sends_us_on_to_no_address_is_named(to):
    moved = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + to + b"\r\n\r\n"
    with (
        saying(lambda asked: asked.sendall(moved)) as address,
        pytest.raises((ValueError, PassingError), match=re.escape(f"{address}/a: ")),
    ):
        list(HttpStore(address).blocks("a"))


@pytest.mark.parametrize("encoding", ["utf-7", "rot13", "zlib", "none", "undefined", "idna"])
def test_xml__of_an_odd_encoding_is_none(encoding):
    assert parsed(f'<?xml version="1.0" encoding="{encoding}"?><a/>'.encode()) is None


@pytest.mark.parametrize(
    ("keys", "says"),
    [(["a"], "expected a list with an end"), ([], "expected a list with an end"),
     ([""], "expected keys, found one without a name")],
)  # fmt: skip
def test_list__without_an_end_or_names_is_refused(keys, says, monkeypatch):
    for name, value in (("ACCESS_KEY_ID", "a"), ("SECRET_ACCESS_KEY", "b"), ("REGION", "c")):
        monkeypatch.setenv(f"AWS_{name}", value)
    number = itertools.count()

    def answer(asked: socket.socket) -> None:
        entries = "".join(f"<Contents><Key>{k}</Key><Size>1</Size></Contents>" for k in keys)
        more = "<IsTruncated>true</IsTruncated>"
        token = f"<NextContinuationToken>{next(number)}</NextContinuationToken>"
        listed = f"<ListBucketResult>{entries}{more}{token}</ListBucketResult>"
        answering(listed.encode())(asked)

    with (
        saying(answer) as address,
        Bucket("bucket", address) as bucket,
        pytest.raises((ValueError, PassingFault), match=says),
    ):
        bucket.listed("a/")
    assert next(number) <= MOST_BARREN + 2
