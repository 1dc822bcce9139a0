"""Check whether input files still have the bytes from which the results were made.

Size and time of a file are params of the steps that read it. If a file was replaced with equal size
and time, its SHA-256 is recorded and is a param from then on.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from corpusmill.mill.storage.files import load_json
from corpusmill.mill.storage.sha256 import file_sha256
from corpusmill.run.plan import InputFile

READERS = 4
"""Files to read in parallel."""


def read_inputs(counts: list[Path]) -> Iterator[dict]:
    """Yield source, path, bytes and sha256 of the files read, from the counts of their jobs."""
    for file in counts:
        yield from load_json(file)["files"]


def replaced(files: list[InputFile], counts: list[Path]) -> dict[str, str]:
    """Read all files; return path -> SHA-256 of the files whose bytes have changed.

    counts: of all jobs that read input files. Missing ones are ignored.
    """
    known = {
        file["path"]: file["sha256"]
        for file in read_inputs([one for one in counts if one.exists()])
    }
    asked = [file.path for file in files if file.path in known and file.mtime_ns is not None]
    with ThreadPoolExecutor(READERS) as pool:
        found = dict(zip(asked, pool.map(file_sha256, map(Path, asked)), strict=True))
    return {path: digest for path, digest in found.items() if digest != known[path]}


def told_replaced(now: dict[str, str], earlier: dict[str, str]) -> str | None:
    """Say which files have changed since an earlier run; None if none. Both: path -> SHA-256."""
    others = [path for path, digest in now.items() if earlier.get(path, digest) != digest]
    if not others:
        return None
    more = f" and {len(others) - 1} more" if len(others) > 1 else ""
    told = "changed since the last run ended; everything that depends on it was rebuilt"
    return f"{others[0]}{more}: {told}"
