"""Full disks: while a job of each rule writes, its disk gets full; then there is room again."""

import contextlib
import random
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from qa.campaigns.runs import copied, differing, half_written, leftovers, ran, unlocked

DISK_BYTES = 64 << 20
WAY_OUT = re.compile(r"Make room|Free some space|no room", re.IGNORECASE)
WHAT = re.compile(
    r"the disk or the quota is full|are free, but the run still has to write at least|No space left"
)


@dataclass
class Filled:
    """A job before one of whose changes the disk got full."""

    step: str
    change: int
    path: str
    happened: bool
    code: int
    said: list[str]
    """What the run said, progress left out."""
    faults: list[str] = field(default_factory=list)


OF_SNAKEMAKE = range(0, 48, 4)
"""Of its own changes, those before its first jobs: locks, the record of the folder, notes."""


def can_mount(folder: Path) -> bool:
    """Whether this user may have a disk of so many bytes."""
    with contextlib.suppress(subprocess.CalledProcessError), disk(folder):
        return True
    return False


@contextlib.contextmanager
def disk(folder: Path) -> Iterator[Path]:
    """A small disk in memory, as long as this lasts."""
    folder.mkdir(parents=True, exist_ok=True)
    option = f"size={DISK_BYTES}"
    command = ["mount", "-t", "tmpfs", "-o", option, "tmpfs", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def words(said: str) -> list[str]:
    """Lines of `corpusmill run`, but for how far it is."""
    lines = [line.strip() for line in said.splitlines()]
    return [line for line in lines if line and not re.match(r"\d+ of \d+ steps|Running", line)]


def fault_of(said: list[str]) -> Iterator[str]:
    """What is wrong with what was said of a full disk."""
    told = "\n".join(said)
    if not WHAT.search(told):
        yield f"does not say that the disk is full: {told[-600:]}"
    elif not WAY_OUT.search(told):
        yield f"does not say what to do: {told[-600:]}"
    if "Traceback" in told:
        yield f"a traceback: {told[-1500:]}"


def filled(folder: Path, step: str, change: int, path: str) -> Filled:
    """A run of which the disk gets full before a change of a step's first job; then room again."""
    ballast, marker = folder / "ballast", folder.with_name(f"{folder.name}-{step}")
    plan = {"step": step, "change": change, "fill": str(ballast), "marker": str(marker)}
    done = ran(folder, "--quiet", plan=plan, door="corpusmill")
    seen = Filled(step, change, path, marker.exists(), done.code, words(done.said))
    if seen.happened:
        if not done.code:
            seen.faults.append("the run ended well")
        seen.faults += fault_of(seen.said)
    elif done.code:
        seen.faults.append(f"a run to which nothing happened: {done.fault()}")
    marker.unlink(missing_ok=True)
    ballast.unlink(missing_ok=True)
    seen.faults += half_written(folder)
    unlocked(folder)
    return seen


def each(
    moments: dict[str, list[str]], where: float | None, seed: int, whole: Path, folder: Path
) -> Iterator[Filled]:
    """Every rule in the order of a run: of the files of the results that its first job opens to
    write, by its changes in `moments`, the first (where 0), the last (1) or, with None, one by
    chance finds a full disk. Then the end.
    """
    chance = random.Random(f"disk {seed}")
    with disk(folder):
        copied(whole, folder)
        for step, changes in moments.items():
            opened = [k for k, told in enumerate(changes) if told.startswith("open results/")]
            at = chance.random() if where is None else where
            change = opened[round(at * (len(opened) - 1))]
            yield filled(folder, step, change, changes[change])
        yield ended(folder, whole)


def of_snakemake(whole: Path, folder: Path) -> Iterator[Filled]:
    """The disk gets full before Snakemake's own changes, some of those before the first jobs."""
    with disk(folder):
        copied(whole, folder)
        for change in OF_SNAKEMAKE:
            yield filled(folder, "snakemake", change, "")
        yield ended(folder, whole)


def ended(folder: Path, whole: Path) -> Filled:
    done = ran(folder)
    last = Filled("(the end)", 0, "", True, done.code, [])
    last.faults += [done.fault()] if done.code else []
    last.faults += [f"{name}: other bytes" for name in differing(folder, whole)]
    last.faults += [f"{name}: left behind" for name in leftovers(folder)]
    return last
