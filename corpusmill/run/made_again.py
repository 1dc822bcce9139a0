"""Rerun jobs for which Snakemake sees no reason: their files have another recipe, or are missing
although a job reads them.

Of a stage, later jobs declare only the counts as inputs, so Snakemake does not miss the files that
the counts name. When one of these is damaged, users remove it; a run that reads it then makes it
again.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from corpusmill.mill.storage.files import load_json, load_listing
from corpusmill.mill.storage.recipes import Recipe, recipe_of, settings_digest
from corpusmill.mill.storage.sums import name_of
from corpusmill.run.layout import Layout
from corpusmill.run.recipes import made_otherwise


def recipes_of(dag: Any, step_of: dict[Any, str]) -> dict[Any, Recipe]:
    """Return the recipe of every job of a run, whether it runs or not. step_of: by rule."""
    made: dict[Any, Recipe] = {}
    for level in dag.toposorted():
        for job in level:
            step = step_of.get(job.rule)
            if step is None:
                continue
            told = {name: value for name, value in job.params.items() if name != "paths"}
            inputs = [
                (name_of(file), made[maker].digest)
                for maker, files in dag.dependencies[job].items()
                if maker in made
                for file in files
            ]
            digest = recipe_of(step, [json.dumps(told, sort_keys=True)], inputs)
            made[job] = Recipe(settings_digest(told["settings"]), digest)
    return made


def by_file(made: dict[Any, Recipe]) -> dict[str, Recipe]:
    """Return the recipe of every file that a run makes or reads. made: by job."""
    return {name_of(file): recipe for job, recipe in made.items() for file in job.output}


class MadeAgain:
    def __init__(
        self,
        workflow: Any,
        made: dict[Any, Recipe],
        layout: Layout,
        placed: Callable[[str], Path],
    ) -> None:
        """placed: gives the real path of a rule's file."""
        self._workflow, self._dag = workflow, workflow.dag
        self._made, self._layout, self._placed = made, layout, placed
        self._maker = {str(file): job for job in made for file in job.output}

    def ask_for(self, note: Callable[[str], None]) -> None:
        """Make Snakemake run these jobs."""
        dag, results = self._dag, self._placed("results")
        others = self._of_other_recipes()
        if others:
            more = f" and {len(others) - 1} more" if len(others) > 1 else ""
            note(f"{others[0]}{more}: rebuilt because settings, code or inputs have changed")
        again = others
        while True:
            dag.forcefiles.update(*(self._maker[file].output for file in again))
            if again:
                self._workflow.async_run(dag.postprocess())
            again = [
                file
                for file in map(str, lost_files(self._named_by_counts(), results))
                if file in self._maker
                and not dag.needrun(self._maker[file])
                and file not in dag.forcefiles
            ]
            if not again:
                return
            for file in again:
                print(f"{file} is missing: made again", file=sys.stderr)

    def _of_other_recipes(self) -> list[str]:
        return [
            file
            for job, recipe in self._made.items()
            if not self._dag.needrun(job)
            for file in made_otherwise(job.output, recipe.digest)
        ]

    def _named_by_counts(self) -> Iterator[dict[str, Any]]:
        """Yield the counts of a stage's jobs that jobs of this run read but none makes."""
        dag, layout = self._dag, self._layout
        for stage, counts in layout.stages.items():
            for listed in map(self._placed, layout.listing(stage)):
                maker = self._maker.get(str(listed))
                if maker is None or not self._is_read(maker, str(listed)):
                    continue
                if not dag.needrun(maker):
                    yield from load_listing([listed])
                elif stage in layout.barriers:
                    for file in map(self._placed, layout.every(counts)):
                        if not dag.needrun(self._maker[str(file)]):
                            yield load_json(file)

    def _is_read(self, maker: Any, file: str) -> bool:
        """Say whether a job of this run reads a file of another job."""
        readers = self._dag.depending[maker].items()
        return any(file in files and self._dag.needrun(job) for job, files in readers)


def _paths_in(counts: dict[str, Any], results: Path) -> Iterator[Path]:
    for value in counts.values():
        if isinstance(value, str) and value.startswith(f"{results}/"):
            yield Path(value)


def lost_files(entries: Iterable[dict[str, Any]], results: Path) -> Iterator[Path]:
    """Yield the files that entries name and that are missing. entries: counts of jobs."""
    names: dict[Path, set[str]] = {}
    for entry in entries:
        for path in _paths_in(entry, results):
            folder = path.parent
            if folder not in names:
                names[folder] = set(os.listdir(folder)) if folder.is_dir() else set()
            if path.name not in names[folder]:
                yield path
