"""The display of a running workflow: a live picture on a terminal, occasional lines elsewhere."""

import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from corpusmill.cli.run_progress import Job, Run
from corpusmill.messages.plain_text import shown, told_lines
from corpusmill.run.job_progress import duration
from corpusmill.run.steps import STEPS

LINE_EVERY_SECONDS = 5.0
MOST_JOBS = 8


class Screen(Protocol):
    def show(self, run: Run, notes: Sequence[str] = ()) -> None:
        """Show the progress. notes: further lines about the run."""

    def say(self, text: str) -> None: ...
    def close(self) -> None: ...


def total_line(run: Run) -> str:
    """Return a line such as `22 of 63 jobs, 35 %, 1 min 3 s, about 2 min 0 s left`."""
    text = f"{run.finished} of {run.total} jobs, {100 * run.finished // max(run.total, 1)} %, "
    text += duration(run.elapsed)
    left = run.seconds_left()
    return text if left is None else f"{text}, about {duration(left)} left"


def named(jobs: Sequence[Job]) -> Iterator[str]:
    """Yield the names of jobs. The first job of each rule also gets the purpose of the rule."""
    known = set()
    for job in jobs:
        yield f"{job.name} ({job.does})" if job.does and job.rule not in known else job.name
        known.add(job.rule)


def picture(run: Run, notes: Sequence[str] = ()) -> RenderableType:
    """Return a bar for each rule in progress, the running jobs and the total."""
    if not run.total:
        return Text(f"reading the workflow, {duration(run.elapsed)}", style="dim")
    running = run.running()
    under_way = {job.rule for job in running}
    bars_of = {
        rule: (run.done[rule], count)
        for rule, count in run.counts.items()
        if rule in under_way or 0 < run.done[rule] < count
    }
    bars, total = Table.grid(padding=(0, 1)), Table.grid(padding=(0, 1))
    for grid in (bars, total):
        grid.add_column(min_width=max(map(len, ["all", *map(shown, bars_of)])))
    for rule, (done, count) in bars_of.items():
        jobs_done = f"{done} of {count} {'job' if count == 1 else 'jobs'}"
        does = Text(STEPS[rule].does if rule in STEPS else "", style="dim")
        bars.add_row(Text(shown(rule)), ProgressBar(count, done, width=30), jobs_done, does)
    whole = ProgressBar(run.total, run.finished, width=30)
    total.add_row(Text("all", style="bold"), whole, total_line(run))
    jobs = Table.grid(padding=(0, 1))
    for job in running[:MOST_JOBS]:
        doing = Text(shown(job.doing()), style="dim", overflow="ellipsis")
        jobs.add_row("", Text(shown(job.name)), doing)
    if len(running) > MOST_JOBS:
        jobs.add_row("", f"and {len(running) - MOST_JOBS} more", "")
    return Group(bars, total, jobs, *(Text(shown(note)) for note in notes))


class Moving:
    """The display on a terminal: a live picture that disappears at the end."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._live = Live(console=self._console, refresh_per_second=4, transient=True)
        self._live.start()

    def show(self, run: Run, notes: Sequence[str] = ()) -> None:
        self._live.update(picture(run, notes))

    def say(self, text: str) -> None:
        self._console.print(told_lines(text), markup=False, soft_wrap=True)

    def close(self) -> None:
        self._live.stop()


class Lines:
    """The display elsewhere: an occasional short line."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def show(self, run: Run, notes: Sequence[str] = ()) -> None:
        now = time.monotonic()
        if not run.total or now - self._last < LINE_EVERY_SECONDS:
            return
        self._last = now
        jobs = ", ".join(named(run.running()[:MOST_JOBS]))
        self.say(total_line(run) + (f": {jobs}" if jobs else ""))
        for note in notes:
            self.say(f"  {note}")

    def say(self, text: str) -> None:
        print(told_lines(text), file=sys.stderr, flush=True)

    def close(self) -> None:
        pass


class Silent(Lines):
    """The display with --quiet: only the lines at the end."""

    def show(self, run: Run, notes: Sequence[str] = ()) -> None:
        pass


def screen(quiet: bool) -> Screen:
    if quiet:
        return Silent()
    return Moving() if sys.stderr.isatty() else Lines()


class OneLine:
    """A progress line: redrawn on a terminal, printed again elsewhere."""

    def __init__(self) -> None:
        # Looked up once: a user's code may replace sys.stderr later.
        self._stream = sys.stderr
        self._redraws = self._stream.isatty()

    def show(self, text: str) -> None:
        text = shown(text)
        if self._redraws:
            width = shutil.get_terminal_size((100, 24)).columns
            print(f"\r\x1b[K{text[: width - 1]}", end="", file=self._stream, flush=True)
        else:
            print(text, file=self._stream, flush=True)

    def close(self) -> None:
        """Remove the line from a terminal."""
        if self._redraws:
            print("\r\x1b[K", end="", file=self._stream, flush=True)
