"""Whether input files still have the bytes that the results here were made of.

Size and time of a file are params of the steps that read it. Of one that was replaced behind both
a note is kept, its SHA-256, which is a param from then on.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from corpusmill.mill.storage.files import load_json
from corpusmill.mill.storage.sha256 import file_sha256
from corpusmill.run.plan import InputFile

READERS = 4
"""Files that are read at once."""


def read_inputs(counts: list[Path]) -> Iterator[dict]:
    """Source, path, bytes and sha256 of the files that were read, as those who read them tell."""
    for file in counts:
        yield from load_json(file)["files"]


def replaced(files: list[InputFile], counts: list[Path]) -> dict[str, str]:
    """Path -> SHA-256 of the files that no longer have the bytes that were read. Reads them.

    counts: of all jobs that read input files; those that are not there yet have read none.
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
    """Which files have other bytes than in an earlier run, in words. Both: path -> SHA-256."""
    others = [path for path, digest in now.items() if earlier.get(path, digest) != digest]
    if not others:
        return None
    more = f" and {len(others) - 1} more" if len(others) > 1 else ""
    told = "other bytes than when the last run ended; what depends on them was made anew"
    return f"{others[0]}{more}: {told}"
