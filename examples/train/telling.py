"""Progress messages at least every two seconds; on a terminal, in one line."""

import contextlib
import math
import resource
import select
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from types import TracebackType

EVERY_SECONDS = 1.9


class Teller(threading.Thread):
    """Reports the current activity from its own thread, even while a shard is awaited."""

    def __init__(self, silent: bool = False) -> None:
        super().__init__(daemon=True)
        self.now = "starting"
        self.also = ""  # shown with any activity
        self._silent = silent
        self._redraws = sys.stderr.isatty()
        self._since = time.monotonic()
        self._said = self._since
        self._over = threading.Event()
        self._lock = threading.Lock()

    def __enter__(self) -> "Teller":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        where: TracebackType | None,
    ) -> None:  # fmt: skip
        self._over.set()
        self.join()
        if self._redraws and not self._silent:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def run(self) -> None:
        while not self._over.wait(0.2):
            if time.monotonic() - self._said >= EVERY_SECONDS:
                self.show(self.now)

    def show(self, text: str) -> None:
        """Replace the last line on a terminal; print a line elsewhere."""
        self.now = text
        if self._silent:
            return
        seconds = time.monotonic() - self._since
        line = f"{text}{self.also} ({seconds:,.0f} s, {held_mb():,.0f} MB)"
        with self._lock:
            self._said = time.monotonic()
            if self._redraws:
                width = shutil.get_terminal_size().columns - 1
                print(f"\r\x1b[K{line[:width]}", end="", file=sys.stderr, flush=True)
            else:
                print(line, file=sys.stderr, flush=True)

    @contextlib.contextmanager
    def apart(self, text: str) -> Iterator[None]:
        """Report from another process during the block, which ends with this one. Importing some
        libraries blocks all threads of this process for seconds."""
        self.show(text)
        if self._silent:
            yield
            return
        command = [sys.executable, "-S", __file__, text, str(self._since)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as beside:
            self._said = math.inf
            try:
                yield
            finally:
                assert beside.stdin
                beside.stdin.close()
                beside.wait()
                self._said = time.monotonic()

    def say(self, text: str) -> None:
        """Print a line that stays."""
        if self._silent:
            return
        with self._lock:
            print(f"\r\x1b[K{text}" if self._redraws else text, file=sys.stderr, flush=True)


def until_closed(text: str, since: float) -> None:
    """Print a text every two seconds until the standard input ends."""
    redraws = sys.stderr.isatty()
    while not select.select([sys.stdin], [], [], EVERY_SECONDS)[0]:
        line = f"{text} ({time.monotonic() - since:,.0f} s)"
        begin, end = ("\r\x1b[K", "") if redraws else ("", "\n")
        print(f"{begin}{line}", end=end, file=sys.stderr, flush=True)


def held_mb() -> float:
    """Return the peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def bar(done: int, total: int, width: int = 12) -> str:
    full = done * width // total
    return "█" * full + "·" * (width - full)


if __name__ == "__main__":
    until_closed(sys.argv[1], float(sys.argv[2]))
