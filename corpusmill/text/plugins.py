"""Python files of the user's: loaded by path, their faults told by file and line."""

import importlib.util
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType


def loaded(file: str) -> ModuleType:
    """The module of a user's file; ValueError with its line if it cannot be imported."""
    path = Path(file)
    if not path.is_file():
        raise ValueError(f"there is no file {file} (from {Path.cwd()}). Correct its path.")
    spec = importlib.util.spec_from_file_location(f"corpusmill_plugin_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{file}: expected a Python file, .py. Correct its path.")
    module = importlib.util.module_from_spec(spec)
    try:
        # Dataclasses look their module up by its name.
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    except Exception as error:
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
