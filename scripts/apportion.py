"""Divide the budget of the mixture among its cells, stage by stage."""

import logging
from pathlib import Path

from corpusmill.mill.decide.candidates import CandidateTables, names_of_blocks
from corpusmill.mill.decide.composition import compose_stages
from corpusmill.mill.decide.mixture import Stage, labels_of, numbers_of
from corpusmill.mill.storage.arrays import save_array
from corpusmill.mill.storage.files import load_listing, save_json
from corpusmill.run.job import run


def apportion(
    listing: list[Path], stages: list[Stage], compositions: list[Path], classes: list[Path]
) -> None:
    """listing: the tables of candidates of all blocks of parts. compositions, classes: of each
    stage."""
    blocks = load_listing(listing)
    tables = CandidateTables(
        [Path(block["file"]) for block in blocks],
        list(stages[0].mixture.weights),
        names_of_blocks(blocks, labels_of(stages)),
        numbers_of(stages),
    )
    found = compose_stages(tables, stages)
    for stage, composition, of_stage in zip(found, compositions, classes, strict=True):
        save_json(composition, stage.composition.told())
        save_array(of_stage, stage.composition.cells.pairs)
        for line in stage.composition.lines():
            logging.info("%s: %s", stage.split, line)


if __name__ == "__main__":
    run(apportion)
