"""A run announces itself before it reads the workflow, so that nobody takes an older one for it.

`corpusmill run` does so first of all, then its Snakemake under the same name; Snakemake alone does
it by itself. The file says which processes the run lives by, and in the end how it ended.
"""

import contextlib
import os
import re
import secrets
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import psutil

from corpusmill.mill.storage.files import save_plain_json
from corpusmill.mill.storage.untrusted import whole_file
from corpusmill.run.job_list import JOB_LIST, load_job_list

ANNOUNCEMENT = Path("logs/announced.json")
LOCKS = Path(".snakemake/locks")
ANNOUNCED = "CORPUSMILL_ANNOUNCED"
"""The variable by which `corpusmill run` tells its Snakemake the name of the announced run."""

MOST_BYTES = 1 << 20
"""Of an announcement: each process that it names is looked for."""

LATEST = 1e11
"""Of the moments that an announcement may say, in seconds since 1970: some 3,000 years."""

FINISHED, NOTHING, FAILED = "finished", "nothing", "failed"
"""How a run ends; NOTHING: there was nothing to do."""

DRY_RUN = re.compile("-[a-zA-Z]*n[a-zA-Z]*|--dry-?run")
"""Options of Snakemake that run nothing. The Snakefile announces what looks like one and runs."""

START_SECONDS = 2.0
"""The start of a process is known that well: it is counted from that of the machine."""


class Life(msgspec.Struct, frozen=True):
    """A process, as no other one is."""

    pid: int
    host: str
    started: float

    def is_alive(self) -> bool | None:
        """None: it is of another machine, so nobody here knows."""
        if self.host != os.uname().nodename:
            return None
        try:
            process = psutil.Process(self.pid)
            is_zombie = process.status() == psutil.STATUS_ZOMBIE
            return not is_zombie and abs(process.create_time() - self.started) < START_SECONDS
        except (psutil.NoSuchProcess, ValueError, OverflowError):  # or no process can be that
            return False


class Announcement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    run: str
    """Its name, which its list of jobs has too."""
    began: float
    lives: list[Life] = []
    ended: float | None = None
    outcome: str = ""
    reason: str = ""
    """Why it ended before its first job."""
    before: "Announcement | None" = None
    """That of the run before, whose own is forgotten."""
    version: int = msgspec.field(default=1, name="corpusmill.announced")

    @property
    def is_alive(self) -> bool | None:
        """Whether a process of it lives; None: nobody on this machine knows."""
        if self.outcome:
            return False
        known = [life.is_alive() for life in self.lives]
        return True if True in known else None if None in known else False


def announce(path: Path = ANNOUNCEMENT) -> str:
    """Announce a run of this process and return its name; "" while another run has the folder."""
    last = _last(path)
    if (last and last.is_alive) or (LOCKS.is_dir() and any(LOCKS.iterdir())):
        return ""
    name = secrets.token_hex(8)
    _save(path, _begun(name, last))
    return name


class Told:
    """A run as this process knows it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.reason = ""


@contextlib.contextmanager
def announced(options: Sequence[str]) -> Iterator[Told]:
    """Announce a run of this folder; say how it ended by how this block is left, if its Snakemake
    has not. options: those of Snakemake."""
    is_dry = any(DRY_RUN.fullmatch(option) for option in options)
    told, code = Told("" if is_dry else announce()), None
    try:
        yield told
    except SystemExit as leaving:
        code = leaving.code
        raise
    finally:
        if code != 0:
            end(ANNOUNCEMENT, told.name, FAILED, told.reason)
        elif told.name and JOB_LIST.exists() and load_job_list(JOB_LIST).run == told.name:
            end(ANNOUNCEMENT, told.name, FINISHED)
        else:
            withdraw(ANNOUNCEMENT, told.name)  # of --version, for one


def go_on(path: Path, name: str) -> None:
    """Announce that this process, too, is of a run; nobody may have announced the run so far."""
    last = _last(path)
    if last is None or last.run != name:
        _save(path, _begun(name, last))
    elif (me := this_process()) not in last.lives:
        _save(path, msgspec.structs.replace(last, lives=[*last.lives, me]))


def end(path: Path, name: str, outcome: str, reason: str = "") -> None:
    """Say how a run ended, unless that is said, or another one has been announced since."""
    last = _last(path)
    if not last or last.run != name or last.outcome:
        return
    if outcome == NOTHING and last.before and last.before.outcome == FINISHED:
        withdraw(path, name)  # what there is to say is what the run before has said
        return
    ending = {"ended": time.time(), "outcome": outcome, "reason": reason}
    _save(path, msgspec.structs.replace(last, **ending))


def withdraw(path: Path, name: str) -> None:
    """Undo an announcement, if the run has not ended: there was none."""
    last = _last(path)
    if last and last.run == name and not last.outcome:
        if last.before:
            _save(path, last.before)
        else:
            path.unlink()


def this_process() -> Life:
    process = psutil.Process()
    return Life(process.pid, os.uname().nodename, process.create_time())


def _begun(name: str, before: Announcement | None) -> Announcement:
    if before:
        before = msgspec.structs.replace(before, before=None)
    return Announcement(name, time.time(), [this_process()], before=before)


def _save(path: Path, announcement: Announcement) -> None:
    save_plain_json(path, msgspec.to_builtins(announcement))


def _last(path: Path) -> Announcement | None:
    """For whoever replaces it, as that of another version may be."""
    try:
        return load_announcement(path)
    except ValueError:
        return None


def load_announcement(path: Path) -> Announcement | None:
    """That of a folder's last run; None if it has none. ValueError if it cannot be read."""
    try:
        found = msgspec.json.decode(whole_file(path, MOST_BYTES), type=Announcement)
    except FileNotFoundError:
        return None
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(
            f"{path}: not an announcement of this version ({error}). Remove it, and run again."
        ) from error
    if not all(0 <= moment <= LATEST for moment in moments(found)):
        raise ValueError(
            f"{path}: expected moments in seconds since 1970, found others. Remove it, and run "
            "again."
        )
    return found


def moments(announcement: Announcement) -> Iterator[float]:
    """When runs began and ended."""
    at: Announcement | None = announcement
    while at:
        yield from (at.began, at.ended or 0.0, *(life.started for life in at.lives))
        at = at.before
