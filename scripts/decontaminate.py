"""Find the train documents of a block of parts whose text is held out; write down all decisions."""

import logging
from pathlib import Path

import numpy as np

from corpusmill.mill.decide.decided import save_decided
from corpusmill.mill.decide.fate_columns import FateColumn
from corpusmill.mill.decide.fates import CONTAMINATED
from corpusmill.mill.decide.holdout import origins_of
from corpusmill.mill.storage.arrays import load_array
from corpusmill.mill.storage.tables import load_table
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


def decontaminate(
    decisions: list[Path],
    digests: list[Path],
    whole: list[Path],
    unedited: list[Path],
    held_out: Path,
    first_part: int,
    decided: Path,
) -> None:
    """decisions, digests: of the block's parts, the first of which has the number `first_part`.

    whole, unedited: for each part the digests from before spans were cut, and from before filters
    cut, if they do: a held-out text is not trained on because it lost a line.
    """
    texts = load_array(held_out)
    fates, others = [], []
    with phase("comparing", len(decisions), "parts") as progress:
        for place, (decision, digest) in enumerate(zip(decisions, digests, strict=True)):
            fate, known = FateColumn.load(decision), ("winner", "similarity", "stage", "split")
            *others_of, copies = load_table(decision, *known, "copies")
            table = dict(zip(known, others_of, strict=True))
            origins = origins_of(load_array(digest), texts)
            for before in (load_array(files[place]) for files in (whole, unedited) if files):
                rows, again = before["row"], origins_of(before["digest"], texts)
                origins[rows] = np.where(origins[rows], origins[rows], again)
            marked = fate.drop(CONTAMINATED, (origins > 0) & (table["split"] == 0))
            fates.append(fate)
            others.append(
                {
                    **table,
                    "held_out_by": np.where(marked, origins, 0).astype(np.uint8),
                    "copies": np.where(marked, 0, copies).astype(np.uint16),
                }
            )
            logging.info("%s: %d of %d documents are held out elsewhere", decision.stem,
                         marked.sum(), marked.size)  # fmt: skip
            progress.advance(1)
    save_decided(decided, first_part, fates, others)


if __name__ == "__main__":
    run(decontaminate)
