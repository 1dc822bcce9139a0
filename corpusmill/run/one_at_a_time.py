"""Allow one process at a time per job, and one run at a time per folder.

Jobs outlive a killed Snakemake, and on a cluster they may still be queued. The next run of the
folder submits the same jobs again. Two rules keep such copies apart. A lock, which ends with its
holder, makes a job wait for another process with the same job. A note of the folder's current run
stops jobs of earlier runs.
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

# Jobs inherit these: the name of their run, the path of the folder's note, Snakemake's process.
RUN, NOTE, ENGINE = "CORPUSMILL_RUN", "CORPUSMILL_RUN_NOTE", "CORPUSMILL_ENGINE"
# If the previous job failed, its Snakemake removes its outputs some tenths of a second later.
PAUSE_SECONDS = 3
# ASSUME a file system without locks says so with one of these.
WITHOUT_LOCKS = {errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK}


@contextlib.contextmanager
def alone(log: Path) -> Iterator[None]:
    """Hold the lock of the job of this log; wait first while another process runs that job.

    The lock is a separate file: Snakemake removes a log while an earlier copy of the job may run.
    """
    path = log.with_name(f".{log.name}.lock")
    with locked(path) as file:
        slurm = os.environ.get("SLURM_JOB_ID")
        told = process() + (f", SLURM job {slurm}" if slurm else "")
        with named(path):
            file.truncate(0)
            # Not through the file's buffer, which would be written again on close.
            os.write(file.fileno(), told.encode())
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def process(pid: int | None = None) -> str:
    """Name a process of this machine uniquely among machines; by default this process."""
    return f"process {pid or os.getpid()} on {os.uname().nodename}"


def locked(path: Path) -> TextIO:
    """Return a locked file. The lock lasts until it is closed or this process dies."""
    waited = False
    while True:
        file = open(path, "a+", encoding="utf-8")  # noqa: SIM115 - the caller closes it
        try:
            waited |= waited_for(file)
        except OSError as error:
            if error.errno not in WITHOUT_LOCKS:
                raise
            logging.warning(
                "file locks are not available (%s): a second copy of this job would go unnoticed",
                error,
            )
            break
        # If the holder has removed the file, others lock a new one of that name: try again.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                break
        file.close()
    if waited:
        time.sleep(PAUSE_SECONDS)
    return file


def waited_for(file: TextIO) -> bool:
    """Lock a file; return whether another process held it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        logging.warning(told := f"{file.read() or 'another process'} is running this job: waiting")
        print(told, file=sys.stderr)
        fcntl.flock(file, fcntl.LOCK_EX)
        return True
    return False


def name_run(note: Path, name: str = "") -> None:
    """Name the run of this process, a new name if none is given; its jobs inherit it."""
    os.environ[RUN] = name or secrets.token_hex(8)
    os.environ[NOTE] = str(note.absolute())
    os.environ[ENGINE] = process()


def begin_run() -> None:
    """Note this process's run as the folder's current one."""
    with replacing(Path(os.environ[NOTE])) as temporary:
        temporary.write_text(os.environ[RUN] + "\n", "utf-8")


def refuse_if_followed() -> None:
    """Raise ValueError in a job of a run if a later run has begun."""
    if RUN not in os.environ:
        return
    with contextlib.suppress(FileNotFoundError):
        if Path(os.environ[NOTE]).read_text("utf-8").strip() != os.environ[RUN]:
            end_engine()
            raise ValueError(
                "another run has begun in this folder since this job was submitted. That run does "
                "the job, so this one stops."
            )


def end_engine() -> None:
    """Kill the Snakemake that started this job, if it is on this machine.

    It would remove the outputs of the failed job, which the next run may have made by now.
    """
    import psutil  # here, as few jobs need it

    for one in psutil.Process().parents():
        if process(one.pid) == os.environ[ENGINE]:
            one.kill()
