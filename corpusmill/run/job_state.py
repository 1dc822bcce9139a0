"""The state of a job for programs: a JSON file beside its log, rewritten every two seconds."""

import json
import os
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from corpusmill.mill.storage.untrusted import json_of, whole_file
from corpusmill.run.start import BEGAN

RUNNING, FINISHED, FAILED, STOPPED = "running", "finished", "failed", "stopped"
MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class JobState:
    state: str
    said: str = ""
    """Current activity, or why the job failed."""
    is_fault: bool = False
    """Whether the failure is a bug of corpusmill, not a fault of the input."""
    began: float = 0.0
    """Time at which the job's command started, in seconds since 1970, like file times."""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    memory_mb: int = 0
    """Peak memory so far."""
    allowed_mb: int = 0
    """Memory that its rule allows; 0: unknown."""
    process: int = 0
    host: str = ""

    @classmethod
    def begun(cls, allowed_mb: int) -> "JobState":
        """Return the state of a job that this process starts now."""
        host = os.uname().nodename
        return cls(
            RUNNING,
            began=float(os.environ.get(BEGAN, time.time())),
            allowed_mb=allowed_mb,
            process=os.getpid(),
            host=host,
        )

    def now(self, state: str, said: str, memory_mb: float, is_fault: bool = False) -> "JobState":
        """Return the current state of this process."""
        return replace(
            self, state=state, said=said, is_fault=is_fault, memory_mb=round(memory_mb),
            seconds=round(time.time() - self.began, 3), cpu_seconds=round(time.process_time(), 3),
        )  # fmt: skip


def state_file(log: Path) -> Path:
    return log.with_name(f".{log.name}.json")


def save_state(log: Path, state: JobState) -> None:
    """Save a state without checksum or sync: it is soon replaced."""
    file = state_file(log)
    # One name, so that the job's next process takes what a killed one has left.
    temporary = file.with_name(f"{file.name}~")
    try:
        temporary.write_text(json.dumps(asdict(state)) + "\n", "utf-8")
        os.replace(temporary, file)
    finally:
        temporary.unlink(missing_ok=True)


def load_state(log: Path) -> JobState | None:
    """Return the state; None if the job has not started. Raise ValueError for a malformed file.

    Snakemake removes the log before a job starts: a state without it is of an earlier attempt.
    """
    import msgspec  # here, as jobs need not load it

    file = state_file(log)
    if not log.exists():
        return None
    try:
        return msgspec.convert(json_of(whole_file(file, MOST_BYTES), file), JobState)
    except FileNotFoundError:
        return None
    except msgspec.ValidationError as error:
        raise ValueError(f"{file}: expected the state of a job, found something else: {error}. "
                         "Remove it.") from None  # fmt: skip
