"""Announce a run before it reads the workflow, so that watchers do not show an older run instead.

`corpusmill run` announces first, then its Snakemake under the same name. Plain Snakemake announces
itself. The file lists the run's processes and, at the end, the outcome.
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
"""Environment variable with which `corpusmill run` passes the run's name to its Snakemake."""

MOST_BYTES = 1 << 20
"""Maximum bytes of an announcement. It also bounds how many processes an announcement can list."""

LATEST = 1e11
"""Latest time an announcement may contain, in seconds since 1970: some 3,000 years."""

FINISHED, NOTHING, FAILED = "finished", "nothing", "failed"
"""Outcomes of a run. NOTHING means that there was nothing to do."""

DRY_RUN = re.compile("-[a-zA-Z]*n[a-zA-Z]*|--dry-?run")
"""Snakemake options that look like a dry run. If the run turns out not to be one, the Snakefile
still announces it."""

START_SECONDS = 2.0
"""Tolerance in seconds for a process's start time, which is counted from the machine's boot."""


class Life(msgspec.Struct, frozen=True):
    """A process, identified by pid, host and start time."""

    pid: int
    host: str
    started: float

    def is_alive(self) -> bool | None:
        """Say whether the process lives; None if it runs on another machine."""
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
    """Name of the run, also stored in its list of jobs."""
    began: float
    lives: list[Life] = []
    ended: float | None = None
    outcome: str = ""
    reason: str = ""
    """Reason why the run ended before its first job."""
    before: "Announcement | None" = None
    """Announcement of the previous run, without its own `before`."""
    version: int = msgspec.field(default=1, name="corpusmill.announced")

    @property
    def is_alive(self) -> bool | None:
        """Whether a process of the run lives; None if this machine cannot know."""
        if self.outcome:
            return False
        known = [life.is_alive() for life in self.lives]
        return True if True in known else None if None in known else False


def announce(path: Path = ANNOUNCEMENT) -> str:
    """Announce a run of this process and return its name; "" while another run is active here."""
    last = _last(path)
    if (last and last.is_alive) or (LOCKS.is_dir() and any(LOCKS.iterdir())):
        return ""
    name = secrets.token_hex(8)
    _save(path, _begun(name, last))
    return name


class Told:
    """Name of an announced run, and the reason if it fails."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.reason = ""


@contextlib.contextmanager
def announced(options: Sequence[str]) -> Iterator[Told]:
    """Announce a run of this folder. When the block ends, save the outcome if Snakemake did not.

    options: Snakemake's command line.
    """
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
        elif told.name and _listed_run() == told.name:
            end(ANNOUNCEMENT, told.name, FINISHED)
        else:
            withdraw(ANNOUNCEMENT, told.name)  # for example --version


def _listed_run() -> str:
    """Return the name of the run whose jobs are listed; "" for none, or a damaged list."""
    try:
        return load_job_list(JOB_LIST).run
    except ValueError:
        return ""


def go_on(path: Path, name: str) -> None:
    """Add this process to the announced run; announce the run if that was not done yet."""
    last = _last(path)
    if last is None or last.run != name:
        _save(path, _begun(name, last))
    elif (me := this_process()) not in last.lives:
        _save(path, msgspec.structs.replace(last, lives=[*last.lives, me]))


def end(path: Path, name: str, outcome: str, reason: str = "") -> None:
    """Save how a run ended, unless that is saved already or another run was announced since."""
    last = _last(path)
    if not last or last.run != name or last.outcome:
        return
    if outcome == NOTHING and last.before and last.before.outcome == FINISHED:
        withdraw(path, name)  # the previous run's outcome still holds
        return
    ending = {"ended": time.time(), "outcome": outcome, "reason": reason}
    _save(path, msgspec.structs.replace(last, **ending))


def withdraw(path: Path, name: str) -> None:
    """Undo an announcement, unless the run has an outcome."""
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
    """Return the last announcement. It is None if unreadable, since the caller replaces it."""
    try:
        return load_announcement(path)
    except ValueError:
        return None


def load_announcement(path: Path) -> Announcement | None:
    """Return the announcement of the last run; None if there is none.

    Raise ValueError if it cannot be read.
    """
    try:
        found = msgspec.json.decode(whole_file(path, MOST_BYTES), type=Announcement)
    except FileNotFoundError:
        return None
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(
            f"{path}: expected the announcement of a run by this version of corpusmill, found "
            f"something else ({error}). Remove the file, and run again."
        ) from error
    if not all(0 <= moment <= LATEST for moment in moments(found)):
        raise ValueError(
            f"{path}: expected times in seconds since 1970, found other values. Remove the file, "
            "and run again."
        )
    return found


def moments(announcement: Announcement) -> Iterator[float]:
    """Yield every time in an announcement and in those it contains."""
    at: Announcement | None = announcement
    while at:
        yield from (at.began, at.ended or 0.0, *(life.started for life in at.lives))
        at = at.before
