"""A digest of the code of a step, so that editing a script or a module reruns what uses it."""

import ast
import functools
import hashlib
from pathlib import Path

from corpusmill.storage.sha256 import file_sha256

PACKAGE = "corpusmill"


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
    return tree


@functools.cache
def _parsed(path: Path) -> tuple[str, frozenset[str]]:
    """The code of a file without comments, docstrings, layout; the package modules it imports."""
    if path.suffix != ".py":
        return file_sha256(path), frozenset()  # not read at once: a model has gigabytes
    tree = _without_docstrings(ast.parse(path.read_bytes()))
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return ast.dump(tree), frozenset(name for name in names if name.split(".")[0] == PACKAGE)


def file_of(root: Path, module: str) -> Path | None:
    """The file of a module of the package; None if it is none of it."""
    path = root.joinpath(*module.split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


def code_digest(root: Path, script: Path, *plugins: Path) -> str:
    """16 hex digits of a script, and of modules that it loads by name, with all package code that
    they import, directly or through others.

    Comments, docstrings and formatting do not count.
    """
    seen, open_modules = {}, []
    for number, file in enumerate((script, *plugins)):
        seen["" if number == 0 else f"plug-in {number}"], imported = _parsed(file)
        open_modules.extend(sorted(imported))
    while open_modules:
        module = open_modules.pop()
        found = file_of(root, module)
        if module in seen or found is None:
            continue
        seen[module], imported = _parsed(found)
        open_modules.extend(sorted(imported))
    digest = hashlib.sha256()
    for module in sorted(seen):
        digest.update(f"{module}\0{seen[module]}\0".encode())
    return digest.hexdigest()[:16]
