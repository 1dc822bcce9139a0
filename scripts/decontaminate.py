"""Mark the train documents of a block of parts whose text is held out."""

import logging
from pathlib import Path

import numpy as np

from corpusmill.documents.fates import KEPT
from corpusmill.documents.ids import ids_of_part
from corpusmill.run.job import run
from corpusmill.run.progress import phase
from corpusmill.storage.arrays import load_array, save_array
from corpusmill.storage.tables import load_table
from corpusmill.text.holdout import MARK, WHOLE, matches


def decontaminate(
    decisions: list[Path],
    digests: list[Path],
    whole: list[Path],
    held_out: Path,
    first: int,
    marks: Path,
) -> None:
    """decisions, digests: of the block's parts, the first of which has the number `first`.

    whole: for each part the digests from before spans were cut, if spans are: a held-out text is
    not trained on because it lost a line.
    """
    texts = load_array(held_out)
    found = [np.zeros(0, MARK)]
    before = [load_array(file) for file in whole] or [np.zeros(0, WHOLE)] * len(decisions)
    parts = list(zip(decisions, digests, before, strict=True))
    with phase("comparing", len(decisions), "parts") as progress:
        for part, (decision, digest, uncut) in enumerate(parts, first):
            fate, split = load_table(decision, "fate", "split")
            origins = matches(load_array(digest), texts)
            rows = uncut["row"]
            origins[rows] = np.where(origins[rows], origins[rows], matches(uncut["digest"], texts))
            origins[(fate != KEPT) | (split != 0)] = 0
            rows = np.flatnonzero(origins)
            table = np.zeros(rows.size, MARK)
            table["id"] = ids_of_part(part, origins.size)[rows]
            table["origin"] = origins[rows]
            found.append(table)
            logging.info("part %05d: %d of %d documents are held out elsewhere", part,
                         rows.size, origins.size)  # fmt: skip
            progress.advance(1)
    save_array(marks, np.concatenate(found))


if __name__ == "__main__":
    run(decontaminate)
