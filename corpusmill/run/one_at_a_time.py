"""One process at a time for a job, one run at a time for a folder.

Jobs outlive a Snakemake that is killed, on a cluster also those that still wait in the queue; the
next run of the folder gives out the same jobs again. Two rules keep such copies apart: a job waits
for a process that is at it already, by a lock that ends with its holder; and a job of a run that
another has followed does nothing more, by a note of which run is the folder's.
"""

import contextlib
import errno
import fcntl
import logging
import os
import secrets
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from corpusmill.messages.disk_errors import named
from corpusmill.mill.storage.files import replacing

# Jobs inherit them: the run that they are of, where the folder's note lies, Snakemake's process.
RUN, NOTE, ENGINE = "CORPUSMILL_RUN", "CORPUSMILL_RUN_NOTE", "CORPUSMILL_ENGINE"
# If the job before failed, its Snakemake removes its outputs: some tenths of a second later.
PAUSE_SECONDS = 3
# ASSUME a file system without locks says so with one of these.
WITHOUT_LOCKS = {errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK}


@contextlib.contextmanager
def alone(log: Path) -> Iterator[None]:
    """Wait until no other process is at the job of this log; until the end others wait for us.

    The lock is not the log's own: Snakemake removes a log while an earlier copy of its job may run.
    """
    path = log.with_name(f".{log.name}.lock")
    with locked(path) as file:
        slurm = os.environ.get("SLURM_JOB_ID")
        told = process() + (f", SLURM job {slurm}" if slurm else "")
        with named(path):
            file.truncate(0)
            # Not through the file's buffer, which would be written once more when it is closed.
            os.write(file.fileno(), told.encode())
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def process(pid: int | None = None) -> str:
    """A process of this machine, or this one, as no other machine has it."""
    return f"process {pid or os.getpid()} on {os.uname().nodename}"


def locked(path: Path) -> TextIO:
    """The file of a lock, locked until it is closed or its holder dies."""
    waited = False
    while True:
        file = open(path, "a+", encoding="utf-8")  # noqa: SIM115 - the caller closes it
        try:
            waited |= waited_for(file)
        except OSError as error:
            if error.errno not in WITHOUT_LOCKS:
                raise
            logging.warning("no locks here (%s): another copy of this job would not be seen", error)
            break
        # Whoever held it has removed the file by now: then others lock another one of its name.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                break
        file.close()
    if waited:
        time.sleep(PAUSE_SECONDS)
    return file


def waited_for(file: TextIO) -> bool:
    """Lock a file; whether somebody had it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        logging.warning(told := f"{file.read() or 'another process'} is at this job: waiting")
        print(told, file=sys.stderr)
        fcntl.flock(file, fcntl.LOCK_EX)
        return True
    return False


def name_run(note: Path, name: str = "") -> None:
    """Give the run of this process a name, which its jobs inherit; a new one if it has none."""
    os.environ[RUN] = name or secrets.token_hex(8)
    os.environ[NOTE] = str(note.absolute())
    os.environ[ENGINE] = process()


def begin_run() -> None:
    """Note that the folder is from now on that of the run of this process."""
    with replacing(Path(os.environ[NOTE])) as temporary:
        temporary.write_text(os.environ[RUN] + "\n", "utf-8")


def refuse_if_followed() -> None:
    """Raise ValueError in a job of a run after which another has begun."""
    if RUN not in os.environ:
        return
    with contextlib.suppress(FileNotFoundError):
        if Path(os.environ[NOTE]).read_text("utf-8").strip() != os.environ[RUN]:
            end_engine()
            raise ValueError(
                "another run has begun in this folder since this job was given out; it does the "
                "job itself, and this one ends here"
            )


def end_engine() -> None:
    """Kill the Snakemake above this job, if it is on this machine: it would remove the outputs of
    the job that failed, which may be those that the next run has made and believes."""
    import psutil  # by the few jobs alone that come to this

    for one in psutil.Process().parents():
        if process(one.pid) == os.environ[ENGINE]:
            one.kill()
