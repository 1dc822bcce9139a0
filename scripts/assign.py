"""Decide the fate, the split and the number of copies of every document in one part."""

import logging
from pathlib import Path

import numpy as np

from corpusmill.decisions import copies_of, splits_of
from corpusmill.document_ids import ids_of_part
from corpusmill.fates import DUPLICATE, KEPT, NAMES, NOT_SAMPLED
from corpusmill.files import load_array, load_json
from corpusmill.step_log import step_log
from corpusmill.tables import load_table, save_table
from corpusmill.texts import TextPart


def assign(
    text: Path,
    verdicts: Path,
    winners: Path,
    listing: Path,
    part: int,
    weights: dict[str, float],
    fractions: dict[str, float],
    seed: int,
    decisions: Path,
) -> None:
    (fate,) = load_table(verdicts, "fate")
    fate = fate.copy()
    rows = [count["documents"] for count in load_json(listing)["parts"]]
    start = sum(rows[:part])
    winner = np.array(load_array(winners)[start : start + rows[part]])
    ids = ids_of_part(part, rows[part])
    source = TextPart(text, ["file"])
    weight = np.array([weights[name] for name in source.sources()])[source.source_numbers()]
    split = splits_of(ids, fractions, seed)
    copies = copies_of(ids, weight, split, seed)
    fate[(fate == KEPT) & (winner != ids)] = DUPLICATE
    fate[(fate == KEPT) & (copies == 0)] = NOT_SAMPLED
    copies[fate != KEPT] = 0
    save_table(decisions, fate=fate, winner=winner, split=split, copies=copies)
    for value, name in NAMES.items():
        logging.info("%s: %d documents", name, (fate == value).sum())


if __name__ == "__main__":
    with step_log(snakemake.log[0]):
        assign(
            text=Path(snakemake.input.text),
            verdicts=Path(snakemake.input.verdicts),
            winners=Path(snakemake.input.winners),
            listing=Path(snakemake.input.listing),
            part=int(snakemake.wildcards.part),
            weights=snakemake.params.weights,
            fractions=snakemake.params.fractions,
            seed=snakemake.params.seed,
            decisions=Path(snakemake.output.decisions),
        )
