"""Servers that an enemy runs: slow ones are given up, odd answers are a sentence."""

import contextlib
import itertools
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from threading import Event
from urllib.parse import quote

import pytest
from click.testing import CliRunner
from stream_corpus import write_corpus
from workflow import ROOT

from corpusmill.cli.main import main
from corpusmill.mill.storage.untrusted import joined
from corpusmill.reader import Corpus
from corpusmill.reader.downloads import Remote, download
from corpusmill.reader.http_store import HttpStore, onward
from corpusmill.reader.patience import Patience
from corpusmill.reader.s3.answers import parsed
from corpusmill.reader.s3.bucket import MOST_BARREN, Bucket
from corpusmill.reader.stores import PassingError
from corpusmill.run.job_progress import Heartbeat
from corpusmill.tools.publish.target import Target
from corpusmill.tools.verify.findings import UnreachableError
from corpusmill.tools.verify.locations import RemotePlace


def saying(answer: Callable[[socket.socket], None]) -> contextlib.AbstractContextManager[str]:
    """The address of a server that answers every request so, byte for byte."""
    return saying_to(lambda asked, request: answer(asked))


@contextlib.contextmanager
def saying_to(answer: Callable[[socket.socket, bytes], None]) -> Iterator[str]:
    """The same of one whose answers depend on the request."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    threading.Thread(target=one, args=(server.accept()[0],), daemon=True).start()

        def one(asked: socket.socket) -> None:
            with asked, contextlib.suppress(OSError):
                # A stopped client may close a connection before it asks for anything.
                if request := asked.recv(1 << 16):
                    answer(asked, request)

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
CHUNKED = FOUND + b"Transfer-Encoding: chunked\r\n\r\n"
CHUNK = b"1;aaaaaaaaaa\r\na\r\n"
"""Of one byte, and fifteen around it: what comes fast may bring little."""
SLOW = {
    "100 Continue": again_and_again(b"HTTP/1.1 100 Continue\r\n\r\n"),
    "a header": again_and_again(b"a", FOUND + b"X: "),
    "headers": again_and_again(b"X: a\r\n", FOUND),
    "a body": again_and_again(b"a", FOUND + b"\r\n"),
    "chunks": again_and_again(b"1\r\na\r\n", CHUNKED),
    "chunks with extensions": again_and_again(CHUNK * 100, CHUNKED),
    "the size of a chunk": again_and_again(b"0", CHUNKED),
    "a trailer": again_and_again(b"X: " + b"a" * 1000 + b"\r\n", CHUNKED + b"0\r\n"),
    "nothing": again_and_again(b""),
}


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr("corpusmill.reader.s3.responses.HEADER_SECONDS", 0.4)
    monkeypatch.setattr("corpusmill.reader.s3.responses.WAITED_SECONDS", 0.4)


@pytest.mark.some(3)
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


@pytest.mark.some(3)
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


def test_verify__of_a_silent_server_ends_with_ctrl_c_at_once(tmp_path):
    results = write_corpus(tmp_path / "c", {"train": [[20]]})
    asked = Event()

    def answer(connection: socket.socket, request: bytes) -> None:
        name = request.split()[1].decode().lstrip("/")
        if name.endswith(".bin"):
            asked.set()
            time.sleep(60)
        data = (results / name).read_bytes()
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(data) + data)

    with saying_to(answer) as address:
        command = [sys.executable, "-m", "corpusmill", "verify", address]
        process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
        assert asked.wait(60)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=15)  # it counts as broken after 30 seconds
    assert process.returncode == 130
    assert said.splitlines()[-1].startswith("Stopped.")


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
    monkeypatch.setattr("corpusmill.messages.progress.SAY_EVERY_SECONDS", 0.05)
    said: list[str] = []
    heartbeat = Heartbeat(said.append)
    with saying(SLOW["a header"]) as address:
        place = RemotePlace(HttpStore(address), said.append, Patience(1, 0.01, 0.01))

        def read() -> None:
            with contextlib.suppress(UnreachableError):
                list(place.blocks("a"))

        # Nobody waits for it: the server would be given up after 30 seconds.
        threading.Thread(target=read, daemon=True).start()
        heartbeat.start()
        time.sleep(0.5)
        heartbeat.stop()
    assert said[-1].startswith(f"waiting for {address}/a (")


@pytest.mark.some(3)
@pytest.mark.parametrize("slow", ["a header", "a body", "nothing"])
def test_opening__says_every_two_seconds_what_is_waited_for(slow, tmp_path, monkeypatch):
    monkeypatch.setattr("corpusmill.messages.progress.SAY_EVERY_SECONDS", 0.05)
    monkeypatch.setattr("corpusmill.reader.http_store.SILENCE_SECONDS", 0.5)
    monkeypatch.setattr("corpusmill.reader.s3.responses.HEADER_SECONDS", 0.5)
    monkeypatch.setattr("corpusmill.reader.s3.responses.WAITED_SECONDS", 0.5)
    said: list[str] = []
    with saying(SLOW[slow]) as address, pytest.raises(OSError, match="1 times in a row"):
        Corpus(address, tmp_path, say=said.append, patience=Patience(1, 0.01, 0.01))
    waiting = [line for line in said if line.startswith(f"waiting for {address}/manifest.json (")]
    assert len(waiting) > 1


def test_opening__of_a_long_manifest_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("corpusmill.messages.progress.SAY_EVERY_SECONDS", 0.05)
    monkeypatch.setattr("corpusmill.reader.manifest.json_of", lambda *_: time.sleep(0.5))
    said: list[str] = []
    results = write_corpus(tmp_path, {"train": [[30]]})
    with pytest.raises(ValueError, match=r"manifest\.json: expected"):
        Corpus(results, say=said.append)
    assert said[-1].startswith(f"opening {results}/manifest.json (")


def test_store__that_takes_a_request_and_says_nothing_is_named(signed_in, monkeypatch):
    monkeypatch.setattr("corpusmill.messages.progress.SAY_EVERY_SECONDS", 0.05)
    said: list[str] = []
    heartbeat = Heartbeat(said.append)
    with saying(lambda asked: time.sleep(3)) as address, Bucket("bucket", address) as bucket:
        bucket.connections.silence_seconds = 0.5
        heartbeat.start()
        with pytest.raises(PassingError, match="timed out"):
            bucket.put("n/publication.json", b"{}")
        heartbeat.stop()
    waiting = "waiting for PUT s3://bucket/n/publication.json ("
    assert any(line.startswith(waiting) for line in said)


def test_store__that_is_asked_again_later_is_named(monkeypatch):
    monkeypatch.setattr("corpusmill.messages.progress.SAY_EVERY_SECONDS", 0.05)
    monkeypatch.setattr("random.uniform", lambda least, most: most)
    said: list[str] = []
    heartbeat = Heartbeat(said.append)
    heartbeat.start()
    again = Patience(2, 0.5, 0.5)
    target = Target(Bucket("bucket"), "n", "1", again, lambda line: None)
    fault = PassingError("s3://bucket/n: the store answered 503")
    with pytest.raises(OSError, match="2 times in a row"):
        target.patiently(lambda: raised(fault))
    heartbeat.stop()
    assert said[-1].startswith(f"waiting for the next attempt: {fault} (")


def raised(fault: Exception) -> None:
    raise fault


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


ENDLESS = {
    "extensions": b"1;" + b"e" * 60_000 + b"\r\n \r\n",
    "small extensions": b"1;" + b"e" * 100 + b"\r\n \r\n",
    "sizes with zeros": b"0" * 200 + b"1\r\n \r\n",
    "negative sizes": b"-5\r\nhello\r\n",
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_chunks__with_more_around_them_than_in_them_are_given_up_at_once(kind):
    def answer(asked: socket.socket) -> None:
        asked.sendall(CHUNKED)
        while True:
            asked.sendall(ENDLESS[kind])

    began = time.process_time()
    with (
        saying(answer) as address,
        pytest.raises(
            PassingError, match=r"/a: (more than 16,384 bytes of overhead|a chunk of -5)"
        ),
    ):
        joined(HttpStore(address).blocks("a"), "a", most=1000)
    assert time.process_time() - began < 2


def test_chunks__of_any_size_are_read():
    sizes = [1] * 20_000 + [7, 1 << 16, 300_000]
    body = b"".join(b"%x;a=b\r\n%s\r\n" % (size, b"x" * size) for size in sizes)
    with saying(lambda asked: asked.sendall(CHUNKED + body + b"0\r\nX: y\r\n\r\n")) as address:
        assert sum(map(len, HttpStore(address).blocks("a"))) == sum(sizes)


def moved(to: str, code: int = 302) -> bytes:
    return f"HTTP/1.1 {code} Found\r\nLocation: {to}\r\n\r\n".encode()


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_redirect__is_followed_and_its_endless_body_never_read(code):
    taken = [0]

    def endless(asked: socket.socket) -> None:
        asked.sendall(moved(found, code))
        for _ in range(512):
            asked.sendall(b"x" * (1 << 20))
            taken[0] += 1

    with saying(answering(b"here")) as found, saying(endless) as address:
        assert b"".join(HttpStore(address).blocks("a")) == b"here"
    assert taken[0] < 32


TARGETS = {
    "ftp://127.0.0.1:{port}/x": "ftp",
    "file:///etc/passwd": "file",
    "data:text/plain,abc": "data",
    "https:///x": "https",
    "http://me:secret@127.0.0.1:{port}/x": "password",
    "//127.0.0.1:99999/x": "99999",
    "http://" + "a" * 300 + ".example/": "aaa",
}


@pytest.mark.parametrize("to", TARGETS)
def test_redirect__to_no_address_of_the_web_is_refused_and_nobody_asked(to):
    asked = []
    with saying(asked.append) as other:
        place = to.format(port=other.rpartition(":")[2])
        with (
            saying(lambda asked: asked.sendall(moved(place))) as address,
            pytest.raises(
                ValueError, match=f"{address}/a: expected a redirect to .* found a redirect to"
            ) as refused,
        ):
            list(HttpStore(address).blocks("a"))
    assert TARGETS[to] in str(refused.value)
    assert "secret" not in str(refused.value)
    assert not asked


def test_redirect__to_a_host_of_other_characters_is_told_with_the_address():
    with (
        saying(lambda asked: asked.sendall(moved("http://%E4%BE%8B%E3%81%88.jp/"))) as address,
        pytest.raises(ValueError, match=f"{address}/a: expected a host name in ASCII"),
    ):
        list(HttpStore(address).blocks("a"))


def test_redirect__from_https_to_http_is_refused():
    with pytest.raises(ValueError, match="expected a redirect to an https address"):
        onward("https://example.org/a", "http://example.org/a", "a")
    assert onward("http://example.org/a", "https://b.org/a", "a") == "https://b.org/a"
    assert onward("https://b.org/a/b?c", "d e?f=\xe4", "a") == "https://b.org/a/d%20e?f=%E4"


def test_redirects__end_after_ten():
    asked = []

    def on(socket: socket.socket) -> None:
        asked.append(1)
        socket.sendall(moved(f"/{len(asked)}"))

    with saying(on) as address, pytest.raises(ValueError, match="more than 10 redirects"):
        list(HttpStore(address).blocks("a"))
    assert len(asked) == 11


def test_headers__that_another_server_did_not_get_never_come_back():
    got = []

    def two(asked: socket.socket, head: bytes) -> None:
        got.append(head)
        asked.sendall(moved("/again") if len(got) == 1 else FOUND + b"Content-Length: 0\r\n\r\n")

    with (
        saying_to(two) as other,
        saying(lambda asked: asked.sendall(moved(f"{other}/a"))) as address,
    ):
        list(HttpStore(address, {"Authorization": "secret"}).blocks("a"))
    assert len(got) == 2
    assert b"secret" not in b"".join(got)


@pytest.mark.parametrize("encoding", ["utf-7", "rot13", "zlib", "none", "undefined", "idna"])
def test_xml__of_an_odd_encoding_is_none(encoding):
    assert parsed(f'<?xml version="1.0" encoding="{encoding}"?><a/>'.encode()) is None


@pytest.fixture
def signed_in(monkeypatch):
    for name, value in (("ACCESS_KEY_ID", "a"), ("SECRET_ACCESS_KEY", "b"), ("REGION", "c")):
        monkeypatch.setenv(f"AWS_{name}", value)


@pytest.mark.parametrize(
    ("keys", "says"),
    [(["a/b"], "found an endless list"), ([], "found an endless list"),
     ([""], "found an empty name")],
)  # fmt: skip
def test_list__without_an_end_or_names_is_refused(keys, says, signed_in):
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
        pytest.raises((ValueError, PassingError), match=says),
    ):
        bucket.listed("a/")
    assert next(number) <= MOST_BARREN + 2


FOREIGN = "other/\x1bprecious"
LISTS = {
    "objects": f"<Contents><Key>{quote(FOREIGN)}</Key><Size>1</Size></Contents>",
    "folders": f"<CommonPrefixes><Prefix>{quote(FOREIGN)}/</Prefix></CommonPrefixes>",
    "uploads": f"<Upload><Key>{quote(FOREIGN)}</Key><UploadId>1</UploadId></Upload>",
}


@pytest.mark.parametrize("kind", LISTS)
def test_list__of_what_was_not_asked_for_is_refused(kind, signed_in):
    root = "ListMultipartUploadsResult" if kind == "uploads" else "ListBucketResult"
    body = answering(f"<{root}>{LISTS[kind]}</{root}>".encode())
    with (
        saying(body) as address,
        Bucket("bucket", address) as bucket,
        pytest.raises(ValueError, match=r"^s3://bucket/n/versions/1/: .*lists other/\\x1bprecious"),
    ):
        (bucket.uploads if kind == "uploads" else bucket.listed)("n/versions/1/")
