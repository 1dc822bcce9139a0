"""Check, before any job, that each rule gives exactly what its script's step takes."""

import ast
import functools
from pathlib import Path

from corpusmill.messages.near_names import near_names
from corpusmill.run.code_digest import file_of


@functools.cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def _fields(name: str, path: Path, root: Path) -> list[str]:
    """Return the annotated fields of a class in a module; none if it has no such class."""
    for node in _tree(path).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            found = [part.target for part in node.body if isinstance(part, ast.AnnAssign)]
            return [target.id for target in found if isinstance(target, ast.Name)]
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == name and (file := file_of(root, node.module)):
                    return _fields(alias.name, file, root)
    return []


def parameters(script: Path, root: Path) -> dict[str, list[str]]:
    """Return the parameters of a script's step, each with the fields of its type.

    The step is the function with the script's name. root: the folder of the package. Nothing is
    imported, which would take longer than a dry run.
    """
    (step,) = [
        node
        for node in _tree(script).body
        if isinstance(node, ast.FunctionDef) and node.name == script.stem
    ]
    return {
        argument.arg: _fields(argument.annotation.id, script, root)
        if isinstance(argument.annotation, ast.Name)
        else []
        for argument in step.args.args
    }


def mismatches(
    rule: str, given: list[str], wildcards: set[str], takes: dict[str, list[str]]
) -> list[str]:
    """Return one fault per mismatch between a rule and its step.

    given: names of inputs, outputs and settings. A step may ignore wildcards. takes: the parameters
    of the step.
    """
    faults = [
        f"rule {rule} uses the name {name} twice"
        for name in sorted({name for name in given if given.count(name) > 1 or name in wildcards})
    ]
    wanted: set[str] = set()
    for name, fields in takes.items():
        by_fields = name not in given and not set(fields).isdisjoint(given)
        wanted |= set(fields) if by_fields else {name}
    for name in sorted(set(given) - wanted):
        near = near_names(name, wanted - set(given))
        hint = f"; did you mean {near[0]}?" if near else ""
        faults.append(f"rule {rule} passes {name}, which its step does not accept{hint}")
    for name in sorted(wanted - set(given) - wildcards):
        faults.append(f"rule {rule} does not pass {name}, which its step needs")
    return faults
