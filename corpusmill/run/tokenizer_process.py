"""A local tokenizer looked at before any job, by a process beside the reading of the workflow."""

import atexit
import os
import subprocess
import sys
from pathlib import Path

from corpusmill.storage.files import load_json


def local_tokenizer(source: str) -> Path | None:
    """The folder of a tokenizer.source, if it is one."""
    return Path(source) if source != "train" and Path(source).is_dir() else None


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
    setting = kept / "corpusmill.json"
    if not setting.exists() or load_json(setting)["source"] != folder.resolve().name:
        return False
    times = [path.stat().st_mtime for path in (folder, *folder.iterdir())]
    return max(times) < setting.stat().st_mtime


class TokenizerProcess:
    """It ends with this one, whether or not somebody asks for its answer."""

    def __init__(self, folder: Path, root: Path) -> None:
        """root: where the package lies."""
        path = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "corpusmill.tokens.tokenizer_check", folder],
            env=os.environ | {"PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        atexit.register(self._process.kill)

    @classmethod
    def started(cls, source: str, kept: Path, root: Path) -> "TokenizerProcess | None":
        """None if there is nothing to look at. kept: the tokenizer folder of the last run."""
        folder = local_tokenizer(source)
        return cls(folder, root) if folder and not is_kept(folder, kept) else None

    def finish(self) -> None:
        """Raise ValueError if the tokenizer has no ids for plain text."""
        _, said = self._process.communicate()
        if self._process.returncode:
            raise ValueError(said.strip().splitlines()[-1])
