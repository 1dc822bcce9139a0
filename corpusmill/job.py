"""What a step's script is told by its rule, and what it tells: a log, a line if it fails.

A script is a process of its own, `python scripts/sign.py LOG < JOB`. Its job is one JSON object:
`input` and `output` (by name, a path or a list of paths), `wildcards`, `params`, and `code`, which
is there so that the job is another one when the code is.
"""

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

from corpusmill.step_log import step_log


def as_paths(value: str | list[str]) -> Path | list[Path]:
    return Path(value) if isinstance(value, str) else [Path(path) for path in value]


@contextlib.contextmanager
def this_job() -> Iterator[SimpleNamespace]:
    """The job of this process: input and output as paths, params, wildcards; its log is kept."""
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} LOG < JOB (a step; its rule runs it with a job as JSON)")
    with step_log(sys.argv[1]):
        told = json.load(sys.stdin)
        files = {
            side: SimpleNamespace(**{name: as_paths(value) for name, value in told[side].items()})
            for side in ("input", "output")
        }
        others = {side: SimpleNamespace(**told[side]) for side in ("wildcards", "params")}
        yield SimpleNamespace(**files, **others)
