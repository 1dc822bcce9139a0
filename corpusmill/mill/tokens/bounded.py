"""A place of its own for libraries that load what a stranger wrote: little time, little memory.

The tokenizer libraries do not stop for anybody, and where they give up they end threads, and say so
on standard error. So they are tried in a process of their own, which the system ends.
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
"""Of a check. A tokenizer of 250,000 ids takes 1 second."""
MOST_SECONDS_PER_CPU_SECOND = 20
"""On the clock: more is a copy that waits for what never comes."""
MOST_DATA_BYTES = 3 << 30
"""More than was held before; such a tokenizer takes 0.3 GB."""


def bound_this_process(cpu_seconds: int = MOST_CPU_SECONDS) -> None:
    """Let the system end this process where a tokenizer takes too much time or memory."""
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
    """Whether a library in Rust has given up: what it raises then is no Exception."""
    return type(error).__name__ == "PanicException"


def first_line(error: BaseException) -> str:
    lines = filter(None, map(str.strip, str(error).splitlines()))
    return next(lines, type(error).__name__)[:300]


def in_short(error: BaseException) -> str:
    """Its class and first line; a panic by what it says alone."""
    return first_line(error) if is_panic(error) else f"{type(error).__name__}: {first_line(error)}"


_lock = threading.Lock()
_quiet, _said = 0, -1
"""How many blocks of this process are quiet now; where standard error leads outside of them."""


def _free_lock() -> None:
    """In a copy of this process, whose other threads are gone; one of them may have held it."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_free_lock)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Nothing comes out on standard error: a library in Rust writes there itself that it gives up,
    and a backtrace. Blocks of several threads may overlap."""
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
    """One sentence for whatever the libraries raise, and nothing else; they raise any class."""
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
    """The copy waits for something that never comes."""


def in_bounded_process(name: object, cpu_seconds: int, work: Callable[[], Any]) -> Any:
    """What `work` returns, in JSON, or the error that it raises, from a copy of this process.

    name: what the tokenizer is called. ValueError too if the system had to end the copy.
    """
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Threads of progress may run; the copy takes none of the locks that they hold.
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
            f"tokenizer.source: {name} took too much time or memory to be loaded and tried "
            f"(signal {-code}). Give another tokenizer."
        )
    told = json.loads(answer)
    if "errno" in told:
        raise OSError(told["errno"], os.strerror(told["errno"]), told["file"])
    if "fault" in told:
        raise (AssertionError if told["is_ours"] else ValueError)(told["fault"])
    return told["found"]


def _read_until(reading: int, end: float) -> bytes:
    """All that comes through a pipe; what comes later is not waited for, and the copy is ended."""
    answer = b""
    with open(reading, "rb", buffering=0) as pipe:
        while select.select([pipe], [], [], max(end - time.monotonic(), 0))[0]:
            if not (piece := pipe.read(1 << 16)):
                return answer
            answer += piece
    raise _StuckError


def _do(work: Callable[[], Any], name: object, cpu_seconds: int, writing: int) -> NoReturn:
    """In the copy, which ends here."""
    code = 1
    try:
        bound_this_process(cpu_seconds)
        # Threads of the library's pool are not in the copy, which would wait for them for ever.
        os.environ["TOKENIZERS_PARALLELISM"] = "false"
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            with told_of_tokenizer(name):
                answer = {"found": work()}
        except (ValueError, OSError, AssertionError) as error:
            answer = {"fault": str(error), "is_ours": isinstance(error, AssertionError)}
            if isinstance(error, OSError) and error.errno is not None:  # a full disk for one
                answer = {"errno": error.errno, "file": error.filename and str(error.filename)}
        with open(writing, "w") as pipe:
            json.dump(answer, pipe)
        code = 0
    finally:
        os._exit(code)
