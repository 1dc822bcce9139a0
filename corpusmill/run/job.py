"""A step's job: what its rule gives it, bound to the names of its signature.

A script is a process of its own, `python scripts/sign.py LOG < JOB`, and its main is one line,
`run(sign)`. Its job is two JSON objects, a line each: settings, wildcards among them; inputs and
outputs, each a path or a list of paths. Every parameter of the step gets the value of its name, as
its type hint wants it. One whose type has fields of its own, and whose name nobody gives, is made
of the values of their names: files that belong together, for one.
"""

import json
import sys
import types
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from corpusmill.run.one_at_a_time import alone, refuse_if_followed
from corpusmill.run.recipes import followed_by_job
from corpusmill.run.step_log import step_log


def converted(hint: Any, value: Any) -> Any:
    """A value of a job as a type hint wants it."""
    if value is None:
        return None
    inner = typing.get_args(hint)
    if isinstance(hint, types.UnionType):  # X | None
        return converted(inner[0], value)
    if typing.get_origin(hint) is list:
        if not isinstance(value, list):
            raise ValueError(f"expected a list, its rule gives {value!r}")
        return [converted(inner[0], one) for one in value]
    if hint in (Path, int, float):
        return hint(value)
    if isinstance(value, dict) and (fields := fields_of(hint)):
        return hint(**{name: converted(fields[name], one) for name, one in value.items()})
    return value


def fields_of(hint: Any) -> dict[str, Any]:
    """The fields of a class of fields by name; nothing if it is none."""
    return typing.get_type_hints(hint) if isinstance(hint, type) else {}


def argument(name: str, hint: Any, given: dict[str, Any]) -> Any:
    """What a parameter gets."""
    if name in given:
        return converted(hint, given[name])
    if not (fields := fields_of(hint)):
        raise ValueError(f"the job has no {name}; its rule has to give it")
    return hint(**{field: argument(field, its, given) for field, its in fields.items()})


def bound(step: Callable[..., None], given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a step."""
    hints = typing.get_type_hints(step)
    del hints["return"]
    return {name: argument(name, hint, given) for name, hint in hints.items()}


def given_job(stream: TextIO) -> tuple[str, dict[str, Any]]:
    """The settings that a rule gives, as they came, and its paths by name."""
    lines = stream.readlines()
    if len(lines) != 2:
        raise ValueError(
            "standard input: expected two lines of JSON, the settings of a step and its paths, "
            f"found {len(lines)} lines. A rule's command gives them; see rules/common.smk."
        )
    return lines[0], json.loads(lines[1])


def run(step: Callable[..., None]) -> None:
    """Do the job of this process; its log is kept, and a failure is one line."""
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} LOG < JOB (a step; its rule runs it with a job as JSON)")
    with step_log(sys.argv[1]), alone(Path(sys.argv[1])):
        settings, paths = given_job(sys.stdin)
        with followed_by_job(settings, paths):
            step(**bound(step, json.loads(settings) | paths))
        # A failed job makes its Snakemake remove the outputs now, not when the next has made them.
        refuse_if_followed()
