"""A digest of the code of a step, so that editing a script or a module reruns what uses it."""

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
    """A digest of code without comments, docstrings, layout; the package modules it imports."""
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
    """The folder for what this Python and this code made of files."""
    code = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]
    return home() / f"code-{platform.python_version()}-{code}"


@functools.cache
def _parsed_once(path: Path) -> tuple[str, frozenset[str]]:
    """What `_parsed` says of a file. It is kept by what the file holds, since parsing the package
    takes a second, and each start of a run and each job of a cluster would wait for it."""
    if path.suffix != ".py":
        return file_sha256(path), frozenset()  # not read at once: a model has gigabytes
    source = path.read_bytes()
    kept = kept_in() / hashlib.sha256(source).hexdigest()
    with contextlib.suppress(OSError):
        digest, *imported = kept.read_text(errors="replace").split("\n")
        if SHA256.fullmatch(digest):
            return digest, frozenset(imported)
    digest, ours = _parsed(source)
    # Where nothing can be kept, it takes its second.
    with contextlib.suppress(OSError), replacing(kept, shared=True) as temporary:
        temporary.write_text("\n".join([digest, *sorted(ours)]))
    return digest, ours


@functools.cache
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
