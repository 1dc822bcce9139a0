"""Choose the number of copies of every candidate of a block of parts."""

import logging
from pathlib import Path

from corpusmill.mill.decide.candidates import CandidateTables, save_copies
from corpusmill.mill.decide.composition import Tally, copies_of_part, load_composition
from corpusmill.mill.decide.mixture import Mixture
from corpusmill.mill.storage.files import content_digest, save_json
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


def mix(
    candidates: Path,
    composition: Path,
    classes: Path,
    mixture: Mixture,
    first_part: int,
    copies: Path,
    counts: Path,
) -> None:
    composed, labels = load_composition(composition, classes, mixture)
    tally = Tally(len(composed.supplies))
    parts = []
    with phase("choosing", unit="documents") as progress:
        for columns in CandidateTables([candidates], mixture, labels).pieces():
            of_part, cells = copies_of_part(composed, mixture, columns)
            tally.add(cells, columns["size"], of_part)
            parts.append((columns["id"], of_part))
            progress.advance(of_part.size)
    save_copies(copies, first_part, parts)
    save_json(counts, {"cells": tally.counts(), "digest": content_digest(copies)})
    logging.info("%d documents, %d copies", tally.documents, tally.copies)


if __name__ == "__main__":
    run(mix)
