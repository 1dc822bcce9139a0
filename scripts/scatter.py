"""Group the kept documents of one part by the target shard of each copy."""

import logging
from pathlib import Path

import numpy as np
import pyarrow as pa

from corpusmill.mill.decide.decided import DecisionFiles, load_decided
from corpusmill.mill.shuffle.scattering import PartRows, ScatterFiles, write_scattered
from corpusmill.mill.shuffle.targets import emissions, first_targets
from corpusmill.mill.storage.files import content_digest, save_json
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


def scatter(
    text: Path,
    decisions: DecisionFiles,
    part: int,
    shards: dict[str, int],
    seed: int,
    made: ScatterFiles,
) -> None:
    decided = load_decided(decisions, part)
    documents = PartRows(text, part)
    row, copy, key, target = emissions(documents.ids, decided.copies, decided.split, shards, seed)

    def rows_of(block: slice) -> pa.Table:
        found = documents.table(row[block], copy[block], key[block])
        progress.advance(found.num_rows)
        return found

    with phase("scattering", row.size, "documents") as progress:
        count = first_targets(shards)["end"]
        write_scattered(made.data, made.index, rows_of, documents.sizes[row], target, count)
    save_json(
        made.counts,
        {
            "documents": int(row.size),
            "data": str(made.data),
            "index": str(made.index),
            "digest": content_digest(made.data),
        },
    )
    logging.info("%d documents scattered to %d shards", row.size, np.unique(target).size)


if __name__ == "__main__":
    run(scatter)
