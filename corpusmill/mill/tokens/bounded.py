"""Run tokenizer libraries on untrusted files in a separate process with limited time and memory.

The libraries cannot be interrupted, and when they panic they end threads and print to standard
error. So they are tried in a separate process, which the system kills at its limits.
"""

import contextlib
import functools
import json
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import msgspec

from corpusmill.messages.progress import awaiting

MOST_CPU_SECONDS = 6
"""Time limit of a check, in CPU seconds. A tokenizer with 250,000 ids takes 1 second."""
MOST_CPU_SECONDS_OF_A_CALL = 60
"""Time limit for encoding texts or decoding ids of a corpus, in CPU seconds."""
MOST_ANSWER_BYTES = 1 << 26
MOST_SECONDS_PER_CPU_SECOND = 20
"""Wall-clock seconds allowed per CPU second. A process that takes longer is stuck."""
MOST_DATA_BYTES = 3 << 30
"""Limit of additional memory, in bytes. A tokenizer with 250,000 ids takes 0.3 GB."""


class Bounds(NamedTuple):
    """The limits of some work of a tokenizer."""

    cpu_seconds: int = MOST_CPU_SECONDS
    data_bytes: int = MOST_DATA_BYTES
    answer_bytes: int = MOST_ANSWER_BYTES

    @classmethod
    def of_call(cls, size: int) -> "Bounds":
        """Return the limits for texts or ids of a corpus, written in so many bytes."""
        return cls(
            MOST_CPU_SECONDS_OF_A_CALL + size // 1000,
            MOST_DATA_BYTES + 50 * size,
            MOST_ANSWER_BYTES + 8 * size,
        )


def bound_this_process(bounds: Bounds = Bounds()) -> None:  # noqa: B008 # it cannot change
    """Let the system kill this process if a tokenizer takes too much time or memory from now on."""
    state = Path("/proc/self/statm")
    pages = int(state.read_text().split()[5]) if state.exists() else 0
    held = pages * resource.getpagesize()
    for kind, most in (
        (resource.RLIMIT_CPU, int(time.process_time()) + bounds.cpu_seconds),
        (resource.RLIMIT_DATA, bounds.data_bytes + held),
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
"""Number of `quiet` blocks in progress, and a copy of the file descriptor of standard error from
before them."""


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


class BoundedProcess:
    """A fork of this process, in which tokenizer libraries work on untrusted files and texts.

    While it works, this process can report progress and be stopped. During a call of the libraries
    in this process, neither would be possible.
    """

    def __init__(
        self,
        name: object,
        bounds: Bounds,
        load: Callable[[], Any],
        answer_to: Callable[[Any, Any], Any],
    ) -> None:
        """Call `load` in the fork, within the bounds; raise like `ask`.

        name: of the tokenizer, for messages. answer_to: returns the answer, a value of JSON, from
        what `load` returned and from a question.
        """
        self._name, self._code = name, 0
        self._pipe, theirs = multiprocessing.Pipe()
        with warnings.catch_warnings():
            # Progress threads may run; the fork takes none of their locks.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if not child:
            self._pipe.close()
            _serve(theirs, name, bounds, load, answer_to)
        theirs.close()
        self._end = weakref.finalize(self, _end, os.getpid(), child, self._pipe)
        self._answered(bounds)

    def ask(self, question: Any) -> Any:
        """Return the answer of the fork, or raise its error.

        Raise ValueError too if the system killed the fork, now or earlier.
        """
        asked = msgspec.json.encode(question)
        return self._answered(Bounds.of_call(len(asked)), asked)

    def _answered(self, bounds: Bounds, asked: bytes = b"") -> Any:
        if not self._end.alive:
            raise self._ended()
        try:
            with awaiting(f"the tokenizer {self._name}"):
                if asked:
                    self._pipe.send_bytes(asked)
                if not self._pipe.poll(MOST_SECONDS_PER_CPU_SECOND * bounds.cpu_seconds):
                    raise EOFError
                told = json.loads(self._pipe.recv_bytes().decode("utf-8", "surrogatepass"))
        except (EOFError, ConnectionError):
            self._code = self._end() or 0
            raise self._ended() from None
        except BaseException:
            self._end()
            raise
        if "errno" in told:
            raise OSError(told["errno"], os.strerror(told["errno"]), told["file"])
        if "fault" in told:
            raise (AssertionError if told["is_ours"] else ValueError)(told["fault"])
        return told["found"]

    def _ended(self) -> ValueError:
        return ValueError(
            f"tokenizer.source: {self._name} took too much time or memory (signal {-self._code}). "
            "Give another tokenizer."
        )


def _end(parent: int, child: int, pipe: Connection) -> int:
    """End a fork; return its exit code. A fork of its parent that inherits this does nothing."""
    if os.getpid() != parent:
        return 0
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    pipe.close()
    return os.waitstatus_to_exitcode(status)


def in_bounded_process(name: object, bounds: Bounds, work: Callable[[], Any]) -> Any:
    """Run `work` in a fork of this process; return its result, a value of JSON, or raise its
    error.

    Raise ValueError too if the system killed the fork. name: of the tokenizer, for messages.
    """
    return BoundedProcess(name, bounds, work, lambda found, _: found).ask("the result")


def _serve(
    pipe: Connection,
    name: object,
    bounds: Bounds,
    load: Callable[[], Any],
    answer_to: Callable[[Any, Any], Any],
) -> NoReturn:
    """Load and answer in the fork, which ends here."""
    held: list[Any] = []
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
        if "tokenizers" in sys.modules:
            # The fork lacks the threads of the library's pool, and would wait for them forever.
            os.environ["TOKENIZERS_PARALLELISM"] = "false"
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        pipe.send_bytes(_answer(lambda: held.append(load()), name, bounds))
        while True:
            asked = pipe.recv_bytes()
            question = functools.partial(answer_to, held[0], msgspec.json.decode(asked))
            pipe.send_bytes(_answer(question, name, Bounds.of_call(len(asked))))
    finally:
        os._exit(1)


def _answer(work: Callable[[], Any], name: object, bounds: Bounds) -> bytes:
    """Return what the work came to, as JSON."""
    try:
        bound_this_process(bounds)
        with told_of_tokenizer(name):
            answer = json.dumps({"found": work()}, ensure_ascii=False)
        if len(answer) > bounds.answer_bytes:
            raise ValueError(
                f"tokenizer.source: expected at most {bounds.answer_bytes:,} bytes from "
                f"{name}, found {len(answer):,}. Give another tokenizer."
            )
    except (ValueError, OSError, AssertionError) as error:
        told = {"fault": str(error), "is_ours": isinstance(error, AssertionError)}
        if isinstance(error, OSError) and error.errno is not None:  # for example a full disk
            told = {"errno": error.errno, "file": error.filename and str(error.filename)}
        answer = json.dumps(told)
    return answer.encode("utf-8", "surrogatepass")
