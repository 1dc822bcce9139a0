"""Start a step: `python -IS start.py SCRIPT LOG < JOB`, as the commands of the rules do.

If the run has a server (corpusmill/run/warm.py), it forks a process for the step, which need not
import anything. Otherwise, or if the server does not answer, this process becomes the step.

This file imports only modules that load at once: it runs before every job.
"""

import _signal
import _socket
import os
import sys
import time

SERVER = "CORPUSMILL_WARM"
"""Environment variable with the address of the server."""
BEGAN = "CORPUSMILL_BEGAN"
"""Environment variable with the start of the job, in seconds since 1970."""
PATIENCE_SECONDS = 5.0
"""Seconds to wait for the server. One that takes longer has died or hangs."""
HELLO, READY, STALE, GO = b"h", b"+", b"-", b"!"
"""The server's greeting, its two answers to a request, and the client's reply to READY."""
EXITED, KILLED = b"e", b"k"
"""First byte of the last message; the second is the exit code, or the number of the signal."""


def addresses(script: str) -> list[str]:
    """Return the addresses of the servers for a script, the one that serves only its step first."""
    if SERVER not in os.environ:
        return []
    first = os.environ[SERVER]
    own = first + "-" + os.path.basename(script).partition(".")[0]
    return [own, first] if os.path.exists(own) else [first]


def handed_over(address: str) -> int | None:
    """Have the server run this process's step; return its exit code, or None if it cannot."""
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    server.settimeout(PATIENCE_SECONDS)
    job = [os.fsencode(part) for part in (sys.executable, os.getcwd(), *sys.argv[1:], "")]
    job += [b"=".join(one) for one in os.environb.items()]
    asked = b"\0".join(job)
    streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
    try:
        server.connect(address)
        # A server that hangs must not get the streams, or whoever reads them would wait for it.
        if received(server, 1) != HELLO:
            return None
        server.sendmsg(
            [len(asked).to_bytes(8, "little")],
            [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)],
        )
        server.sendall(asked)
        if received(server, 1) != READY:
            return None
        process = int.from_bytes(received(server, 8), "little")
        server.sendall(GO)  # from here on, only that process does the job
    except TimeoutError:
        # Other jobs need not wait, too.
        if os.path.exists(address):
            os.unlink(address)
        return None
    except OSError:
        return None
    server.settimeout(None)
    for number in (_signal.SIGTERM, _signal.SIGINT):
        _signal.signal(number, lambda number, _: os.kill(process, number))
    end = received(server, 2)
    if end[:1] == EXITED:
        return end[1]
    # Without a message, both processes were killed.
    return 128 + (end[1] if end else _signal.SIGKILL)


def received(server: _socket.socket, size: int) -> bytes:
    """Return so many bytes; none if the other side has closed the connection."""
    data = b""
    while len(data) < size:
        more = server.recv(size - len(data))
        if not more:
            return b""
        data += more
    return data


if __name__ == "__main__":
    os.environ[BEGAN] = repr(time.time())
    for address in addresses(sys.argv[1]):
        code = handed_over(address)
        if code is not None:
            os._exit(code)
    os.execv(sys.executable, [sys.executable, "-P", *sys.argv[1:]])
