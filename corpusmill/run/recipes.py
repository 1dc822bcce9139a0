"""The recipes of a run's files: written down before its first job, followed by each job.

Which settings, code and inputs make a file is known before it is made, from the plan alone. What
lies there and was made otherwise, an old file that somebody brought back for one, is found by that.
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
"""Their place below results."""


def save_recipes(path: Path, recipes: dict[str, Recipe]) -> None:
    """recipes: by the name of every file that the run makes or reads."""
    with replacing(path) as temporary:
        temporary.write_bytes(as_stored(recipes))


def made_otherwise(outputs: Iterable[str], recipe: bytes) -> Iterator[str]:
    """The files of a job that are there and were not made by its recipe."""
    for output in outputs:
        folder, name = os.path.split(output)
        sums = [f"{folder}/.{name}{SUMS}"]
        if os.path.isdir(output):
            sums = [str(path) for path in Path(output).rglob(f".*{SUMS}")]
        found = {recipe_in(one) for one in sums} - {None, recipe}
        if found and os.path.exists(output):
            yield output


def _results_of(paths: dict[str, str | list[str]]) -> Iterator[tuple[Path, str]]:
    """The results folder of each file of a job, and its name below that."""
    for files in paths.values():
        for file in files if isinstance(files, list) else [files]:
            parts = Path(file).parts
            if "results" in parts:
                at = len(parts) - parts[::-1].index("results")
                yield Path(*parts[:at]), "/".join(parts[at:])


@contextlib.contextmanager
def followed_by_job(settings: str, paths: dict[str, str | list[str]]) -> Iterator[None]:
    """While this lasts, files are read and written by the recipes of the run that the job is of;
    ValueError if it is of none, or of another one.

    settings, paths: what the job is told, as its rule gives it.
    """
    files = list(_results_of(paths))
    if not files:
        refuse_if_followed()
        yield
        return
    table = files[0][0] / RECIPES
    recipes, own = Recipes.load(table), settings_digest(settings)
    # After they were read: those of a later run come after its note.
    refuse_if_followed()
    if all((made := recipes.of(name)) is None or made.settings != own for _, name in files):
        raise ValueError(
            f"this job is told other settings than {table} has of it: an input file or the "
            "configuration changed since the run began. Run again."
        )
    with following(recipes):
        yield
