"""Choose the number of copies of every candidate of a block of parts, stage by stage."""

import logging
from pathlib import Path

import numpy as np

from corpusmill.mill.decide.candidates import CandidateTables, CopiesOfPart, save_copies
from corpusmill.mill.decide.composition import Tally, chosen_by_stages, load_stages
from corpusmill.mill.decide.mixture import Stage, numbers_of
from corpusmill.mill.storage.files import content_digest, save_json
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


def mix(
    candidates: Path,
    compositions: list[Path],
    classes: list[Path],
    stages: list[Stage],
    first_part: int,
    copies: Path,
    counts: Path,
) -> None:
    """compositions, classes: of each stage."""
    found = load_stages(compositions, classes, stages)
    tallies = {stage.split: Tally(len(stage.composition.supplies)) for stage in found}
    labels = found[0].composition.labels
    sources = list(stages[0].mixture.weights)
    parts: list[CopiesOfPart] = []
    left_over = 0
    with phase("choosing", unit="documents") as progress:
        tables = CandidateTables([candidates], sources, labels, numbers_of(stages))
        for columns in tables.pieces():
            of_part = CopiesOfPart(columns["id"], {}, {})
            for split, chosen in chosen_by_stages(found, columns).items():
                tallies[split].add(chosen.cells, columns["size"], chosen.copies)
                of_part.copies[split], of_part.cells[split] = chosen.copies, chosen.cells
            total = np.sum([*of_part.copies.values()], axis=0)
            left_over += int((total == 0).sum())
            parts.append(of_part)
            progress.advance(total.size)
    save_copies(copies, first_part, parts, list(tallies))
    save_json(
        counts,
        {
            "splits": {split: tally.counts() for split, tally in tallies.items()},
            "left_over": left_over,
            "digest": content_digest(copies),
        },
    )
    logging.info("%d documents, %d left over", sum(part.ids.size for part in parts), left_over)


if __name__ == "__main__":
    run(mix)
