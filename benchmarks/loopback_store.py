"""A minimal object store on this machine, for measuring clients.

    python benchmarks/loopback_store.py

prints its port. It keeps objects in memory, repeats the checksums that it receives, and verifies
neither signatures nor digests. For benchmarks only.
"""

import itertools
import re
import socketserver
import sys
import urllib.parse
from pathlib import Path
from xml.sax.saxutils import escape

sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout, as rules/common.smk does

from corpusmill.reader.s3.bucket import composite

CHECKSUM = "x-amz-checksum-sha256"
OBJECTS: dict[str, tuple[list[bytes], dict[str, str]]] = {}
UPLOADS: dict[str, dict[int, tuple[bytes, str]]] = {}
NUMBERS = itertools.count(1)


class Handler(socketserver.StreamRequestHandler):
    rbufsize = 1 << 16
    disable_nagle_algorithm = True

    def handle(self) -> None:
        while line := self.rfile.readline():
            method, target, _ = line.decode().split()
            headers = {}
            while (line := self.rfile.readline()) not in (b"\r\n", b""):
                name, _, value = line.decode().partition(":")
                headers[name.lower()] = value.strip()
            if headers.get("expect") == "100-continue":
                self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            body = self.body(int(headers.get("content-length", 0)))
            path, _, text = target.partition("?")
            query = dict(urllib.parse.parse_qsl(text, keep_blank_values=True))
            self.answer(method, path, query, headers, body)

    def body(self, size: int) -> bytes:
        data = bytearray(size)
        view, came = memoryview(data), 0
        while came < size and (more := self.rfile.readinto1(view[came:])):
            came += more
        return data

    def say(
        self, status: int, headers: dict[str, str] | None = None, *pieces, size: int | None = None
    ) -> None:
        length = sum(map(len, pieces)) if size is None else size
        told = {"Content-Length": str(length), **(headers or {})}
        lines = "".join(f"{name}: {value}\r\n" for name, value in told.items())
        self.wfile.write(f"HTTP/1.1 {status} x\r\n{lines}\r\n".encode())
        for piece in pieces:
            self.connection.sendall(piece)

    def xml(self, root: str, inside: str) -> None:
        self.say(200, {"Content-Type": "application/xml"}, f"<{root}>{inside}</{root}>".encode())

    def answer(self, method: str, path: str, query: dict, headers: dict, body: bytes) -> None:
        upload = query.get("uploadId", "")
        kept = {name: value for name, value in headers.items()
                if name in (CHECKSUM, "x-amz-meta-sha256")}  # fmt: skip
        if method == "PUT" and upload:
            number = int(query["partNumber"])
            UPLOADS[upload][number] = (body, headers.get(CHECKSUM, ""))
            self.say(200, {"ETag": f'"{number}"', **kept})
        elif method == "PUT" and headers.get("if-none-match") and path in OBJECTS:
            self.say(412)
        elif method == "PUT":
            OBJECTS[path] = ([body], kept)
            self.say(200, {"ETag": '"1"', **kept})
        elif method == "POST" and upload:
            self.put_together(path, UPLOADS.pop(upload))
        elif method == "POST":
            name = f"upload-{next(NUMBERS)}"
            UPLOADS[name] = {}
            self.xml("InitiateMultipartUploadResult", f"<UploadId>{name}</UploadId>")
        elif method == "DELETE":
            OBJECTS.pop(path, None)
            self.say(204)
        elif "uploads" in query:
            self.xml("ListMultipartUploadsResult", "")
        elif "list-type" in query:
            self.list(path, query)
        elif path not in OBJECTS:
            self.say(404)
        else:
            self.send(method, headers, *OBJECTS[path])

    def put_together(self, path: str, parts: dict[int, tuple[bytes, str]]) -> None:
        pieces, checksums = zip(*(parts[number] for number in sorted(parts)), strict=True)
        told = {CHECKSUM: composite(checksums)} if all(checksums) else {}
        OBJECTS[path] = (list(pieces), told)
        self.xml("CompleteMultipartUploadResult", "<ETag>1</ETag>")

    def send(self, method: str, headers: dict, pieces: list[bytes], kept: dict[str, str]) -> None:
        size = sum(map(len, pieces))
        told = {"ETag": '"1"', "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT", **kept}
        if method == "HEAD":
            self.say(200, told, size=size)
            return
        span = re.match(r"bytes=(\d+)-(\d*)", headers.get("range", ""))
        if not span:
            self.say(200, told, *map(memoryview, pieces))
            return
        first, last = int(span[1]), int(span[2] or size - 1)
        data = memoryview(b"".join(pieces))[first : last + 1]
        self.say(206, {**told, "Content-Range": f"bytes {first}-{last}/{size}"}, data)

    def list(self, path: str, query: dict) -> None:
        prefix, bucket = query.get("prefix", ""), f"{path.rstrip('/')}/"
        inside, folders = "", set()
        for key, (pieces, _) in sorted(OBJECTS.items()):
            name = key.removeprefix(bucket)
            if name.startswith(prefix):
                if query.get("delimiter") and "/" in name[len(prefix) :]:
                    folders.add(prefix + name[len(prefix) :].split("/")[0] + "/")
                else:
                    size = sum(map(len, pieces))
                    inside += f"<Contents><Key>{escape(name)}</Key><Size>{size}</Size></Contents>"
        inside += "".join(
            f"<CommonPrefixes><Prefix>{one}</Prefix></CommonPrefixes>" for one in sorted(folders)
        )
        self.xml("ListBucketResult", inside)


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 128


if __name__ == "__main__":
    with Server(("127.0.0.1", 0), Handler) as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()
