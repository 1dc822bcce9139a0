"""Sort the LSH band keys of one part's documents."""

import logging
from pathlib import Path

import numpy as np

from corpusmill.fates import KEPT
from corpusmill.files import file_sha256, load_array, save_json
from corpusmill.lsh import sorted_bands
from corpusmill.progress import phase
from corpusmill.sketches import have_shingles
from corpusmill.step_log import step_log
from corpusmill.tables import load_table


def band(
    signatures: Path,
    verdicts: Path,
    candidates: str,
    bands: int,
    rows: int,
    entries: Path,
    counts: Path,
) -> None:
    table = load_array(signatures)
    (fate,) = load_table(verdicts, "fate")
    # A kept text without a shingle is like no other, not like all of them. The SlimPajama scripts
    # group such texts, but with their settings the filter rejects every one.
    comparable = (fate != KEPT) | have_shingles(table)
    if candidates == "kept":
        comparable &= fate == KEPT
    chosen = np.flatnonzero(comparable).astype(np.uint32)
    with phase("sorting bands", bands, "bands"):
        sorted_bands(table, chosen, bands, rows, entries)
    save_json(
        counts,
        {
            "documents": len(table),
            "banded": int(chosen.size),
            "file": str(entries),
            "sha256": file_sha256(entries),
            "verdicts": str(verdicts),
            "verdicts_sha256": file_sha256(verdicts),
        },
    )
    logging.info("%d of %d documents in %d bands", chosen.size, len(table), bands)


if __name__ == "__main__":
    with step_log(snakemake.log[0]):
        band(
            signatures=Path(snakemake.input.signatures),
            verdicts=Path(snakemake.input.verdicts),
            candidates=snakemake.params.candidates,
            bands=snakemake.params.bands,
            rows=snakemake.params.rows,
            entries=Path(snakemake.output.entries),
            counts=Path(snakemake.output.counts),
        )
