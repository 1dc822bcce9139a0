"""The tokenizer that `tokenizer.source` names, and the one that the last run kept."""

import os
from pathlib import Path

from corpusmill.mill.storage.files import check_folder, load_json

SETTING_FILE = "corpusmill.json"
"""File that the rule `tokenizer` writes last, beside the tokenizer."""


def local_tokenizer(source: str) -> Path | None:
    """Return the folder of a tokenizer.source; None if it is not a folder."""
    # Path.is_dir raises for invalid names.
    return Path(source) if source != "train" and os.path.isdir(source) else None


def tokenizer_files(source: str) -> list[str]:
    """Return the files of a local tokenizer."""
    folder = local_tokenizer(source)
    files = folder.iterdir() if folder else []
    return sorted(str(path) for path in files if path.is_file())


def states_of_files(source: str) -> list[list[str | int]]:
    """Return path, size and time of each file of a local tokenizer; any other time is a change."""
    states = [(path, os.stat(path)) for path in tokenizer_files(source)]
    return [[path, state.st_size, state.st_mtime_ns] for path, state in states]


def is_kept(folder: Path, kept: Path) -> bool:
    """Say whether the last run's tokenizer comes from a folder of this name, unchanged since.

    It was checked then; its rule checks it again if it has to rerun.
    """
    if kept_source(kept) != folder.resolve().name:
        return False
    times = [path.stat().st_mtime for path in (folder, *folder.iterdir())]
    return max(times) < (kept / SETTING_FILE).stat().st_mtime


def kept_source(kept: Path) -> str | None:
    """Return the name of the last run's tokenizer; None if there is none."""
    if not kept.is_dir():
        return None
    check_folder(kept)
    return str(load_json(kept / SETTING_FILE)["source"])
