"""Files behind barriers that are gone: Snakemake asks for the barrier alone, and it is there.

Whoever is told that such a file is damaged removes it; this makes the next run make it anew.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from corpusmill.storage.files import load_json
from corpusmill.storage.sums import sums_path


class Lost(NamedTuple):
    """A file that is gone."""

    path: Path
    counts: Path
    """What the job that has to run again wrote beside it, or what stands for it."""
    listing: Path


def _paths_in(counts: dict[str, Any], results: Path) -> Iterator[Path]:
    for value in counts.values():
        if isinstance(value, str) and value.startswith(f"{results}/"):
            yield Path(value)


def lost_files(stages: dict[Path, list[Path]], results: Path) -> Iterator[Lost]:
    """stages: of every barrier its listing, and in order the files whose content is in it."""
    names: dict[Path, set[str]] = {}
    for listing, counts in stages.items():
        # Of one without sums, or another version's, its readers say so.
        if not (listing.exists() and sums_path(listing).exists()):
            continue
        for file, entry in zip(counts, load_json(listing)["parts"], strict=False):
            for path in _paths_in(entry, results):
                folder = path.parent
                if folder not in names:
                    names[folder] = set(os.listdir(folder)) if folder.is_dir() else set()
                if path.name not in names[folder]:
                    yield Lost(path, file, listing)


def forget(lost: list[Lost]) -> None:
    """Remove what says that the files are there, so that their jobs run again."""
    for path in {path for one in lost for path in (one.counts, one.listing)}:
        path.unlink(missing_ok=True)
        sums_path(path).unlink(missing_ok=True)
