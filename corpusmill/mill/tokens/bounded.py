"""Run tokenizer libraries on untrusted files in a separate process with limited time and memory.

The libraries cannot be interrupted, and when they panic they end threads and print to standard
error. So they are tried in a separate process, which the system kills at its limits.
"""

import contextlib
import json
import os
import resource
import select
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

MOST_CPU_SECONDS = 6
"""CPU seconds for a check. A tokenizer of 250,000 ids takes 1 second."""
MOST_SECONDS_PER_CPU_SECOND = 20
"""Wall seconds per CPU second. A process that takes longer waits for something that never comes."""
MOST_DATA_BYTES = 3 << 30
"""Bytes beyond those in use before. A tokenizer of 250,000 ids takes 0.3 GB."""


def bound_this_process(cpu_seconds: int = MOST_CPU_SECONDS) -> None:
    """Let the system kill this process if a tokenizer takes too much time or memory."""
    state = Path("/proc/self/statm")
    pages = int(state.read_text().split()[5]) if state.exists() else 0
    held = pages * resource.getpagesize()
    for kind, most in (
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_DATA, MOST_DATA_BYTES + held),
        (resource.RLIMIT_CORE, 0),
    ):
        _, highest = resource.getrlimit(kind)
        allowed = most if highest == resource.RLIM_INFINITY else min(most, highest)
        resource.setrlimit(kind, (allowed, highest))


def is_panic(error: BaseException) -> bool:
    """Say whether an error is a panic of a Rust library, which is not an Exception."""
    return type(error).__name__ == "PanicException"


def first_line(error: BaseException) -> str:
    lines = filter(None, map(str.strip, str(error).splitlines()))
    return next(lines, type(error).__name__)[:300]


def in_short(error: BaseException) -> str:
    """Return class and first line of an error; of a panic only the line."""
    return first_line(error) if is_panic(error) else f"{type(error).__name__}: {first_line(error)}"


_lock = threading.Lock()
_quiet, _said = 0, -1
"""Number of quiet blocks at present; copy of standard error's descriptor from outside of them."""


def _free_lock() -> None:
    """Replace the lock after a fork: a thread that does not exist in the child may hold it."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_free_lock)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silence standard error, where Rust libraries print panics and backtraces.

    Blocks of several threads may overlap.
    """
    global _quiet, _said
    if sys.__stderr__ is None:  # descriptor 2 may be any file then
        yield
        return
    with _lock:
        _quiet += 1
        if _quiet == 1:
            _said = os.dup(2)
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 2)
            os.close(nowhere)
    try:
        yield
    finally:
        with _lock:
            _quiet -= 1
            if not _quiet:
                os.dup2(_said, 2)
                os.close(_said)


@contextlib.contextmanager
def told_of_tokenizer(name: object) -> Iterator[None]:
    """Turn whatever the libraries raise, of any class, into a ValueError with one sentence."""
    try:
        with quiet():
            yield
    except (ValueError, OSError, AssertionError):
        raise
    except BaseException as error:
        if not (isinstance(error, Exception) or is_panic(error)):
            raise
        raise ValueError(
            f"tokenizer.source: the tokenizer libraries cannot use {name} "
            f"({in_short(error)}). Give another tokenizer, or train."
        ) from error


class _StuckError(Exception):
    """The child process exceeded its wall time."""


def in_bounded_process(name: object, cpu_seconds: int, work: Callable[[], Any]) -> Any:
    """Run `work` in a fork of this process; return its JSON result or raise its error.

    Raise ValueError too if the system killed the fork. name: of the tokenizer, for messages.
    """
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Progress threads may run; the fork takes none of their locks.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        _do(work, name, cpu_seconds, writing)
    os.close(writing)
    try:
        answer = _read_until(reading, time.monotonic() + MOST_SECONDS_PER_CPU_SECOND * cpu_seconds)
    except _StuckError:
        os.kill(child, signal.SIGKILL)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code:
        raise ValueError(
            f"tokenizer.source: {name} took too much time or memory to load and try "
            f"(signal {-code}). Give another tokenizer."
        )
    told = json.loads(answer)
    if "errno" in told:
        raise OSError(told["errno"], os.strerror(told["errno"]), told["file"])
    if "fault" in told:
        raise (AssertionError if told["is_ours"] else ValueError)(told["fault"])
    return told["found"]


def _read_until(reading: int, end: float) -> bytes:
    """Read a pipe to its end; raise _StuckError if that takes until `end`."""
    answer = b""
    with open(reading, "rb", buffering=0) as pipe:
        while select.select([pipe], [], [], max(end - time.monotonic(), 0))[0]:
            if not (piece := pipe.read(1 << 16)):
                return answer
            answer += piece
    raise _StuckError


def _do(work: Callable[[], Any], name: object, cpu_seconds: int, writing: int) -> NoReturn:
    """Do the work in the fork, which exits here."""
    code = 1
    try:
        bound_this_process(cpu_seconds)
        # The fork lacks the threads of the library's pool, and would wait for them forever.
        os.environ["TOKENIZERS_PARALLELISM"] = "false"
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            with told_of_tokenizer(name):
                answer = {"found": work()}
        except (ValueError, OSError, AssertionError) as error:
            answer = {"fault": str(error), "is_ours": isinstance(error, AssertionError)}
            if isinstance(error, OSError) and error.errno is not None:  # for example a full disk
                answer = {"errno": error.errno, "file": error.filename and str(error.filename)}
        with open(writing, "w") as pipe:
            json.dump(answer, pipe)
        code = 0
    finally:
        os._exit(code)
