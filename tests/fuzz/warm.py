"""Jobs without the half second in which Python starts and imports: a server forks each of them.

A run of the mill is some sixty small processes, and most of their time goes by before they begin.
The server has imported what they need; in place of Python, Snakemake starts a client that has
it fork a process for the script. What the scripts do is what they do otherwise.
"""

import array
import contextlib
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path

import workflow
from workflow import ROOT

MODULES = ["numba", "pyarrow.parquet", "msgspec", "zstandard", "ftfy", "transformers"]
SNAKEMAKE = "import sys; sys.executable = sys.argv.pop(1); from snakemake.cli import main; main()"
# Standard library only, and not even its site packages: it has to start in no time.
CLIENT = """#!{python} -IS
import array, json, os, socket, sys
if sys.argv[1] != "-P" or not sys.argv[2].endswith(".py"):  # no script of a step
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
asked = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
streams = array.array("i", [0, 1, 2])
handed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)]
server.sendmsg([len(asked).to_bytes(8, "little")], handed)
server.sendall(asked)
answer = server.recv(1)
sys.exit(answer[0] if answer else 70)
"""


def snakemake(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Snakemake run in `folder`, its jobs by the server if there is one."""
    if not (client := os.environ.get("FUZZ_PYTHON")):
        return workflow.snakemake(folder, *arguments)
    return subprocess.run(
        [sys.executable, "-c", SNAKEMAKE, client, "-s", str(ROOT / "Snakefile"), *arguments],
        cwd=folder, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


@contextlib.contextmanager
def warm_jobs() -> Iterator[None]:
    """A server while this lasts, also for the processes that are started here."""
    with tempfile.TemporaryDirectory(prefix="warm") as folder:
        address, client = Path(folder) / "server", Path(folder) / "python"
        client.write_text(CLIENT.format(python=sys.executable, address=str(address)))
        client.chmod(0o700)
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")]),
            "ARROW_DEFAULT_MEMORY_POOL": "system",
        }
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(address))
            listening.listen()
            server = subprocess.Popen(
                [sys.executable, "-m", "fuzz.warm", str(listening.fileno())],
                pass_fds=[listening.fileno()], env=environment,
            )  # fmt: skip
        before = dict(os.environ)
        os.environ["FUZZ_PYTHON"] = str(client)
        try:
            yield
        finally:
            os.environ.pop("FUZZ_PYTHON")
            os.environ.update(before)  # a server around this one
            server.kill()
            server.wait()


def serve(listening: socket.socket) -> None:
    """Fork a process for every request; it answers with its own exit status."""
    for name in [*MODULES, *kernels()]:
        importlib.import_module(name)
    # What is here now is no garbage, and looking for it would copy all of its pages.
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    while True:
        connection, _ = listening.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listening.close()
            status = status_of(asked_script(connection))
            sys.stdout.flush()
            sys.stderr.flush()
            connection.sendall(bytes([status & 255]))
            # Not Python's own end, which takes apart every module that the server has imported.
            os._exit(0)
        connection.close()


def kernels() -> list[str]:
    return [
        f"corpusmill.kernels.{path.stem}" for path in (ROOT / "corpusmill/kernels").glob("*.py")
    ]


def asked_script(connection: socket.socket) -> str:
    """The script that was asked for, in the place of this process: its streams, its folder."""
    head, ancillary, _, _ = connection.recvmsg(8, socket.CMSG_SPACE(12))
    asked = b""
    while len(asked) < int.from_bytes(head, "little"):
        asked += connection.recv(1 << 16)
    arguments, folder, environment = json.loads(asked)
    for number, stream in enumerate(array.array("i", ancillary[0][2])):
        os.dup2(stream, number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = arguments[1:]  # behind -P
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    return sys.argv[0]


def status_of(script: str) -> int:
    """What a script exits with, run to its end; it tells what it tells."""
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        if not isinstance(end.code, str):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
