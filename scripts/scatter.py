"""Group the surviving documents of one part by the shard that each copy goes to."""

import logging
from pathlib import Path

import numpy as np
import pyarrow as pa

from corpusmill.document_ids import ids_of_part
from corpusmill.files import file_sha256, load_array, save_json
from corpusmill.progress import phase
from corpusmill.scattering import SCHEMA, write_scattered
from corpusmill.step_log import step_log
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
    copies = np.where(load_array(marks) == 0, copies, 0)
    ids = ids_of_part(part, copies.size)
    row, copy, key, target = emissions(ids, copies, split, shards, seed)
    sources = TextPart(text, ["file"]).sources()
    with phase("scattering", unit="documents") as progress:
        kept = pa.Table.from_batches(
            TextPart(text, ["text", "rest"]).batches(),
            pa.schema([SCHEMA.field("text"), SCHEMA.field("rest")]),
        ).take(pa.array(row))
        rows = pa.table(
            [
                pa.array(key),
                pa.array(ids[row]),
                pa.array(copy),
                sources.take(pa.array(row)).cast(pa.string()),
                kept.column("text"),
                kept.column("rest"),
            ],
            schema=SCHEMA,
        )
        write_scattered(data, index, rows, target, first_targets(shards)["end"])
        progress.advance(row.size)
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
    with step_log(snakemake.log[0]):
        scatter(
            text=Path(snakemake.input.text),
            decisions=Path(snakemake.input.decisions),
            marks=Path(snakemake.input.marks),
            part=int(snakemake.wildcards.part),
            shards=snakemake.params.shards,
            seed=snakemake.params.seed,
            data=Path(snakemake.output.data),
            index=Path(snakemake.output.index),
            counts=Path(snakemake.output.counts),
        )
