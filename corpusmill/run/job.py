"""Run a step's job: bind what its rule gives to the parameters of the step.

A script runs in its own process, `python scripts/sign.py LOG < JOB`; its main is `run(sign)`. The
job is two lines of JSON. The first has settings and wildcards, the second inputs and outputs, each
a path or a list of paths. Each parameter gets the value of its name, converted to its type hint. If
there is no such value and the type has fields, they are filled by name: files that belong together,
for example.
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
    """Return a value of a job, converted to a type hint."""
    if value is None:
        return None
    inner = typing.get_args(hint)
    if isinstance(hint, types.UnionType):  # X | None
        return converted(inner[0], value)
    if typing.get_origin(hint) is list:
        if not isinstance(value, list):
            raise ValueError(f"expected a list, the rule gives {value!r}")
        return [converted(inner[0], one) for one in value]
    if hint in (Path, int, float):
        return hint(value)
    if isinstance(value, dict) and (fields := fields_of(hint)):
        return hint(**{name: converted(fields[name], one) for name, one in value.items()})
    return value


def fields_of(hint: Any) -> dict[str, Any]:
    """Return the fields of a class by name; empty if it has none."""
    return typing.get_type_hints(hint) if isinstance(hint, type) else {}


def argument(name: str, hint: Any, given: dict[str, Any]) -> Any:
    """Return the value of a parameter."""
    if name in given:
        return converted(hint, given[name])
    if not (fields := fields_of(hint)):
        raise ValueError(f"the job has no value for {name}; its rule must provide one")
    return hint(**{field: argument(field, its, given) for field, its in fields.items()})


def bound(step: Callable[..., None], given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a step by name."""
    hints = typing.get_type_hints(step)
    del hints["return"]
    return {name: argument(name, hint, given) for name, hint in hints.items()}


def given_job(stream: TextIO) -> tuple[str, dict[str, Any]]:
    """Return the settings of a job as raw JSON, and its paths by name."""
    lines = stream.readlines()
    if len(lines) != 2:
        raise ValueError(
            "standard input: expected two lines of JSON, the settings of a step and its paths, "
            f"found {len(lines)} lines. A rule's command gives them; see rules/common.smk."
        )
    return lines[0], json.loads(lines[1])


def run(step: Callable[..., None]) -> None:
    """Run the job of this process, with a log; report a failure in one line."""
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} LOG < JOB (a step; its rule runs it with a job as JSON)")
    with step_log(sys.argv[1]), alone(Path(sys.argv[1])):
        settings, paths = given_job(sys.stdin)
        with followed_by_job(settings, paths):
            step(**bound(step, json.loads(settings) | paths))
        # Fail now, so that Snakemake removes these outputs, not those of the run that follows.
        refuse_if_followed()
