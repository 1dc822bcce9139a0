"""Report the progress of a long job in its log, at least every two seconds."""

import contextlib
import time
from collections.abc import Callable, Iterator

from corpusmill.messages import progress


def duration(seconds: float) -> str:
    """Format seconds: `4.2 s`, `2 min 5 s`, `3 h 12 min`."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, seconds = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min"


class Phase:
    """A phase of a job: the amount done, the total (0: unknown) and their unit."""

    def __init__(self, name: str, total: int, unit: str) -> None:
        self.name, self.total, self.unit = name, total, unit
        self.done = 0
        self.started = time.monotonic()

    def advance(self, amount: int) -> None:
        self.done += amount

    def line(self) -> str:
        """Format the progress: `encoding: 120 of 256 MB, 47 %, 80.1 MB/s, 2 s left (1 s)`."""
        seconds = time.monotonic() - self.started
        if not self.done and not self.total:
            return f"{self.name} ({seconds:,.0f} s)"  # nothing counted yet, or ever
        scale = 1e6 if self.unit == "MB" else 1
        text = f"{self.name}: {self.done / scale:,.0f}"
        # A growing file exceeds its total.
        total = self.total if self.total >= self.done else 0
        if total:
            text += f" of {total / scale:,.0f}"
        text += f" {self.unit}"
        if total:
            text += f", {100 * self.done / total:.0f} %"
        if self.done:
            rate = self.done / max(seconds, 1e-9)
            text += f", {rate / scale:,.1f} {self.unit}/s"
            if total > self.done:
                text += f", {(total - self.done) / rate:,.0f} s left"
        return f"{text} ({seconds:,.0f} s)"


_current: Phase | None = None


@contextlib.contextmanager
def phase(name: str, total: int = 0, unit: str = "MB") -> Iterator[Phase]:
    """Report this block as a phase; unit "MB" counts bytes."""
    global _current
    outer = _current
    _current = Phase(name, total, unit)
    try:
        yield _current
    finally:
        _current = outer


class Heartbeat(progress.Heartbeat):
    """A heartbeat that reports the current phase, or what it waits for if progress stops."""

    def __init__(self, say: Callable[[str], object]) -> None:
        super().__init__(say, self._line)
        self._last: tuple[Phase | None, int] = (None, 0)

    def _line(self, seconds: float) -> str:
        now = _current, _current.done if _current else 0
        goes_on, self._last = now != self._last, now
        line = _current.line() if _current else f"working ({seconds:,.0f} s)"
        return line if _current and goes_on else progress.awaited() or line
