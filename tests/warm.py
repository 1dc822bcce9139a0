"""Runs without the seconds in which Python starts and imports: a server forks their processes.

A run of the mill is Snakemake and some sixty small jobs, and most of their time goes by before they
begin. The server has imported what they need; in place of Python, a client has it fork a process
for Snakemake, `corpusmill` or the script of a step. What these do is what they do otherwise.
"""

import array
import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from corpusmill.run.start import SERVER
from corpusmill.run.warm import exit_code

ROOT = Path(__file__).parents[1]
PATH = [str(ROOT), str(ROOT / "tests"), str(ROOT / "corpusmill/cli/snakemake_plugin")]
"""Where the server finds what it imports, beside what every Python finds."""
MODULES = ["numba", "numpy.ma", "pyarrow.parquet", "pyarrow.dataset", "msgspec", "zstandard",
           "ftfy", "gigatoken", "tokenizers.trainers", "transformers.models.auto.tokenization_auto",
           "transformers.convert_slow_tokenizer", "snakemake.cli", "smart_open"]  # fmt: skip
CLIENT_OF = "WARM_PYTHON"
"""The variable that has the path of the client while there is a server."""
EVENTS = "CORPUSMILL_EVENTS"
"""The variable with the number of a pipe to `corpusmill run`, if that is who asks."""
FIRST = "WARM_FIRST"
"""The variable with the name of a module that processes import before they begin."""
# Standard library only, and not even its site packages: it has to start in no time.
CLIENT = """#!{python} -IS
import array, json, os, socket, sys
if sys.argv[1] == "-IS" and sys.argv[2].endswith("/corpusmill/run/start.py"):
    sys.argv[1:3] = ["-P"]
step = sys.argv[1] == "-P" and sys.argv[2].endswith(".py")
module = [one for one in sys.argv[1:4] if one != "-P"][:2]
if not step and module not in (["-m", "snakemake"], ["-m", "corpusmill"]):
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
asked = json.dumps([sys.argv, os.getcwd(), dict(os.environ)]).encode()
streams = array.array("i", [0, 1, 2])
if not step:
    streams.extend(map(int, os.environ.get({events!r}, "").split()))
handed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)]
server.sendmsg([len(asked).to_bytes(8, "little")], handed)
server.sendall(asked)
answer = server.recv(1)
if not answer:
    os.kill(os.getpid(), 9)  # so was what did the job
sys.exit(answer[0])
"""


def warm_python() -> str:
    """A Python for Snakemake and for steps; its server lasts as long as this process."""
    if CLIENT_OF not in os.environ:
        lasting = contextlib.ExitStack()
        lasting.enter_context(warm_jobs())
        atexit.register(lasting.close)
    return os.environ[CLIENT_OF]


@contextlib.contextmanager
def warm_jobs() -> Iterator[None]:
    """A server while this lasts, also for the processes that are started here."""
    with tempfile.TemporaryDirectory(prefix="warm") as folder:
        address, client = Path(folder) / "server", Path(folder) / "python"
        client.write_text(CLIENT.format(python=sys.executable, address=str(address), events=EVENTS))
        client.chmod(0o700)
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(PATH),
        }
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(address))
            listening.listen(64)
            server = subprocess.Popen(
                [sys.executable, "-m", "warm", str(listening.fileno())],
                pass_fds=[listening.fileno()], env=environment, stdin=subprocess.PIPE,
            )  # fmt: skip
        around = os.environ.get(CLIENT_OF)  # a server around this one
        os.environ[CLIENT_OF] = str(client)
        # Runs need no server of their own, which this name of none says.
        os.environ[SERVER] = str(Path(folder) / "none")
        try:
            yield
        finally:
            os.environ.pop(CLIENT_OF)
            if around:
                os.environ[CLIENT_OF] = around
            else:
                os.environ.pop(SERVER)
            server.communicate()  # its input ends, and so does it


def serve(listening: socket.socket) -> None:
    """Fork a process for every request; it answers with its own exit status.

    It ends when its input does, so that none stays behind when tests are killed.
    """
    for name in [*MODULES, *own_modules()]:
        importlib.import_module(name)
    load_kernels()
    read_code()
    # What is here now is no garbage, and looking for it would copy all of its pages.
    gc.freeze()
    while select.select([listening, 0], [], [])[0][0] is listening:
        connection, _ = listening.accept()
        forget_ended()
        if os.fork() == 0:
            listening.close()
            connection.sendall(bytes([answered(connection) & 255]))
            # Not Python's own end, which takes apart every module that the server has imported.
            os._exit(0)
        connection.close()


def load_kernels() -> None:
    """Load what kernels were compiled to, which takes a job a third of a second."""
    from numba.core.dispatcher import Dispatcher  # only the server needs it

    for name in own_modules():
        for kernel in vars(sys.modules[name]).values():
            if isinstance(kernel, Dispatcher):
                for signature, *_ in kernel._cache._cache_file._load_index():
                    kernel.compile(signature)


def read_code() -> None:
    """Read what every Snakemake reads: its plug-ins, and the code of all steps for its digest."""
    sys.modules["snakemake.cli"].get_argument_parser()
    for script in (ROOT / "scripts").glob("*.py"):
        sys.modules["corpusmill.run.code_digest"].code_digest(ROOT, script)


def forget_ended() -> None:
    """Take leave of the processes that have ended; whoever asked for them has their answer."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def own_modules() -> list[str]:
    """What steps import, compiled kernels among it."""
    rooms = pkgutil.walk_packages([str(ROOT / "corpusmill")], "corpusmill.")
    # No step imports what needs torch, which need not be installed.
    return [room.name for room in rooms if not room.name.endswith(("__main__", "torch_datasets"))]


def answered(connection: socket.socket) -> int:
    """What is asked for, done in the place of this process: its streams, its folder."""
    head, ancillary, _, _ = connection.recvmsg(8, socket.CMSG_SPACE(16))
    asked = b""
    while len(asked) < int.from_bytes(head, "little"):
        asked += connection.recv(1 << 16)
    (client, *arguments), folder, environment = json.loads(asked)
    handed = array.array("i", ancillary[0][2])
    for number, stream in enumerate(handed[:3]):
        os.dup2(stream, number)
        os.close(stream)
    if handed[3:]:
        environment[EVENTS] = str(handed[3])
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    is_safe = arguments[:2] == ["-P", "-m"]  # then nothing is imported from the folder
    if is_safe:
        del arguments[0]
    sys.argv = arguments[1:]  # behind -m or -P
    if FIRST in environment:
        importlib.import_module(environment[FIRST])
    path = environment.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:] = [*filter(None, path), *(place for place in sys.path if place not in PATH)]
    atexit._clear()  # what is to be done at the server's end
    if arguments[0] == "-m":
        sys.executable = client  # with which Snakemake starts its jobs
        if not is_safe:
            sys.path.insert(0, folder)
        status = exit_code(runpy.run_module, arguments[1])
    else:
        status = exit_code(runpy.run_path, sys.argv[0])
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return status


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
