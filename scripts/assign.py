"""Decide the fate, the split and the number of copies of every document in one part."""

import logging
from pathlib import Path

import numpy as np

from corpusmill.decisions import copies_of, splits_of
from corpusmill.document_ids import ids_of_part
from corpusmill.fates import DUPLICATE, KEPT, NAMES, NOT_SAMPLED
from corpusmill.files import file_sha256, load_array, save_array, save_json
from corpusmill.holdout import gathered
from corpusmill.step_log import step_log
from corpusmill.tables import load_labels, load_table, save_table


def assign(
    verdicts: Path,
    digests: Path,
    winners: Path,
    starts: Path,
    part: int,
    weights: dict[str, float],
    fractions: dict[str, float],
    seed: int,
    decisions: Path,
    held_out: Path,
    counts: Path,
) -> None:
    (fate,) = load_table(verdicts, "fate")
    fate = fate.copy()
    start, stop = load_array(starts)[part : part + 2]
    winner = np.array(load_array(winners)[start:stop])
    ids = ids_of_part(part, fate.size)
    sources, source = load_labels(verdicts, "source")
    weight = np.array([weights[name] for name in sources])[source]
    split = splits_of(ids, fractions, seed)
    copies = copies_of(ids, weight, split, seed)
    fate[(fate == KEPT) & (winner != ids)] = DUPLICATE
    fate[(fate == KEPT) & (copies == 0)] = NOT_SAMPLED
    copies[fate != KEPT] = 0
    save_table(decisions, fate=fate, winner=winner, split=split, copies=copies)
    out = (fate == KEPT) & (split > 0)
    table = gathered([load_array(digests)[out]], [split[out]])
    save_array(held_out, table)
    save_json(
        counts,
        {"held_out": len(table), "file": str(held_out), "sha256": file_sha256(held_out)},
    )
    for value, name in NAMES.items():
        logging.info("%s: %d documents", name, (fate == value).sum())


if __name__ == "__main__":
    with step_log(snakemake.log[0]):
        assign(
            verdicts=Path(snakemake.input.verdicts),
            digests=Path(snakemake.input.digests),
            winners=Path(snakemake.input.winners),
            starts=Path(snakemake.input.starts),
            part=int(snakemake.wildcards.part),
            weights=snakemake.params.weights,
            fractions=snakemake.params.fractions,
            seed=snakemake.params.seed,
            decisions=Path(snakemake.output.decisions),
            held_out=Path(snakemake.output.held_out),
            counts=Path(snakemake.output.counts),
        )
