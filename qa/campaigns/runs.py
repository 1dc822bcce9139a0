"""Runs of a campaign: begun, watched, signalled, asked what they said."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warm import FIRST, warm_python
from workflow import ROOT, command

from corpusmill.mill.storage.sums import SUMS, DamagedError, checked_blocks, summed_path
from qa.campaigns.corpus import results
from qa.campaigns.inside import VARIABLE

CONFIG = ("--configfile", "mine.yaml", "--cores")
AT_MOST_SECONDS = 300
# The command `corpusmill`, whose Snakemake is forked by the server.
COMMAND = """
import sys
sys.executable = sys.argv.pop(1)
from corpusmill.cli.main import main
main(prog_name="corpusmill")
"""
NO_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass
class Ended:
    """A run that has ended."""

    code: int
    said: str
    seconds: float

    def lines(self) -> list[str]:
        return [line for line in self.said.splitlines() if line.strip()]

    def fault(self) -> str:
        """What is wrong with a run that had to end well; empty if nothing is."""
        return "" if self.code == 0 else f"exit code {self.code}: {self.said[-1500:]}"


class Run:
    """A run of a folder, in a session of its own."""

    def __init__(
        self, folder: Path, *arguments: str, cores: int = 1, door: str = "snakemake",
        plan: dict[str, Any] | None = None, warm: bool = True, **environment: str,
    ) -> None:  # fmt: skip
        """door: snakemake, or corpusmill for its command `run`. plan: see inside.py."""
        python = warm_python() if warm else sys.executable
        if door == "snakemake":
            asked = command(*CONFIG, str(cores), *arguments, python=python)
        else:
            asked = [sys.executable, "-c", COMMAND, python, "run", "mine.yaml", "--cores",
                     str(cores), *arguments]  # fmt: skip
        more = {VARIABLE: json.dumps(plan), FIRST: "qa.campaigns.inside"} if plan else {}
        path = os.pathsep.join(map(str, (ROOT, ROOT / "tests")))
        self.folder, self.said = folder, folder.with_name(f"{folder.name}-said-{time.time_ns()}")
        self.started = time.monotonic()
        with open(self.said, "wb") as said:
            self.process = subprocess.Popen(
                asked, cwd=folder, start_new_session=True, stdin=subprocess.DEVNULL,
                stdout=said, stderr=said,
                env=os.environ | {"PYTHONPATH": path} | more | environment,
            )  # fmt: skip

    def ended(self) -> Ended:
        """What came of it, when it is over."""
        code = self.process.wait(AT_MOST_SECONDS)
        seconds = time.monotonic() - self.started
        said = NO_COLOUR.sub("", self.said.read_text("utf-8", "replace"))
        self.said.unlink()
        return Ended(code, said, seconds)


def ran(folder: Path, *arguments: str, **options: Any) -> Ended:
    return Run(folder, *arguments, **options).ended()


def processes_of(folder: Path) -> list[int]:
    """The processes that work in a folder, its shells and those who wait for others too."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # it has ended, or is somebody else's
            if os.readlink(f"/proc/{name}/cwd") == str(folder):
                found.append(int(name))
    return found


def send(processes: list[int], number: int) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)


def end_all(folder: Path) -> None:
    """SIGKILL to whoever works in a folder, until nobody does: a power cut."""
    while processes := processes_of(folder):
        send(processes, signal.SIGKILL)
        time.sleep(0.005)


def wait_for_all(folder: Path) -> None:
    """Until nobody works in a folder any more."""
    until = time.monotonic() + AT_MOST_SECONDS
    while processes_of(folder):
        if time.monotonic() > until:
            raise TimeoutError(f"processes {processes_of(folder)} do not end")
        time.sleep(0.02)


def at_work(folder: Path) -> list[str]:
    """The steps whose jobs are running, by the locks of their logs."""
    locks = folder.glob("logs/**/.*.log.lock")
    return sorted({lock.relative_to(folder / "logs").parts[0] for lock in locks})


def unlocked(folder: Path) -> bool:
    """Take away the lock of a run that was killed; whether there was one."""
    locks = list((folder / ".snakemake/locks").glob("*"))
    if locks:
        done = ran(folder, "--unlock")
        assert done.code == 0, done.said
    return bool(locks)


def half_written(folder: Path) -> Iterator[str]:
    """Files of the results, with sums, that are not what their writer meant."""
    for sums in (folder / "results").rglob(f".*{SUMS}"):
        path = summed_path(sums)
        # Sums come first: without their file they deceive nobody. So do those of a folder that has
        # not got its name yet.
        if path.exists() and "~" not in str(path.relative_to(folder)):
            try:
                for _ in checked_blocks(path):
                    pass
            except DamagedError as error:
                yield str(error)


def leftovers(folder: Path) -> list[str]:
    """Temporary files and locks that a finished run leaves."""
    places = (*(folder / "results").rglob("*"), *(folder / "logs").rglob("*"))
    return sorted(
        str(path.relative_to(folder)) for path in places if "~" in path.name or
        path.name.endswith(".lock")
    )  # fmt: skip


def copied(folder: Path, to: Path) -> Path:
    """The inputs of a folder and its config, with their times."""
    shutil.copytree(folder / "raw", to / "raw")
    shutil.copy2(folder / "mine.yaml", to)
    return to


def differing(folder: Path, whole: Path) -> list[str]:
    """Results that are not those of the run that nothing happened to."""
    one, other = results(folder), results(whole)
    return sorted(name for name in one | other if one.get(name) != other.get(name))
