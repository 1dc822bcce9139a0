"""Find the train documents of a block of parts whose text is held out; write down all decisions."""

import logging
from pathlib import Path

import numpy as np

from corpusmill.documents.decided import save_decided
from corpusmill.documents.fate_columns import FateColumn
from corpusmill.documents.fates import CONTAMINATED
from corpusmill.run.job import run
from corpusmill.run.progress import phase
from corpusmill.storage.arrays import load_array
from corpusmill.storage.tables import load_table
from corpusmill.text.holdout import WHOLE, origins_of


def decontaminate(
    decisions: list[Path],
    digests: list[Path],
    whole: list[Path],
    held_out: Path,
    first_part: int,
    decided: Path,
) -> None:
    """decisions, digests: of the block's parts, the first of which has the number `first_part`.

    whole: for each part the digests from before spans were cut, if spans are: a held-out text is
    not trained on because it lost a line.
    """
    texts = load_array(held_out)
    before = [load_array(file) for file in whole] or [np.zeros(0, WHOLE)] * len(decisions)
    fates, others = [], []
    with phase("comparing", len(decisions), "parts") as progress:
        for decision, digest, uncut in zip(decisions, digests, before, strict=True):
            fate, known = FateColumn.load(decision), ("winner", "similarity", "stage", "split")
            *others_of, copies = load_table(decision, *known, "copies")
            table = dict(zip(known, others_of, strict=True))
            origins = origins_of(load_array(digest), texts)
            rows = uncut["row"]
            again = origins_of(uncut["digest"], texts)
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
