"""Mark the train documents of one part whose text is held out."""

import logging
from pathlib import Path

from corpusmill.fates import KEPT
from corpusmill.files import load_array, save_array
from corpusmill.holdout import matches
from corpusmill.step_log import step_log
from corpusmill.tables import load_table


def decontaminate(decisions: Path, digests: Path, held_out: Path, marks: Path) -> None:
    """A mark says who holds the text out (holdout.ORIGINS); 0 means the document is clean."""
    fate, split = load_table(decisions, "fate", "split")
    found = matches(load_array(digests), load_array(held_out))
    found[(fate != KEPT) | (split != 0)] = 0
    save_array(marks, found)
    logging.info("%d of %d documents are held out elsewhere", (found > 0).sum(), found.size)


if __name__ == "__main__":
    with step_log(snakemake.log[0]):
        decontaminate(
            decisions=Path(snakemake.input.decisions),
            digests=Path(snakemake.input.digests),
            held_out=Path(snakemake.input.held_out),
            marks=Path(snakemake.output.marks),
        )
