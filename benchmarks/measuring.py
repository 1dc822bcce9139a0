"""Measuring of time and memory. Standard library only: the peers' environments import it too."""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
CACHE = ROOT / "benchmarks/cache"


def memory_mb(field: str) -> float:
    """Return VmRSS or VmHWM of this process. Not ru_maxrss, which Linux passes on through exec."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise ValueError(f"/proc/self/status has no {field}. These benchmarks need Linux.")


def timed(work: Callable) -> tuple[dict, object]:
    """Return (seconds, memory at the start, peak of the call), and the result of the call."""
    held = memory_mb("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # resets the high-water mark
    started = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - started
    return {
        "seconds": seconds,
        "held_memory_mb": held,
        "peak_memory_mb": memory_mb("VmHWM"),
    }, result


def on_cores(count: int) -> None:
    """Bind this process and its threads to the last `count` cores that it may use."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-count:])


def child(command: list, **environment: str) -> dict:
    """Run a command; return the last line of its output, which is JSON."""
    done = subprocess.run(
        [str(word) for word in command],
        env=os.environ | environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(
            f"{shown(command)} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        )
    return json.loads(done.stdout.splitlines()[-1])


def shown(command: list) -> str:
    """Return a command as a reader would type it, without paths of this machine."""
    data = os.environ.get("CORPUSMILL_DATA")
    words = [str(word) for word in command]
    words[0] = "python" if words[0] == sys.executable else words[0]
    line = " ".join(words)
    for path, name in [(data, "$CORPUSMILL_DATA"), (f"{ROOT}/", ""), (str(Path.home()), "~")]:
        line = line.replace(path, name) if path else line
    return " ".join(
        word if not word.startswith("/") else f".../{Path(word).name}" for word in line.split(" ")
    )


def parser(description: str) -> argparse.ArgumentParser:
    """Return a parser with the arguments that all benchmarks share."""
    arguments = argparse.ArgumentParser(description=description.splitlines()[0])
    arguments.add_argument("--run-folder", type=Path, help="default: runs/<date>-<machine>")
    arguments.add_argument("--cache", type=Path, default=CACHE, help="environments, working files")
    arguments.add_argument("--runs", type=int, default=3, help="times that each thing is measured")
    return arguments
