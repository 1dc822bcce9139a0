"""The tokenizer that `tokenizer.source` names, and the one that the last run kept."""

import os
from pathlib import Path

from corpusmill.mill.storage.files import check_folder, load_json

SETTING_FILE = "corpusmill.json"
"""What the rule `tokenizer` writes last, beside the tokenizer itself."""


def local_tokenizer(source: str) -> Path | None:
    """The folder of a tokenizer.source, if it is one."""
    # Path.is_dir raises for a name that no system takes.
    return Path(source) if source != "train" and os.path.isdir(source) else None


def tokenizer_files(source: str) -> list[str]:
    """The files of a local tokenizer."""
    folder = local_tokenizer(source)
    files = folder.iterdir() if folder else []
    return sorted(str(path) for path in files if path.is_file())


def states_of_files(source: str) -> list[list[str | int]]:
    """Path, size and time of each file of a local tokenizer: an older one is another one too."""
    states = [(path, os.stat(path)) for path in tokenizer_files(source)]
    return [[path, state.st_size, state.st_mtime_ns] for path, state in states]


def is_kept(folder: Path, kept: Path) -> bool:
    """Whether the tokenizer that the last run kept is of a folder of this name that is older: it
    was looked at then, and once more by its rule if it has to run again."""
    if kept_source(kept) != folder.resolve().name:
        return False
    times = [path.stat().st_mtime for path in (folder, *folder.iterdir())]
    return max(times) < (kept / SETTING_FILE).stat().st_mtime


def kept_source(kept: Path) -> str | None:
    """Which tokenizer the last run kept, if there was one."""
    if not kept.is_dir():
        return None
    check_folder(kept)
    return str(load_json(kept / SETTING_FILE)["source"])
