"""Load users' Python files, report their errors by file and line, and contain what they do."""

import atexit
import functools
import hashlib
import inspect
import os
import signal
import sys
import threading
import time
import traceback
from opcode import opmap
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TextIO, TypeVar

from corpusmill.messages.plain_text import ShownStream
from corpusmill.messages.progress import AWAITED

Of = TypeVar("Of")

MOST_SHOWN = 300
"""Maximum number of characters shown of an error message, which may contain megabytes of text."""


class Stopped(BaseException):
    """Raised to stop this job."""


class EndedError(Exception):
    """Raised if users' code would end the process. The text says how."""


class UsersCode:
    """A context for users' code.

    Within it, the code raises only Exceptions, cannot end the process, and its output cannot steer
    the terminal. Ctrl-C works as usual.
    """

    hearers: tuple[TextIO, TextIO] | None = None
    """Streams that receive the code's output. None: the streams of the process."""

    def __init__(self, does: str) -> None:
        """does: describes the code in the progress display."""
        self._does = does

    def __enter__(self) -> None:
        self._awaited = time.monotonic(), self._does
        AWAITED.append(self._awaited)
        self._pid, self._exit = os.getpid(), os._exit
        os._exit = self._end  # type: ignore[assignment]
        self._streams = sys.stdout, sys.stderr
        out, error = self.hearers or self._streams
        sys.stdout, sys.stderr = ShownStream(out), ShownStream(error)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        sys.stdout, sys.stderr = self._streams
        os._exit = self._exit
        AWAITED.remove(self._awaited)
        if error is None or isinstance(error, Exception | Stopped) or _is_interrupt(error):
            return
        raise EndedError(one_line(error)).with_traceback(at) from None

    def _end(self, status: int) -> None:
        """Replace os._exit, which would end the process without a message."""
        if os.getpid() != self._pid:
            self._exit(status)  # a process that the code has started
        raise EndedError(f"it called os._exit({status})")


def _is_interrupt(error: BaseException) -> bool:
    """Return whether Ctrl-C is the cause: a KeyboardInterrupt not raised by a `raise` statement."""
    at = error.__traceback__
    while at and at.tb_next:
        at = at.tb_next
    by_hand = at and at.tb_frame.f_code.co_code[at.tb_lasti] == opmap["RAISE_VARARGS"]
    return isinstance(error, KeyboardInterrupt) and not by_hand


ENDED = "corpusmill: this process came to its end"


def serve_another() -> None:
    """Set up a helper process: only its standard error is read, and users' output is dropped.

    The parent handles Ctrl-C and ends this process. If the parent is killed, this process ends
    itself. The last line is ENDED, unless users' code ended the process, for example from C.
    """
    threading.Thread(target=end_after, args=(os.getppid(),), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stderr = os.fdopen(os.dup(2), "w", encoding="utf-8", errors="backslashreplace")
    atexit.register(lambda: print(ENDED, file=sys.stderr, flush=True))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nowhere, number)
    UsersCode.hearers = (open(os.devnull, "w"),) * 2  # noqa: SIM115 - as long as the process


def end_after(parent: int) -> None:
    """End this process when its parent has ended."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def loaded(file: str) -> ModuleType:
    """Import a user's file; ValueError with the line if that fails."""
    path = Path(file).absolute()
    if not os.path.isfile(path):  # Path.is_file raises for invalid names
        raise ValueError(f"there is no file {file} (from {Path.cwd()}). Correct its path.")
    state = path.stat()
    return _loaded(file, str(path), state.st_mtime_ns, state.st_size)


@functools.cache
def _loaded(file: str, path: str, mtime_ns: int, size: int) -> ModuleType:
    """Import a file once per state. Compiled here, so that no __pycache__ can be stale."""
    name = f"corpusmill_plugin_{hashlib.sha256(path.encode()).hexdigest()[:16]}"
    module = ModuleType(name)
    module.__file__ = path
    try:
        # Classes look up their module by name.
        sys.modules[name] = module
        with UsersCode(f"{file}, which is imported"):
            exec(compile(Path(path).read_bytes(), path, "exec"), vars(module))
    except Exception as error:
        raise ValueError(f"{place_of(error, file)}: {one_line(error)}") from error
    return module


def classes_in(module: ModuleType, base: type[Of]) -> list[type[Of]]:
    """Return the subclasses of `base` that a module defines."""
    return [
        one
        for one in vars(module).values()
        if inspect.isclass(one) and issubclass(one, base) and one.__module__ == module.__name__
    ]


def place_of(error: BaseException, file: str) -> str:
    """Return `file:line` of the place in a user's file that caused an error."""
    mine = os.path.abspath(file)
    if isinstance(error, SyntaxError) and os.path.abspath(error.filename or "") == mine:
        return f"{file}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if os.path.abspath(frame.filename) == mine]
    return f"{file}:{lines[-1]}" if lines else file


def one_line(error: BaseException) -> str:
    if isinstance(error, EndedError):
        return str(error)
    try:
        said = str(error).strip().splitlines()
    except Exception:  # its own __str__ fails
        said = []
    return f"{type(error).__name__}: {said[0][:MOST_SHOWN]}" if said else type(error).__name__
