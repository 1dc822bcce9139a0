"""Digest a step's code, so that editing a script or a module reruns the steps that use it."""

import ast
import contextlib
import functools
import hashlib
import platform
import re
from pathlib import Path

from corpusmill.kernels.cache import home
from corpusmill.mill.storage.files import replacing
from corpusmill.mill.storage.sha256 import file_sha256

PACKAGE = "corpusmill"


SHA256 = re.compile("[0-9a-f]{64}")


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
    return tree


def _parsed(source: bytes) -> tuple[str, frozenset[str]]:
    """Return a digest of code without comments, docstrings and layout, and its package imports."""
    tree = _without_docstrings(ast.parse(source))
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    ours = frozenset(name for name in names if name.split(".")[0] == PACKAGE)
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), ours


@functools.cache
def kept_in() -> Path:
    """Return the cache folder for this version of Python and of this module."""
    code = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]
    return home() / f"code-{platform.python_version()}-{code}"


@functools.cache
def _parsed_once(path: Path) -> tuple[str, frozenset[str]]:
    """Return `_parsed` of a file, cached by its content.

    Parsing the package takes a second at each start of a run and of each cluster job.
    """
    if path.suffix != ".py":
        return file_sha256(path), frozenset()  # streamed: a model may have gigabytes
    source = path.read_bytes()
    kept = kept_in() / hashlib.sha256(source).hexdigest()
    with contextlib.suppress(OSError):
        digest, *imported = kept.read_text(errors="replace").split("\n")
        if SHA256.fullmatch(digest):
            return digest, frozenset(imported)
    digest, ours = _parsed(source)
    # Without a writable cache, parsing is just repeated.
    with contextlib.suppress(OSError), replacing(kept, shared=True) as temporary:
        temporary.write_text("\n".join([digest, *sorted(ours)]))
    return digest, ours


@functools.cache
def file_of(root: Path, module: str) -> Path | None:
    """Return the file of a module of the package; None for other modules."""
    path = root.joinpath(*module.split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


def code_digest(root: Path, script: Path, *plugins: Path) -> str:
    """Return 16 hex digits for a script, its plug-ins and all package code they import.

    Comments, docstrings and formatting do not count.
    """
    seen, open_modules = {}, []
    for number, file in enumerate((script, *plugins)):
        seen["" if number == 0 else f"plug-in {number}"], imported = _parsed_once(file)
        open_modules.extend(sorted(imported))
    while open_modules:
        module = open_modules.pop()
        found = file_of(root, module)
        if module in seen or found is None:
            continue
        seen[module], imported = _parsed_once(found)
        open_modules.extend(sorted(imported))
    digest = hashlib.sha256()
    for module in sorted(seen):
        digest.update(f"{module}\0{seen[module]}\0".encode())
    return digest.hexdigest()[:16]
