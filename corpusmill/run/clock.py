"""Find modification times in the future, from a clock that was set back or from a copy.

Snakemake would run the jobs, find their outputs older than their inputs, and fail.
"""

import time
from collections.abc import Iterable
from pathlib import Path

from corpusmill.run.plan import InputFile

TOLERATED_NS = 60 * 10**9
"""Tolerated clock difference of a file server. It cannot affect jobs that take longer."""


def of_results(results: Path) -> list[tuple[str, int]]:
    """Return each folder of the results and its modification time."""
    folders = [path for path in results.glob("*") if path.is_dir()]
    return [(str(path), path.stat().st_mtime_ns) for path in folders]


def clock_faults(files: Iterable[InputFile], results: Path, now_ns: int) -> list[str]:
    """Return one fault for input files, one for earlier results, if a time is in the future."""
    inputs = [(file.path, file.mtime_ns) for file in files if file.mtime_ns is not None]
    now = moment(now_ns)
    ways = (
        (inputs, "touch -d '{now}' {path}"),
        (of_results(results), "find {results} -exec touch -d '{now}' {{}} +"),
    )
    faults = []
    for times, way in ways:
        late = [(path, at) for path, at in times if at > now_ns + TOLERATED_NS]
        if late:
            path, at = late[0]
            faults.append(
                f"{path}{and_more(late)}: expected a time no later than now ({now}), found "
                f"{moment(at)}. Correct the clock, or the "
                "modification time: " + way.format(now=now, path=path, results=results)
            )
    return faults


def and_more(late: list) -> str:
    return f" and {len(late) - 1} more" if len(late) > 1 else ""


def moment(time_ns: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time_ns // 10**9))
