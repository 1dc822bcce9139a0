"""Measurements of commands with all their processes, from outside."""

import contextlib
import os
import re
import subprocess
import threading
import time
from pathlib import Path
from typing import NamedTuple

import psutil

from benchmarks.measuring import shown

EVERY_SECONDS = 0.2
DONT_COMPILE = "PYTHONDONTWRITEBYTECODE"
MEMORY = (
    "Peak memory: all processes at one time, shared pages once, looked at five times a second; a "
    "run of less than a second is not seen whole."
)


class Watched(NamedTuple):
    started: float  # seconds since 1970, like file times
    seconds: float
    peak_memory_mb: float  # proportional set size, sum of all processes
    first_peak_memory_mb: float  # the command's own process
    cpu: list[tuple[float, float]]  # (time, CPU seconds of the command's own process so far)
    printed: str


def proportional_memory_mb(process: psutil.Process) -> float:
    """Return the memory, with a page shared by n processes counted as 1/n in each."""
    for line in Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


class Watcher(threading.Thread):
    """Watches a process and its descendants until it ends."""

    def __init__(self, pid: int, every_seconds: float) -> None:
        super().__init__(daemon=True)
        self._every_seconds = every_seconds
        self._first = psutil.Process(pid)
        self._over = threading.Event()
        self.peak = self.first_peak = 0.0
        self.cpu: list[tuple[float, float]] = []

    def run(self) -> None:
        while True:
            # A process may end meanwhile.
            with contextlib.suppress(psutil.NoSuchProcess, OSError):
                self._look()
            if self._over.wait(self._every_seconds):
                return

    def _look(self) -> None:
        times = self._first.cpu_times()
        self.cpu.append((time.time(), times.user + times.system))
        status = Path(f"/proc/{self._first.pid}/status").read_text()
        if found := re.search(r"VmHWM:\s+(\d+)", status):  # missing if it has just ended
            self.first_peak = int(found[1]) / 1024
        memory = 0.0
        for process in [self._first, *self._first.children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess, OSError):
                memory += proportional_memory_mb(process)
        self.peak = max(self.peak, memory)

    def stop(self) -> None:
        self._over.set()
        self.join()


def usual_environment() -> dict[str, str]:
    """Return this process's environment, in which Python keeps compiled modules, as by default."""
    return {name: value for name, value in os.environ.items() if name != DONT_COMPILE}


def watched(
    command: list, folder: Path, every_seconds: float = EVERY_SECONDS, **environment: str
) -> Watched:
    """Run a command in a folder to its end; it must succeed.

    every_seconds: how often to look at memory. A look stops all processes for some milliseconds.
    Before the start, the system writes what earlier commands have left to write.
    """
    os.sync()
    with open(folder / "printed.txt", "w+") as printed:
        started, clock = time.time(), time.perf_counter()
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=folder, env=usual_environment() | environment,
            stdout=printed, stderr=subprocess.STDOUT,
        )  # fmt: skip
        watcher = Watcher(process.pid, every_seconds)
        watcher.start()
        try:
            returned = process.wait()
        except BaseException:
            process.terminate()
            raise
        finally:
            seconds = time.perf_counter() - clock
            watcher.stop()
        printed.seek(0)
        text = printed.read()
    if returned:
        raise RuntimeError(f"{shown(command)} failed:\n{text[-4000:]}")
    return Watched(started, seconds, watcher.peak, watcher.first_peak, watcher.cpu, text)
