"""How a job stands, for programs: JSON in a file beside its log, written anew every two seconds."""

import json
import os
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from corpusmill.mill.storage.untrusted import json_of, whole_file

RUNNING, FINISHED, FAILED, STOPPED = "running", "finished", "failed", "stopped"
MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class JobState:
    state: str
    said: str = ""
    """What the job does, or why it failed."""
    is_fault: bool = False
    """It failed by a fault of corpusmill, not of its input."""
    began: float = 0.0
    """In seconds since 1970, as are times of files."""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    memory_mb: int = 0
    """The most that it has held."""
    allowed_mb: int = 0
    """What its rule allows it to hold; 0: nobody said."""
    process: int = 0
    host: str = ""

    @classmethod
    def begun(cls, allowed_mb: int) -> "JobState":
        """Of a job of this process that begins now."""
        host = os.uname().nodename
        return cls(
            RUNNING, began=time.time(), allowed_mb=allowed_mb, process=os.getpid(), host=host
        )

    def now(self, state: str, said: str, memory_mb: float, is_fault: bool = False) -> "JobState":
        """The state of this process by now."""
        return replace(
            self, state=state, said=said, is_fault=is_fault, memory_mb=round(memory_mb),
            seconds=round(time.time() - self.began, 3), cpu_seconds=round(time.process_time(), 3),
        )  # fmt: skip


def state_file(log: Path) -> Path:
    return log.with_name(f".{log.name}.json")


def save_state(log: Path, state: JobState) -> None:
    """Without sums, and not synced: a state is of this moment."""
    file = state_file(log)
    # One name, so that the job's next process takes what a killed one has left.
    temporary = file.with_name(f"{file.name}~")
    try:
        temporary.write_text(json.dumps(asdict(state)) + "\n", "utf-8")
        os.replace(temporary, file)
    finally:
        temporary.unlink(missing_ok=True)


def load_state(log: Path) -> JobState | None:
    """None if the job has not begun; ValueError for a file that no job has written."""
    import msgspec  # which no job needs for this

    file = state_file(log)
    try:
        return msgspec.convert(json_of(whole_file(file, MOST_BYTES), file), JobState)
    except FileNotFoundError:
        return None
    except msgspec.ValidationError as error:
        raise ValueError(f"{file}: expected the state of a job, found something else: {error}. "
                         "Remove it.") from None  # fmt: skip
