"""Group the surviving documents of one part by the shard that each copy goes to."""

import logging
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpusmill.arrays import load_array
from corpusmill.document_ids import ids_of_part
from corpusmill.files import file_sha256, save_json
from corpusmill.holdout import marks_of_part
from corpusmill.job import this_job
from corpusmill.progress import phase
from corpusmill.scattering import SCHEMA, write_scattered
from corpusmill.tables import load_table
from corpusmill.targets import emissions, first_targets
from corpusmill.texts import TextPart


def scatter(
    text: Path,
    decisions: Path,
    marks: Path,
    part: int,
    shards: dict[str, int],
    seed: int,
    data: Path,
    index: Path,
    counts: Path,
) -> None:
    copies, split = load_table(decisions, "copies", "split")
    clean = marks_of_part(load_array(marks), part, copies.size) == 0
    copies = np.where(clean, copies, 0)
    ids = ids_of_part(part, copies.size)
    row, copy, key, target = emissions(ids, copies, split, shards, seed)
    sources = TextPart(text, ["file"]).sources()
    # In one piece: taking rows of a column in several pieces copies all of it every time.
    kept = pa.Table.from_batches(
        TextPart(text, ["text", "rest"]).batches(),
        pa.schema([SCHEMA.field("text"), SCHEMA.field("rest")]),
    ).combine_chunks()
    sizes = sum(pc.binary_length(kept.column(name)).to_numpy() for name in ("text", "rest"))

    def rows_of(block: slice) -> pa.Table:
        chosen = pa.array(row[block])
        progress.advance(len(chosen))
        texts = kept.take(chosen)
        return pa.table(
            [
                pa.array(key[block]),
                pa.array(ids[row[block]]),
                pa.array(copy[block]),
                sources.take(chosen).cast(pa.string()),
                texts.column("text"),
                texts.column("rest"),
            ],
            schema=SCHEMA,
        )

    with phase("scattering", row.size, "documents") as progress:
        count = first_targets(shards)["end"]
        write_scattered(data, index, rows_of, sizes[row], target, count)
    save_json(
        counts,
        {
            "documents": int(row.size),
            "data": str(data),
            "index": str(index),
            "sha256": file_sha256(data),
        },
    )
    logging.info("%d documents scattered to %d shards", row.size, np.unique(target).size)


if __name__ == "__main__":
    with this_job() as job:
        scatter(
            text=job.input.text,
            decisions=job.input.decisions,
            marks=job.input.marks,
            part=int(job.params.part),
            shards=job.params.shards,
            seed=job.params.seed,
            data=job.output.data,
            index=job.output.index,
            counts=job.output.counts,
        )
