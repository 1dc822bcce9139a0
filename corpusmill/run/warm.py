"""The server of a run: it forks the processes of jobs, so that these need not import anything.

Importing numpy, pyarrow and the kernels takes most jobs longer than their work. The server imports
them once, one module after another while it waits. A request may come at any time: the job imports
itself what the server has not imported yet.

Each job is a process of its own, with the streams, folder and environment of the command that asked
for it. The server only reports how a killed job ended. It ends jobs whose command is gone, and all
of them when Snakemake is gone.

As soon as the run has its tokenizer, the server forks a second one, which loads the tokenizer and
serves the steps in HOLDERS. The first one does not load it, because the memory figures of all jobs
would then include it.
"""

import array
import ast
import atexit
import contextlib
import gc
import importlib
import itertools
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from corpusmill.run.start import (
    EXITED,
    GO,
    HELLO,
    KILLED,
    PATIENCE_SECONDS,
    READY,
    SERVER,
    STALE,
    received,
)

FEWEST_JOBS = 4
"""Minimum number of jobs for a server. With fewer, its imports take longer than the jobs save."""
ONE_THREAD = {
    "OMP_NUM_THREADS": "1", "GOTO_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1", "VECLIB_MAXIMUM_THREADS": "1", "NUMEXPR_NUM_THREADS": "1",
}  # fmt: skip
"""Environment variables that Snakemake sets for a job with one thread. Libraries read them when
they are imported."""
READ_AT_IMPORT = ("ARROW_", "GLIBC_", "LD_", "MALLOC_", "NUMBA_", "PYTHON")
"""Prefixes of environment variables. These, and the variables in ONE_THREAD, must be the same for
the server and a job."""
LATE_MODULES = (
    "numpy.ma", "msgspec", "pyarrow.parquet", "pyarrow.dataset", "pyarrow.compute", "pyarrow.acero",
    "tokenizers", "gigatoken",
)  # fmt: skip
"""Modules that steps import only where they need them."""
FIRST_STEPS = ("normalize", "measure", "sign")
"""Steps whose modules are imported before the list of steps is known."""
FIRST_MODULES = ("numpy.ma", "corpusmill.kernels.json_text", "corpusmill.mill.read.inert_text")
"""Modules that the first step imports only where it needs them. pyarrow imports numpy.ma."""
HOLDERS = ("count", "encode", "verify")
"""Steps that load the tokenizer: the second server, which holds it, serves them."""
HOLDING = "corpusmill.mill.tokens.tokenizers"
"""The module whose `hold` loads it."""
LONGEST_END_SECONDS = 10.0
"""Time from SIGTERM to SIGKILL for a job that nobody waits for."""
LONGEST_LOAD_SECONDS = 60
"""Time in which the second server must have loaded the tokenizer."""
MOST_BYTES = 1 << 26
"""Maximum bytes of a request."""
SORTING_BYTES, MOST_SORTING = 5000, 2000
"""Size and number of allocations that sort freed memory: too large for glibc's lists of small
pieces. Without pieces to sort, all of them take a millisecond."""


def started(root: Path, scripts: Path, tokenizer: Path) -> subprocess.Popen | None:
    """Start a server that ends with this process.

    scripts: the folder of the steps. tokenizer: folder of the run's tokenizer, which may not exist
    yet. Return None if a run around this one has a server, or where servers are not possible.
    """
    if SERVER in os.environ:
        return None
    folder = tempfile.mkdtemp(prefix="corpusmill-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    address = os.path.join(folder, "server")
    path = os.environ.get("PYTHONPATH")
    environment = {"PYTHONPATH": f"{root}:{path}" if path else str(root)}
    try:
        os.close(os.pidfd_open(os.getpid()))  # Linux since 5.3
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(address)
            listening.listen(128)
            number = listening.fileno()
            # Its standard input ends with this process.
            server = subprocess.Popen(
                [sys.executable, "-P", "-m", "corpusmill.run.warm", str(number), address,
                 os.path.abspath(tokenizer), str(scripts)],
                stdin=subprocess.PIPE, pass_fds=[number],
                env=os.environ | ONE_THREAD | environment,
            )  # fmt: skip
    except (AttributeError, OSError):
        return None
    atexit.register(give_up, server)
    os.environ[SERVER] = address
    return server


def begin(server: subprocess.Popen | None, jobs: dict[Path, int]) -> None:
    """Tell the server the steps to run, before the first job. If there are few jobs, end it.

    jobs: their number by script, in order.
    """
    if server is None:
        return
    assert server.stdin
    atexit.unregister(give_up)
    if sum(jobs.values()) < FEWEST_JOBS:
        give_up(server)
        del os.environ[SERVER]
        return
    atexit.register(end, server)
    with contextlib.suppress(OSError):  # if it has died, jobs start without it
        os.write(server.stdin.fileno(), b"\0".join(map(os.fsencode, jobs)) + b"\n")


def give_up(server: subprocess.Popen) -> None:
    """Kill a server that has no job."""
    assert server.stdin
    server.kill()
    server.stdin.close()
    server.wait()


def end(server: subprocess.Popen) -> None:
    """Wait for the server, which ends jobs that still run; kill it if it hangs."""
    assert server.stdin
    server.stdin.close()
    try:
        server.wait(LONGEST_END_SECONDS + 1)
    except subprocess.TimeoutExpired:
        server.kill()


class Job:
    """A process forked by the server."""

    def __init__(self, pid: int, connection: socket.socket) -> None:
        self.pid, self.connection = pid, connection
        self.end_by: float | None = None
        """Time on the monotonic clock at which the job will be killed; None if it was not asked to
        end."""

    def ask_to_end(self) -> None:
        if self.end_by is None:
            self.end_by = time.monotonic() + LONGEST_END_SECONDS
            os.kill(self.pid, signal.SIGTERM)


class Server:
    def __init__(
        self, listening: socket.socket, address: str, tokenizer: Path, first: Sequence[Path]
    ) -> None:
        """first: scripts whose modules are imported before the run's scripts are known."""
        self._listening, self._address, self._tokenizer = listening, address, tokenizer
        self._told = b""
        """The part of the message from `begin` that has arrived."""
        self._holders: list[Path] = []
        """Scripts for which to fork a second server, once there is a tokenizer for it."""
        self._old_tokenizer: tuple[int, ...] = ()
        """State of a tokenizer that a job of this run replaces."""
        self._second = 0
        """Process id of the second server; 0 if there is none."""
        self._to_import: Iterator[str] = itertools.chain(
            imported_by(first[:1]), FIRST_MODULES, imported_by(first)
        )
        self._jobs: dict[int, Job] = {}
        """By the number of their process descriptor."""
        self._connections: dict[int, Job] = {}
        self._poll = select.poll()
        self._poll.register(listening, select.POLLIN)
        self._poll.register(0, select.POLLIN)
        self._files: dict[str, tuple[int, ...]] = {}
        """State that the files of the package's imported modules had when they were imported."""
        self._noted: set[str] = set()
        """The modules whose files are noted."""

    def serve(self) -> None:
        """Serve until Snakemake is gone; then end all jobs."""
        while self._handle(self._prepare()):
            pass
        self._poll.unregister(self._listening)
        self._listening.close()
        for job in self._jobs.values():
            job.ask_to_end()
        while self._jobs:
            self._handle(100)
        if self._second:
            # It ends like this one: its input has ended, too.
            descriptor = os.pidfd_open(self._second)
            if not select.select([descriptor], [], [], LONGEST_END_SECONDS)[0]:
                os.kill(self._second, signal.SIGKILL)
            os.waitpid(self._second, 0)

    def _begin(self, scripts: Sequence[Path]) -> None:
        """Prepare for the scripts of the run's jobs, in order."""
        self._holders = [script for script in scripts if script.stem in HOLDERS]
        if any(script.stem == "tokenizer" for script in scripts):
            self._old_tokenizer = self._state_of_tokenizer()
        self._to_import = itertools.chain(imported_by(scripts), late_modules())

    def _state_of_tokenizer(self) -> tuple[int, ...]:
        return state_of(str(self._tokenizer / "corpusmill.json"))

    def _hold_tokenizer(self) -> None:
        """Fork the second server if the tokenizer is there."""
        if not self._holders or self._state_of_tokenizer() in ((), self._old_tokenizer):
            return
        second = os.fork()
        if second:
            self._second, self._holders = second, []
            return
        try:
            self._be_second()
        finally:
            os._exit(0)

    def _be_second(self) -> None:
        """In a forked process: load the tokenizer, and serve the jobs of HOLDERS."""
        name_process("hold")
        self._leave_to_parent()
        self._jobs, self._connections, self._poll = {}, {}, select.poll()
        signal.alarm(LONGEST_LOAD_SECONDS)
        for module in itertools.chain(imported_by(self._holders), late_modules()):
            importlib.import_module(module)
        threads = len(os.listdir("/proc/self/task"))
        importlib.import_module(HOLDING).hold(self._tokenizer)
        signal.alarm(0)
        if len(os.listdir("/proc/self/task")) > threads:
            return  # forked processes would not have the threads of the library
        sort_free_memory()
        self._note_files()
        gc.freeze()
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(f"{self._address}-second")
        self._listening.listen(128)
        self._poll.register(self._listening, select.POLLIN)
        self._poll.register(0, select.POLLIN)
        for script in self._holders:
            os.symlink(f"{self._address}-second", f"{self._address}-{script.stem}")
        self._holders, self._to_import = [], iter(())
        self.serve()

    def _leave_to_parent(self) -> None:
        """Close, in a forked process, what belongs to this server."""
        self._listening.close()
        for number in self._jobs:
            os.close(number)
        for job in self._jobs.values():
            job.connection.close()

    def _prepare(self) -> int:
        """Import one more module. Return how long to wait for requests, in milliseconds."""
        self._hold_tokenizer()
        module = next(self._to_import, None)
        if module is None:
            return 1000
        # A job reports the error, if it needs the module.
        with contextlib.suppress(Exception):
            importlib.import_module(module)
            load_kernels(module)
        self._note_files()
        gc.freeze()  # or garbage collection in jobs would copy all pages
        return 0

    def _note_files(self) -> None:
        new = sys.modules.keys() - self._noted
        for name in new:
            file = getattr(sys.modules[name], "__file__", None)
            if name.partition(".")[0] == "corpusmill" and file:
                self._files[file] = state_of(file)
        self._noted |= new

    def _handle(self, wait: int) -> bool:
        """Handle what has come. Return whether Snakemake is there."""
        events = [number for number, _ in self._poll.poll(wait)]
        for number in events:
            if number in self._jobs:
                self._reap(number)
            elif number in self._connections:
                self._poll.unregister(number)
                self._connections[number].ask_to_end()
        # Last: a new connection may get the number of one that was closed above.
        if self._listening.fileno() in events:
            self._fork()
        now = time.monotonic()
        for job in self._jobs.values():
            if job.end_by is not None and job.end_by < now:
                os.kill(job.pid, signal.SIGKILL)
        return 0 not in events or self._hear()

    def _hear(self) -> bool:
        """Read what `begin` tells. Return whether Snakemake is there."""
        more = os.read(0, 1 << 16)
        self._told += more
        if more.endswith(b"\n"):
            self._begin([Path(os.fsdecode(one)) for one in self._told[:-1].split(b"\0")])
        if not more:
            self._poll.unregister(0)
        return bool(more)

    def _fork(self) -> None:
        connection, _ = self._listening.accept()
        pid = os.fork()
        if pid == 0:
            self._leave_to_parent()
            self._run(connection)
        job = Job(pid, connection)
        descriptor = os.pidfd_open(pid)
        self._jobs[descriptor] = self._connections[connection.fileno()] = job
        self._poll.register(descriptor, select.POLLIN)
        # A job sends its exit code itself, then its command closes the connection.
        self._poll.register(connection, select.POLLRDHUP)

    def _reap(self, number: int) -> None:
        job = self._jobs.pop(number)
        self._poll.unregister(number)
        os.close(number)
        _, status = os.waitpid(job.pid, 0)
        if os.WIFSIGNALED(status):
            with contextlib.suppress(OSError):
                job.connection.sendall(KILLED + bytes([os.WTERMSIG(status)]))
        with contextlib.suppress(KeyError):
            self._poll.unregister(job.connection)
        del self._connections[job.connection.fileno()]
        job.connection.close()

    def _run(self, connection: socket.socket) -> NoReturn:
        """Do the job that is asked for in the place of this process."""
        code = 1
        try:
            connection.settimeout(PATIENCE_SECONDS)
            connection.sendall(HELLO)
            request = taken(connection)
            if request is None or not self._is_fit_for(request[0][0], request[1]):
                connection.sendall(STALE)
                os._exit(0)
            connection.sendall(READY + os.getpid().to_bytes(8, "little"))
            if received(connection, 1) != GO:
                os._exit(0)
            connection.settimeout(None)
            code = done(*request)
            # From here on, the command is gone at any moment, and the server asks this to end.
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            connection.sendall(EXITED + bytes([code & 255]))
        except OSError:
            pass  # the command is gone
        finally:
            # Not Python's own end, which takes apart every module of the server.
            os._exit(code)

    def _is_fit_for(self, python: str, environment: dict[str, str]) -> bool:
        """Return whether what was imported here is what a job would import."""
        return (
            python == sys.executable
            and read_at_import(environment) == read_at_import(os.environ)
            and all(state_of(file) == state for file, state in self._files.items())
        )


def imported_by(scripts: Sequence[Path]) -> Iterator[str]:
    """Yield the modules that scripts import."""
    for script in scripts:
        for node in ast.parse(script.read_bytes()).body:
            if isinstance(node, ast.ImportFrom) and node.module:
                yield node.module
            elif isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)


def late_modules() -> Iterator[str]:
    """Yield the modules that scripts import only where they need them, then those with kernels."""
    yield from LATE_MODULES
    yield from [name for name in sys.modules if name.startswith("corpusmill.kernels.")]


def load_kernels(module: str) -> None:
    """Load the compiled kernels of a module from the cache, which takes jobs a third of a second.

    Kernels that are not compiled yet are left to the jobs.
    """
    if not module.startswith("corpusmill.kernels."):
        return
    from numba.core.dispatcher import Dispatcher

    for kernel in vars(sys.modules[module]).values():
        if isinstance(kernel, Dispatcher) and not kernel.signatures:
            of_numba: Any = kernel
            cache, codegen = of_numba._cache, of_numba.targetctx.codegen()
            index = cache._cache_file._load_index()
            for signature, *_ in index:
                if cache._index_key(signature, codegen) in index:  # not of another processor
                    kernel.compile(signature)


def sort_free_memory() -> None:
    """Have glibc sort the many small pieces of memory that were freed, so that jobs need not.

    An allocation sorts at most 10,000 pieces. In each job, that copied 60 MB of pages.
    """
    for _ in range(MOST_SORTING):
        bytearray(SORTING_BYTES)


def state_of(file: str) -> tuple[int, ...]:
    try:
        found = os.stat(file)
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino


def read_at_import(environment: dict[str, str] | os._Environ) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if name in ONE_THREAD or name.startswith(READ_AT_IMPORT)
    }


def taken(connection: socket.socket) -> tuple[list[str], dict[str, str], list[int]] | None:
    """Return a request: Python, folder, script and log; the environment; the streams."""
    head, ancillary, _, _ = connection.recvmsg(8, socket.CMSG_SPACE(3 * 4))
    size = int.from_bytes(head, "little")
    if len(head) < 8 or size > MOST_BYTES or not ancillary:
        return None
    streams = array.array("i", ancillary[0][2]).tolist()
    job, variables = received(connection, size).split(b"\0\0", 1)
    environment = dict(
        os.fsdecode(one).split("=", 1) for one in variables.split(b"\0") if b"=" in one
    )
    return [os.fsdecode(part) for part in job.split(b"\0")], environment, streams


def done(job: list[str], environment: dict[str, str], streams: list[int]) -> int:
    """Run a script as Python would, and return its exit code."""
    _, folder, *arguments = job
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - it lasts
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, INTERRUPT)
    sys.argv = arguments
    atexit._clear()  # of the server
    name_process(Path(arguments[0]).stem)
    code = exit_code(runpy.run_path, arguments[0])
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for said in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            said.flush()
    return code


def exit_code(run: Callable[..., Any], name: str) -> int:
    """Return the exit code of a script or module. run: of runpy."""
    try:
        run(name, run_name="__main__")
    except SystemExit as end:
        if not isinstance(end.code, str):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def name_process(step: str) -> None:
    """Have `ps` and `top` show the step. Elsewhere than on Linux, they do not."""
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text(f"mill {step}"[:15])


INTERRUPT = signal.getsignal(signal.SIGINT)
"""What SIGINT does to a job: nothing if the run ignores it, as under `nohup ... &`."""


def main() -> None:
    number, address, tokenizer, scripts = sys.argv[1:]
    first = [Path(scripts) / f"{step}.py" for step in FIRST_STEPS]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # jobs get it, too, and this waits for them
    try:
        Server(socket.socket(fileno=int(number)), address, Path(tokenizer), first).serve()
    except BaseException:
        traceback.print_exc()
    shutil.rmtree(Path(address).parent, ignore_errors=True)
    # Not Python's own end: the run waits, and all modules would be taken apart.
    os._exit(0)


if __name__ == "__main__":
    main()
