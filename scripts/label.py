"""Write the source and the cell of every document of the shards, so that readers can choose."""

import logging
from pathlib import Path
from typing import NamedTuple

from corpusmill.mill.tokens.group_files import GroupFiles
from corpusmill.mill.tokens.groups import CellsOfSplit, save_groups
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


class Mixed(NamedTuple):
    """The mixture of the split; none without one."""

    compositions: list[Path]
    copies: list[Path]
    """Of every block of parts."""


def label(split: str, placements: list[Path], mixed: Mixed, files: GroupFiles) -> None:
    """placements: of the shards of the split, in order."""
    cells = None
    for composition in mixed.compositions:
        cells = CellsOfSplit.load(composition, mixed.copies, split)
    with phase("labelling", len(placements), "shards") as progress:
        groups = save_groups(files, placements, cells, progress)
    logging.info("%d groups, %d documents", len(groups), sum(one.documents for one in groups))


if __name__ == "__main__":
    run(label)
