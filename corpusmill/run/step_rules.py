"""The rules that run a step: their command, their params, and the files that they all make.

root, here and below: the folder of the package. home: the folder of scripts/.
"""

import json
import re
from collections import Counter
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
    """Return the shell command of a step, whose job is params.settings and params.paths as JSON.

    The paths of Python and of this checkout are in the environment, so that the command does not
    depend on them. PYTHONPATH is set here, as Snakemake removes it from jobs in conda.
    """
    path = 'PYTHONPATH="$CORPUSMILL_ROOT${{PYTHONPATH:+:$PYTHONPATH}}"'
    path += " CORPUSMILL_MEM_MB={resources.mem_mb}"
    start = '"$CORPUSMILL_PYTHON" -IS "$CORPUSMILL_ROOT/corpusmill/run/start.py"'
    script = f'{start} "$CORPUSMILL_SCRIPTS/{step}.py"'
    killed = 'sh -c "$CORPUSMILL_KILLED" {log:q} $? {resources.mem_mb}'
    job = f"<<'JOB' || {killed}\n{{params.settings}}\n{{params.paths}}\nJOB"
    return f"{path} {script} {{log:q}} {job}"


def settings(**values: Any) -> Callable:
    """Return the param `settings`: the step's arguments other than files, and the wildcards.

    A change reruns the step. values: constants, or functions of the wildcards.
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
    """Return the param `paths`: the files of a job by their names in the rule.

    Snakemake waits for inputs without a name, but the step does not get them.
    """
    return json.dumps(dict(input.items()) | dict(output.items()))


class StepRules:
    """Our rules in a workflow, which may use ours as a module."""

    def __init__(
        self,
        workflow: Any,
        modifier: Any,
        home: Path,
        root: Path,
        config: Config,
        layout: Layout,
    ) -> None:
        """modifier: Snakemake's modifier of our rules."""
        self._demo = str(modifier.modify_path(DEMO))
        self._workflow, self._modifier = workflow, modifier
        self._config, self._layout = config, layout
        self._scripts, self._root = home / "scripts", root
        self._digests: dict[str, str] = {}
        self._idle = {name for name, step in STEPS.items() if not step.part_of_run(layout)}
        """Steps that are not part of this run."""

    def code_digest(self, step: str, *others: Path) -> str:
        """Return the param `code`, which reruns a step when its script, imports or plug-ins change.

        others: files that the step reads beside its inputs.
        """
        files = [*STEPS[step].plugin_files(self._config), *others]
        self._digests[step] = code_digest(self._root, self._scripts / f"{step}.py", *files)
        return self._digests[step]

    def code_of_results(self, wildcards: Any) -> dict[str, str]:
        """Return the code digests of the steps that shape the corpus, once all rules are read."""
        return {
            step: digest
            for step, digest in sorted(self._digests.items())
            if step not in self._idle and not STEPS[step].only_looks
        }

    def __iter__(self) -> Iterator[tuple[Any, str]]:
        """Yield the rules that run a step, in order, each with the step's name."""
        for rule in self._workflow.rules:
            step = re.search(r"SCRIPTS/(\w+)\.py", rule.shellcmd or "")
            if step and rule in self._modifier.rules:
                yield rule, step[1]

    def jobs_to_do(self) -> dict[Path, int]:
        """Return the number of jobs to do by script, in order."""
        jobs = Counter(job.rule for job in self._workflow.dag.needrun_jobs())
        return {self._scripts / f"{step}.py": jobs[rule] for rule, step in self if rule in jobs}

    def faults(self) -> list[str]:
        """Return one fault per mismatch of a rule and its step, once all rules are read."""
        faults = []
        for rule, step in self:
            files = [*rule.input.keys(), *rule.output.keys()]
            given = [*files, *rule.params.settings.names]
            takes = parameters(self._scripts / f"{step}.py", self._root)
            faults += mismatches(rule.name, given, rule.wildcard_names, takes)
        return sorted(faults)

    def made_files(self, wildcards: Any = None) -> dict[str, int | None]:
        """Return the files of a run of this configuration, by pattern.

        The demo's files, which are input, and those made after the manifest are left out.
        """
        made: dict[str, int | None] = {}
        for rule, step in self:
            if step in self._idle or STEPS[step].after_manifest:
                continue
            for file in [*rule.output, *rule.log]:
                # Snakemake adds the constraint of each wildcard to its name.
                pattern = re.sub(r"\{(\w+),(?:[^{}]|\{[^{}]*\})*\}", r"{\1}", str(file or ""))
                if pattern and not pattern.startswith(self._demo):
                    made |= dict(self._layout.numbered(pattern))
        return made
