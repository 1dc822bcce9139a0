"""The recipes of a run's files: saved before the first job, and followed by each job.

The plan alone determines the settings, code and inputs of each file. So a file that was made
differently is found, for example an old one that was restored from a backup.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from corpusmill.mill.storage.files import replacing
from corpusmill.mill.storage.recipes import Recipe, Recipes, as_stored, following, settings_digest
from corpusmill.mill.storage.sums import SUMS, recipe_in
from corpusmill.run.one_at_a_time import refuse_if_followed

RECIPES = "plan/recipes"
"""Path of the recipes below results."""


def save_recipes(path: Path, recipes: dict[str, Recipe]) -> None:
    """Save the recipes of all files that the run makes or reads, by name."""
    with replacing(path) as temporary:
        temporary.write_bytes(as_stored(recipes))


def made_otherwise(outputs: Iterable[str], recipe: bytes) -> Iterator[str]:
    """Yield the existing outputs of a job that were not made by its recipe."""
    for output in outputs:
        folder, name = os.path.split(output)
        sums = [f"{folder}/.{name}{SUMS}"]
        if os.path.isdir(output):
            sums = [str(path) for path in Path(output).rglob(f".*{SUMS}")]
        found = {recipe_in(one) for one in sums} - {None, recipe}
        if found and os.path.exists(output):
            yield output


def _results_of(paths: dict[str, str | list[str]]) -> Iterator[tuple[Path, str]]:
    """Yield the results folder of each file of a job, and its name below that."""
    for files in paths.values():
        for file in files if isinstance(files, list) else [files]:
            parts = Path(file).parts
            if "results" in parts:
                at = len(parts) - parts[::-1].index("results")
                yield Path(*parts[:at]), "/".join(parts[at:])


@contextlib.contextmanager
def followed_by_job(settings: str, paths: dict[str, str | list[str]]) -> Iterator[None]:
    """Read and write files by the recipes of the job's run while the block lasts.

    Raise ValueError if the job does not belong to that run. settings, paths: as its rule gives
    them.
    """
    files = list(_results_of(paths))
    if not files:
        refuse_if_followed()
        yield
        return
    table = files[0][0] / RECIPES
    recipes, own = Recipes.load(table), settings_digest(settings)
    # After reading them: a later run writes its note before its recipes.
    refuse_if_followed()
    if all((made := recipes.of(name)) is None or made.settings != own for _, name in files):
        raise ValueError(
            f"the settings of this job differ from those in {table}: an input file or the "
            "configuration changed since the run began. Run again."
        )
    with following(recipes):
        yield
