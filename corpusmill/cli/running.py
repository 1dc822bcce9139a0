"""A run: Snakemake in its own process, with progress, stopping and explained failures."""

import contextlib
import os
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import IO

import psutil

from corpusmill.cli.failures import reasons
from corpusmill.cli.run_progress import Run
from corpusmill.cli.screen import Screen, screen
from corpusmill.kernels.cache import are_compiled
from corpusmill.run.announcement import ANNOUNCED, LOCKS, Told
from corpusmill.run.snakemake_events import heard
from corpusmill.run.workflow_files import snakemake_with_workflow, workflow_home

LOOK_EVERY_SECONDS = 0.2
ASK_AGAIN_SECONDS = 2
LONGEST_END_SECONDS = 10
STOPS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
"""Exit code of each signal that ends a run."""

FIRST_RUN = (
    "This is the first run of this version on this machine: compiling the kernels takes about 20 s."
)


def snakemake_command(configs: Sequence[Path], more: Sequence[str]) -> list[str]:
    """Return the command for Snakemake and this workflow. Config files come before the options:
    --configfile takes all arguments that follow."""
    command = snakemake_with_workflow()
    if configs:
        command += ["--configfile", *map(str, configs)]
    return [*command, *more]


def runs_here() -> Iterator[psutil.Process]:
    """Yield the Snakemake processes in this folder that are visible on this machine."""
    here = os.path.realpath(".")
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.cwd() == here:
                line = process.cmdline()
                if any(part == "snakemake" or part.endswith("/snakemake") for part in line[:4]):
                    yield process
        except psutil.Error:
            continue  # ended, or owned by another user


def has_lock() -> bool:
    return LOCKS.is_dir() and any(LOCKS.iterdir())


class Running:
    """A Snakemake process in its own session. Ctrl-C reaches only this process, which forwards it
    once."""

    def __init__(
        self, command: Sequence[str], events: Run, said: IO[bytes] | None, name: str = ""
    ) -> None:
        """Start Snakemake. said: file for its output; None: the terminal. name: name of the run, if
        it is announced."""
        self.process, self._reader = heard(
            command, events.apply, said, {ANNOUNCED: name}, own_session=True
        )

    def signal(self, number: int) -> None:
        """Send a signal to Snakemake and its jobs."""
        with contextlib.suppress(ProcessLookupError):  # it may have just ended
            os.killpg(self.process.pid, number)

    def end(self) -> None:
        """Stop Snakemake and wait for its end."""
        self.signal(signal.SIGTERM)
        if self.wait(LONGEST_END_SECONDS) is None:
            self.signal(signal.SIGKILL)
            self.process.wait()

    def steps(self) -> list[psutil.Process]:
        """Return the processes of the run's jobs on this machine."""
        scripts = str(workflow_home() / "scripts")
        found = []
        with contextlib.suppress(psutil.Error):
            for process in psutil.Process(self.process.pid).children(recursive=True):
                with contextlib.suppress(psutil.Error):  # it may have just ended
                    if any(part.startswith(scripts) for part in process.cmdline()[:4]):
                        found.append(process)
        return found

    def wait(self, seconds: float) -> int | None:
        """Return the exit code; None if Snakemake is still running after this many seconds."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        # A killed process may have left a job that holds the pipe.
        self._reader.join(1)
        return code


def _nothing(number: int, frame: FrameType | None) -> None:
    """Ignore a signal in this process, but not in its children."""


class Stopping:
    """Signal handling: the first signal stops the run gently, the second kills it."""

    def __init__(self, run: Run, screen: Screen) -> None:
        """Install the handlers. Call this before Snakemake starts: children inherit ignored
        signals, as under `nohup ... &`. Signals already ignored here stay ignored."""
        self._run, self._screen = run, screen
        self._running: Running | None = None
        self._asked_at = 0.0
        self._asked: set[int] = set()
        self.first: int | None = None
        self.at_once = False
        self.checks = False
        """Whether the config files are being checked. A signal then ends the check."""
        self._before = {
            number: signal.signal(
                number, _nothing if signal.getsignal(number) == signal.SIG_IGN else self._came
            )
            for number in STOPS
        }

    def of(self, running: Running) -> None:
        self._running = running
        if self.first is not None:
            self._ask()

    def _came(self, number: int, frame: FrameType | None) -> None:
        if self.checks and self._running:
            if number == signal.SIGINT:
                signal.default_int_handler(number, frame)  # users' code may be running
            self._running.signal(signal.SIGKILL)
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        if self.first is None:
            self.first = number
            self._ask()
            with contextlib.suppress(OSError, ValueError):  # the terminal may be closed
                self._screen.say(
                    "Stopping the running jobs. Press Ctrl-C again to kill the jobs at once."
                )
        elif not self.at_once and self._running:
            self.at_once = True
            self._running.signal(signal.SIGKILL)

    def show(self) -> None:
        """Show the progress. A closed terminal counts as SIGHUP."""
        try:
            self.say_notes()
            self._screen.show(self._run)
        except (OSError, ValueError):
            self._came(signal.SIGHUP, None)

    def say_notes(self) -> None:
        """Print the notes since the last call."""
        while self._run.notes:
            self._screen.say(f"NOTE: {self._run.notes.pop(0)}")

    def _ask(self) -> None:
        if self._running:
            self._asked_at = time.monotonic()
            self._asked = {step.pid for step in self._running.steps()}
            self._running.signal(signal.SIGINT)

    def insist(self) -> None:
        """Stop again the processes that may have missed the signal. Snakemake loses a signal that
        arrives while it looks at files, because asyncio drops it. It also waits for jobs that it
        was starting at that moment."""
        if self.first is None or self._running is None or self.at_once:
            return
        if not self._run.stopping and time.monotonic() - self._asked_at > ASK_AGAIN_SECONDS:
            self._ask()
        for step in self._running.steps():
            if step.pid not in self._asked:
                self._asked.add(step.pid)
                with contextlib.suppress(psutil.Error):
                    step.send_signal(signal.SIGINT)

    def restore(self) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)


def watched(
    command: Sequence[str],
    quiet: bool,
    told: Told,
    began: float | None = None,
    check: Callable[[], None] = lambda: None,
) -> tuple[int, Run]:
    """Run Snakemake and show its progress. Return the exit code and the progress.

    On failure, and when stopped, all messages are printed. told: the announced options. began: time
    of the announcement, by the monotonic clock. check: called while Snakemake is being imported; if
    it raises, Snakemake is stopped before it has done anything.
    """
    with tempfile.TemporaryFile() as said:
        run, shown = Run(began=began), screen(quiet)
        if not quiet and not are_compiled():
            shown.say(FIRST_RUN)
        stopping = Stopping(run, shown)
        try:
            running = Running(command, run, said, told.name)
            stopping.of(running)
            try:
                stopping.checks = True
                check()
                stopping.checks = False
            except BaseException:
                stopping.checks = False
                running.end()
                raise
            while (code := running.wait(LOOK_EVERY_SECONDS)) is None:
                stopping.insist()
                if stopping.first is None:
                    stopping.show()
        finally:
            stopping.restore()
            with contextlib.suppress(OSError, ValueError):
                stopping.say_notes()
                shown.close()
        if stopping.first is not None:
            if stopping.at_once:
                remove_locks()
            with contextlib.suppress(OSError, ValueError):
                shown.say("Stopped. Finished work is kept. Run the command again to resume.")
            return STOPS[signal.Signals(stopping.first)], run
        if code:
            said.seek(0)
            output = said.read().decode("utf-8", "replace")
            told.reason = "\n".join(reasons(run, code, output, runs_here()))
            shown.say(told.reason)
        return code if code >= 0 else 128 - code, run


def unwatched(command: Sequence[str], name: str = "") -> int:
    """Run Snakemake directly, with its own output, signal handling and exit code."""
    return subprocess.run(command, env=os.environ | {ANNOUNCED: name}, check=False).returncode


def remove_locks() -> str | None:
    """Remove Snakemake's locks of this folder; report anything else that has their place."""
    if not has_lock():
        return None
    locks = list(LOCKS.iterdir())
    for place in (LOCKS.parent, LOCKS, *locks):
        mode = place.lstat().st_mode
        if not (stat.S_ISREG(mode) if place in locks else stat.S_ISDIR(mode)):
            return (
                f"{place}: expected Snakemake's lock files, found something else, perhaps a "
                "symlink. Inspect this path, then remove it."
            )
    for lock in locks:
        lock.unlink()
    return None


def unlocked() -> tuple[str, bool]:
    """Remove the lock of a killed run. Return the message, and whether it succeeded."""
    if not has_lock():
        return "There is no lock in this folder.", True
    for process in runs_here():
        return (
            f"A run is active in this folder (process {process.pid}), so its lock is kept. To "
            f"stop the run: kill {process.pid}",
            False,
        )
    if told := remove_locks():
        return told, False
    done = (
        "The lock was removed. Jobs on a cluster may still be running; see docs/how-to/cluster.md."
    )
    return done, True
