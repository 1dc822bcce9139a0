"""Run Snakemake as a process and receive its events as JSON."""

import json
import os
import subprocess
import threading
from collections.abc import Callable, Sequence
from typing import IO, Any

from corpusmill.run.workflow_files import PACKAGE

PLUGIN = PACKAGE / "cli/snakemake_plugin"
PIPE = "CORPUSMILL_EVENTS"


def heard(
    command: Sequence[str],
    hear: Callable[[dict], object],
    said: IO[Any] | None,
    environment: dict[str, str] | None = None,
    own_session: bool = False,
) -> tuple[subprocess.Popen, threading.Thread]:
    """Return the process, and the thread that calls `hear` with each event.

    said: destination of Snakemake's own output; None: the terminal.
    """
    reading, writing = os.pipe()
    path = os.pathsep.join(filter(None, [str(PLUGIN), os.environ.get("PYTHONPATH")]))
    process = subprocess.Popen(
        [*command, "--logger", "corpusmill"],
        env=os.environ | {"PYTHONPATH": path, PIPE: str(writing)} | (environment or {}),
        stdin=subprocess.DEVNULL,
        stdout=said,
        stderr=said,
        pass_fds=[writing],
        start_new_session=own_session,
    )
    os.close(writing)

    def listen() -> None:
        with open(reading, encoding="utf-8") as lines:
            for line in lines:
                hear(json.loads(line))

    reader = threading.Thread(target=listen, daemon=True)
    reader.start()
    return process, reader
