"""Files behind barriers that are gone: Snakemake asks for the barrier alone, and it is there.

Whoever is told that such a file is damaged removes it; a run that reads it makes it anew.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any


def _paths_in(counts: dict[str, Any], results: Path) -> Iterator[Path]:
    for value in counts.values():
        if isinstance(value, str) and value.startswith(f"{results}/"):
            yield Path(value)


def lost_files(entries: Iterable[dict[str, Any]], results: Path) -> Iterator[Path]:
    """entries: of barriers, or of the files that are gathered there."""
    names: dict[Path, set[str]] = {}
    for entry in entries:
        for path in _paths_in(entry, results):
            folder = path.parent
            if folder not in names:
                names[folder] = set(os.listdir(folder)) if folder.is_dir() else set()
            if path.name not in names[folder]:
                yield path
