"""Count how the values of the documents of a block of parts are spread."""

import logging
from pathlib import Path

import pyarrow as pa

from corpusmill.documents.decided import load_decided
from corpusmill.documents.fates import KEPT
from corpusmill.documents.tallies import BINS, TOTALS, added, tally_of_part
from corpusmill.run.job import run
from corpusmill.run.progress import phase
from corpusmill.storage.tables import load_arrow, save_parquet


def tally(measures: list[Path], decided: Path, first_part: int, bins: Path, totals: Path) -> None:
    """measures: of the block's parts, the first of which has the number `first_part`."""
    tallies = []
    with phase("counting", len(measures), "parts") as progress:
        for part, file in enumerate(measures, first_part):
            fates = load_decided(decided, part).column("fate").cast(pa.string())
            kept = fates.to_numpy(zero_copy_only=False) == KEPT
            tallies.append(tally_of_part(load_arrow(file), kept))
            progress.advance(1)
    of_block = added(tallies)
    for path, rows, schema in ((bins, of_block.bins, BINS), (totals, of_block.totals, TOTALS)):
        save_parquet(path, pa.Table.from_pylist(rows, schema))
    logging.info("%d values of %d parts", len(of_block.totals), len(measures))


if __name__ == "__main__":
    run(tally)
