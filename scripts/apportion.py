"""Divide the budget of the mixture among its cells."""

import logging
from pathlib import Path

from corpusmill.mill.decide.candidates import CandidateTables
from corpusmill.mill.decide.composition import compose, save_composition
from corpusmill.mill.decide.mixture import NONE, Mixture
from corpusmill.mill.storage.files import load_listing
from corpusmill.run.job import run


def apportion(listing: list[Path], mixture: Mixture, composition: Path, classes: Path) -> None:
    """listing: the tables of candidates of all blocks of parts."""
    blocks = load_listing(listing)
    labels = {
        name: sorted({one for block in blocks for one in block["labels"][name]} - {NONE})
        for name in mixture.labels
    }
    tables = CandidateTables([Path(block["file"]) for block in blocks], mixture, labels)
    composed = compose(tables)
    save_composition(composition, classes, composed, tables)
    for line in composed.lines():
        logging.info("%s", line)


if __name__ == "__main__":
    run(apportion)
