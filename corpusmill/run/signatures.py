"""Rules held against the steps that they run, before any job: each gives what its script takes."""

import ast
import functools
from pathlib import Path

from corpusmill.messages.near_names import near_names
from corpusmill.run.code_digest import file_of


@functools.cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def _fields(name: str, path: Path, root: Path) -> list[str]:
    """The fields of the class that a module has under a name; none if it is no such class."""
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
    """Parameters of a script's step, the function of its name, and the fields of their types.

    root: where the package lies. Nothing is imported: that would take longer than a dry run.
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
    """Where a rule and its step do not fit, in words.

    given: names of inputs, outputs and settings; a wildcard is there to be taken, or not. takes:
    the parameters of the step.
    """
    faults = [
        f"rule {rule} gives two things of the name {name}"
        for name in sorted({name for name in given if given.count(name) > 1 or name in wildcards})
    ]
    wanted: set[str] = set()
    for name, fields in takes.items():
        by_fields = name not in given and not set(fields).isdisjoint(given)
        wanted |= set(fields) if by_fields else {name}
    for name in sorted(set(given) - wanted):
        near = near_names(name, wanted - set(given))
        hint = f"; is {near[0]} meant?" if near else ""
        faults.append(f"rule {rule} gives {name}, which its step does not take{hint}")
    for name in sorted(wanted - set(given) - wildcards):
        faults.append(f"rule {rule} does not give {name}, which its step takes")
    return faults
