"""A Snakemake logger plugin that writes events as JSON lines into the pipe of `corpusmill run`.

Snakemake finds logger plugins as top-level packages of this name, so `corpusmill run` puts the
folder above this one on its path. Imports nothing of corpusmill.
"""

import contextlib
import json
import os
from logging import LogRecord

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

PIPE = "CORPUSMILL_EVENTS"
"""Environment variable with the file descriptor of the pipe."""


STOPPING = "Terminating processes on user request"
NO_STEP = ("total", "all")
"""Entries of Snakemake's job counts that do not run a step."""


def megabytes(asked: object) -> int:
    """Return the memory request of a job; 0 if it is unknown before its input exists."""
    return asked if isinstance(asked, int) else 0


def event_of(record: LogRecord) -> dict | None:
    """Return the event for the screen; None if the record has none."""
    known = vars(record)
    match known.get("event"):
        case LogEvent.RUN_INFO:
            counts = {rule: n for rule, n in known["stats"].items() if rule not in NO_STEP}
            return {"event": "jobs", "counts": counts}
        case LogEvent.JOB_INFO if known["rule_name"] not in NO_STEP:
            return {
                "event": "job",
                "id": known["jobid"],
                "rule": known["rule_name"],
                "log": list(known["log"]),
                "mem_mb": megabytes(known["resources"].get("mem_mb")),
            }
        case LogEvent.JOB_FINISHED:
            return {"event": "finished", "id": known["job_id"]}
        case LogEvent.JOB_ERROR:
            return {
                "event": "failed",
                "id": known["jobid"],
                "rule": known["rule_name"],
                "log": list(known["log"]),
            }
        case LogEvent.GROUP_ERROR:
            return {"event": "failed", "id": None, "rule": "a group of jobs", "log": []}
        case LogEvent.ERROR:
            return {"event": "error", "text": record.getMessage(), "kind": known.get("exception")}
    if record.getMessage().startswith(STOPPING):
        return {"event": "stopping"}
    return None


class LogHandler(LogHandlerBase):
    def emit(self, record: LogRecord) -> None:
        if event := event_of(record):
            # The screen may be closed, or this job runs on another machine: the run continues.
            with contextlib.suppress(OSError):
                os.write(int(os.environ[PIPE]), json.dumps(event).encode() + b"\n")

    @property
    def writes_to_stream(self) -> bool:
        return False

    @property
    def writes_to_file(self) -> bool:
        return False

    @property
    def has_filter(self) -> bool:
        return True

    @property
    def has_formatter(self) -> bool:
        return True

    @property
    def needs_rulegraph(self) -> bool:
        return False
