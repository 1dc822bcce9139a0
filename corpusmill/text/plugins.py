"""Python files of the user's: loaded by path, their faults told by file and line."""

import functools
import hashlib
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType

PLUGIN_ERRORS = (Exception, SystemExit)
"""What code of a user's may raise: a script without a main guard ends the process, otherwise."""


def loaded(file: str) -> ModuleType:
    """The module of a user's file; ValueError with its line if it cannot be imported."""
    path = Path(file).absolute()
    if not os.path.isfile(path):  # Path.is_file raises for a name that no system takes
        raise ValueError(f"there is no file {file} (from {Path.cwd()}). Correct its path.")
    state = path.stat()
    return _loaded(file, str(path), state.st_mtime_ns, state.st_size)


@functools.cache
def _loaded(file: str, path: str, mtime_ns: int, size: int) -> ModuleType:
    """Once for every state of a file. Compiled here: no __pycache__ that could be stale."""
    name = f"corpusmill_plugin_{hashlib.sha256(path.encode()).hexdigest()[:16]}"
    module = ModuleType(name)
    module.__file__ = path
    try:
        # What it defines looks its module up by its name.
        sys.modules[name] = module
        exec(compile(Path(path).read_bytes(), path, "exec"), vars(module))
    except PLUGIN_ERRORS as error:
        raise ValueError(f"{place_of(error, file)}: {one_line(error)}") from error
    return module


def place_of(error: BaseException, file: str) -> str:
    """`file:line` where an error of a user's file comes from."""
    mine = os.path.abspath(file)
    if isinstance(error, SyntaxError) and os.path.abspath(error.filename or "") == mine:
        return f"{file}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if os.path.abspath(frame.filename) == mine]
    return f"{file}:{lines[-1]}" if lines else file


def one_line(error: BaseException) -> str:
    said = str(error).strip().splitlines()
    return f"{type(error).__name__}: {said[0]}" if said else type(error).__name__
