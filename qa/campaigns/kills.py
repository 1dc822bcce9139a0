"""Kills: a run is killed again and again until it is through, and has the bytes of a whole one."""

import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from qa.campaigns.runs import (
    Run,
    at_work,
    copied,
    differing,
    end_all,
    half_written,
    leftovers,
    processes_of,
    ran,
    send,
    unlocked,
    wait_for_all,
)

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
TARGETS = ("all", "snakemake", "corpusmill")
"""Who is signalled: Snakemake and its jobs, as by a power cut, a service manager, or Ctrl-C;
Snakemake alone, whose jobs may go on; the command `corpusmill run` alone, real processes."""
LONGEST_SECONDS = {"all": 2.0, "snakemake": 2.0, "corpusmill": 4.0}
"""Until the kill: long enough that every run of a chain gets something done."""


@dataclass
class Chain:
    """Runs of one folder, each but the last killed."""

    signal: int
    target: str
    kills: int = 0
    unlocked: int = 0
    steps: Counter = field(default_factory=Counter)
    """At how many of the kills a job of the step was running; "-": none was."""
    seconds_to_end: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def kill(run: Run, target: str, number: int) -> None:
    """A signal to one of its processes or to all; it is over then, but for jobs left alone."""
    if target == "corpusmill":
        run.process.send_signal(number)
    elif target == "snakemake":
        send([int(run.folder.with_name(run.folder.name + "-pid").read_text())], number)
    elif number == signal.SIGKILL:
        end_all(run.folder)
    else:
        send(processes_of(run.folder), number)


def chain(number: int, target: str, seed: int, kills: int, whole: Path, folder: Path) -> Chain:
    """Kill runs of a fresh folder so often, or until one is through; then let one end."""
    chance, seen = random.Random(f"{number} {target} {seed}"), Chain(number, target)
    copied(whole, folder)
    through = False
    while seen.kills < kills and not through and not seen.faults:
        through = not killed_once(seen, chance.random(), folder)
    while not through and not seen.faults:
        done = ran(folder)
        through = not done.code
        if done.code:
            seen.faults.append(f"the last run: {done.fault()}")
    wait_for_all(folder)
    seen.faults += [f"{name}: other bytes" for name in differing(folder, whole)]
    seen.faults += [f"{name}: left behind" for name in leftovers(folder)]
    return seen


def killed_once(seen: Chain, share: float, folder: Path) -> bool:
    """A run, killed at a moment; whether it was. Nothing that it leaves may be believed."""
    pid = folder.with_name(folder.name + "-pid")
    pid.unlink(missing_ok=True)
    warm = seen.target != "corpusmill"
    run = Run(folder, door="snakemake" if warm else "corpusmill", warm=warm,
              plan={"pid": str(pid)} if warm else None)  # fmt: skip
    until = run.started + 0.3 + share * LONGEST_SECONDS[seen.target]
    while run.process.poll() is None and (time.monotonic() < until or (warm and not pid.exists())):
        time.sleep(0.005)
    if run.process.poll() is not None:
        done = run.ended()
        if done.code:
            seen.faults.append(f"a run that nobody killed: {done.fault()}")
        return False
    seen.steps.update(at_work(folder) or ["-"])
    moment = time.monotonic()
    kill(run, seen.target, seen.signal)
    run.ended()
    seen.seconds_to_end.append(time.monotonic() - moment)
    seen.kills += 1
    # Jobs of a killed Snakemake may go on, and the next run must bear it. The Snakemake of a killed
    # `corpusmill run` goes on, too, but while it does, the next run is refused.
    if seen.target != "snakemake" or seen.signal != signal.SIGKILL:
        wait_for_all(folder)
        seen.faults += half_written(folder)
    seen.unlocked += unlocked(folder)
    return True


def of_one_kind(
    number: int, target: str, kills: int, seed: int, whole: Path, folder: Path
) -> Iterator[Chain]:
    """Chains with so many kills in all; the folder of one with a fault stays."""
    left = kills
    while left > 0:
        place = folder / f"{signal.Signals(number).name}-{target}-{seed}"
        seen = chain(number, target, seed, min(left, 12), whole, place)
        left -= max(seen.kills, 1)
        seed += 1
        yield seen
        if not seen.faults:
            shutil.rmtree(place)


@dataclass
class InJob:
    """A job that was signalled before one of its changes to files."""

    step: str
    change: int
    faults: list[str] = field(default_factory=list)
    happened: bool = False
    told: str = ""


def changes_of(record: Path) -> dict[str, list[str]]:
    """By step, in the order in which they begin, the changes that its first job makes."""
    found: dict[tuple[str, str], list[str]] = {}
    for line in record.read_text("utf-8").splitlines():
        process, step, event, path = line.split("\t")
        found.setdefault((step, process), []).append(f"{event} {path}")
    first: dict[str, list[str]] = {}
    for (step, _), changes in found.items():
        first.setdefault(step, changes)
    return first


def in_jobs(
    number: int, seed: int, moments: dict[str, list[str]], whole: Path, folder: Path
) -> Iterator[InJob]:
    """The first job of every rule is signalled at one of its changes, run after run in a folder."""
    chance = random.Random(f"jobs {number} {seed}")
    copied(whole, folder)
    for step, changes in moments.items():
        marker = folder.with_name(f"{folder.name}-{step}")
        seen = InJob(step, chance.randrange(len(changes)))
        plan = {"step": step, "change": seen.change, "signal": number, "marker": str(marker)}
        done = ran(folder, plan=plan)
        seen.happened = marker.exists()
        marker.unlink(missing_ok=True)
        seen.told = done.said
        if seen.happened == (done.code == 0):
            seen.faults.append(f"exit code {done.code}: {done.said[-1500:]}")
        seen.faults += half_written(folder)
        unlocked(folder)
        yield seen
    last = InJob("(the end)", 0, happened=True)
    done = ran(folder)
    if done.code:
        last.faults.append(done.fault())
    last.faults += [f"{name}: other bytes" for name in differing(folder, whole)]
    last.faults += [f"{name}: left behind" for name in leftovers(folder)]
    yield last
    if not last.faults:
        shutil.rmtree(folder)
