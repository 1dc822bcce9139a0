"""The rules that run a step: their command and params, and what follows from all of them.

ROOT, here and below: where the package lies. HOME: the folder of scripts/.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from corpusmill.mill.demo.files import DEMO
from corpusmill.run.code_digest import code_digest
from corpusmill.run.config import Config
from corpusmill.run.layout import Layout
from corpusmill.run.quick_calls import quickly_called
from corpusmill.run.signatures import mismatches, parameters
from corpusmill.run.steps import STEPS
from corpusmill.run.typed import as_given


def run_script(step: str) -> str:
    """The shell command of a step, whose job is two lines of JSON: params.settings, params.paths.

    The places of Python and of this checkout are in the environment, so that the command is the
    same where they are others. PYTHONPATH is not: Snakemake takes it from jobs in conda.
    """
    path = 'PYTHONPATH="$CORPUSMILL_ROOT${{PYTHONPATH:+:$PYTHONPATH}}"'
    path += " CORPUSMILL_MEM_MB={resources.mem_mb}"
    script = f'"$CORPUSMILL_PYTHON" -P "$CORPUSMILL_SCRIPTS/{step}.py"'
    killed = 'sh -c "$CORPUSMILL_KILLED" {log:q} $? {resources.mem_mb}'
    job = f"<<'JOB' || {killed}\n{{params.settings}}\n{{params.paths}}\nJOB"
    return f"{path} {script} {{log:q}} {job}"


def settings(**values: Any) -> Callable:
    """The param `settings`: what a step is told beside its files, wildcards among it; the step is
    run again when it changes.

    values: as they are, or functions of the wildcards.
    """

    def as_json(wildcards: Any) -> str:
        told = {
            name: value(wildcards) if callable(value) else value for name, value in values.items()
        }
        return json.dumps(told | dict(wildcards.items()), sort_keys=True, default=as_given)

    as_json.names = values.keys()  # type: ignore[attr-defined]
    return quickly_called(as_json)


@quickly_called
def named_paths(wildcards: Any, input: Any, output: Any) -> str:
    """The param `paths`: the files of a job by their names in the rule. An input without a name
    is waited for, and no business of the step."""
    return json.dumps(dict(input.items()) | dict(output.items()))


class StepRules:
    """Our rules among those of a workflow, which may have ours as a module."""

    def __init__(
        self,
        workflow: Any,
        modifier: Any,
        home: Path,
        root: Path,
        config: Config,
        layout: Layout,
    ) -> None:
        """modifier: Snakemake's, of our rules."""
        self._demo = str(modifier.modify_path(DEMO))
        self._workflow, self._modifier = workflow, modifier
        self._config, self._layout = config, layout
        self._scripts, self._root = home / "scripts", root
        self._digests: dict[str, str] = {}
        self._idle = {name for name, step in STEPS.items() if not step.part_of_run(layout)}
        """Steps that are not part of this run, though the files of others have their names."""

    def code_digest(self, step: str, *others: Path) -> str:
        """Reruns a step when its script, code that it imports, or that of its plug-ins, changes;
        others: files that it reads beside its inputs."""
        files = [*STEPS[step].plugin_files(self._config), *others]
        self._digests[step] = code_digest(self._root, self._scripts / f"{step}.py", *files)
        return self._digests[step]

    def code_of_results(self, wildcards: Any) -> dict[str, str]:
        """The code digests of the steps by which what is kept comes about; when all rules are
        read."""
        return {
            step: digest
            for step, digest in sorted(self._digests.items())
            if step not in self._idle and not STEPS[step].only_looks
        }

    def __iter__(self) -> Iterator[tuple[Any, str]]:
        """The rules that run a step, in order, each with the step's name."""
        for rule in self._workflow.rules:
            step = re.search(r"SCRIPTS/(\w+)\.py", rule.shellcmd or "")
            if step and rule in self._modifier.rules:
                yield rule, step[1]

    def faults(self) -> list[str]:
        """Where a rule does not give just what its step takes; when all rules are read."""
        faults = []
        for rule, step in self:
            files = [*rule.input.keys(), *rule.output.keys()]
            given = [*files, *rule.params.settings.names]
            takes = parameters(self._scripts / f"{step}.py", self._root)
            faults += mismatches(rule.name, given, rule.wildcard_names, takes)
        return sorted(faults)

    def made_files(self, wildcards: Any = None) -> dict[str, int | None]:
        """Every file that a run of this configuration makes, but for the demo's, which are input,
        and those that come after the manifest."""
        made: dict[str, int | None] = {}
        for rule, step in self:
            if step in self._idle or STEPS[step].after_manifest:
                continue
            for file in [*rule.output, *rule.log, rule.benchmark]:
                # Snakemake has written the constraint of each wildcard behind its name.
                pattern = re.sub(r"\{(\w+),(?:[^{}]|\{[^{}]*\})*\}", r"{\1}", str(file or ""))
                if pattern and not pattern.startswith(self._demo):
                    made |= dict(self._layout.numbered(pattern))
        return made
