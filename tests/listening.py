"""What the servers of tests share: each on a port of its own, and bodies that break off."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client that was killed, or a connection that this server broke: both are wanted."""


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server."""
    server = Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def send_body(
    handler: BaseHTTPRequestHandler, body: bytes, fault: str | None, seconds_per_block: float,
    block_bytes: int,
) -> None:  # fmt: skip
    """All of it, or half where it is to be truncated, reset or stalled."""
    if fault in ("truncated", "reset", "stalled"):
        body = body[: len(body) // 2]
    for start in range(0, len(body), block_bytes):
        handler.wfile.write(body[start : start + block_bytes])
        time.sleep(seconds_per_block)
    if fault == "stalled":
        time.sleep(3)
    if fault:
        handler.wfile.flush()
        handler.close_connection = True
    if fault == "reset":
        handler.connection.close()
