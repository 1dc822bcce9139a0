"""A server of files on this machine that can be told to misbehave."""

from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import unquote

from listening import listening, send_body


class Files:
    """faults: a function of a path gives, for each request, the fault to make of it, or None."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.fault: Callable[[str, int], str | None] = lambda path, request: None
        self.requests: Counter[str] = Counter()
        self.ranges: list[tuple[str, str | None]] = []
        self.headers: list[dict] = []
        self.knows_ranges = True
        self.seconds_per_block = 0.0
        self.address = ""


BLOCK = 1 << 12


def handler_of(files: Files) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

        def do_GET(self) -> None:
            path = unquote(self.path.lstrip("/").partition("?")[0])
            asked = self.headers.get("Range")
            files.requests[path] += 1
            files.ranges.append((path, asked))
            files.headers.append(dict(self.headers))
            fault = files.fault(path, files.requests[path])
            if fault and fault.isdigit():
                self.send_response(int(fault))
                self.send_header("Content-Length", "0")
                if fault.startswith("3"):
                    self.send_header(
                        "Location", files.address.replace("127.0.0.1", "localhost") + f"/{path}"
                    )
                self.end_headers()
                return
            file = files.folder / path
            if not file.is_file():
                self.send_error(404)
                return
            data = file.read_bytes()
            first = int(asked.removeprefix("bytes=").split("-")[0]) if asked else 0
            ranged = files.knows_ranges and asked is not None
            self.answer(
                data[first:] if ranged else data, first if ranged else None, len(data), fault
            )

        def answer(self, body: bytes, first: int | None, size: int, fault: str | None) -> None:
            self.send_response(200 if first is None else 206)
            if first is not None:
                told = 0 if fault == "wrong range" else first
                self.send_header("Content-Range", f"bytes {told}-{size - 1}/{size}")
            self.send_header("Content-Length", str(len(body) + (fault == "longer")))
            self.end_headers()
            if fault == "wrong bytes":
                body = bytes(255 - byte for byte in body)
            send_body(self, body, fault, files.seconds_per_block, BLOCK)

    return Handler


@contextmanager
def served(folder: Path):
    """A server of a folder on a port of its own; gives its `Files`."""
    files = Files(folder)
    with listening(handler_of(files)) as files.address:
        yield files
