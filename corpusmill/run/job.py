"""What a step's script is told by its rule, and what it tells: a log, a line if it fails.

A script is a process of its own, `python scripts/sign.py LOG < JOB`. Its job is two JSON objects,
a line each: params by name, wildcards among them, and `{"input": ..., "output": ...}`, files by
name, each a path or a list of paths.
"""

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

from corpusmill.run.step_log import step_log


def as_paths(files: dict[str, str | list[str]]) -> dict[str, Path | list[Path]]:
    return {
        name: Path(value) if isinstance(value, str) else [Path(path) for path in value]
        for name, value in files.items()
    }


@contextlib.contextmanager
def this_job() -> Iterator[SimpleNamespace]:
    """The job of this process: input, output and params by name; its log is kept."""
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} LOG < JOB (a step; its rule runs it with a job as JSON)")
    with step_log(sys.argv[1]):
        lines = sys.stdin.readlines()
        if len(lines) != 2:
            raise ValueError(
                "standard input: expected two lines of JSON, what the step is told and its paths, "
                f"found {len(lines)} lines. A rule's command gives them; see rules/common.smk."
            )
        params, files = map(json.loads, lines)
        yield SimpleNamespace(
            params=SimpleNamespace(**params),
            **{side: SimpleNamespace(**as_paths(files[side])) for side in ("input", "output")},
        )
