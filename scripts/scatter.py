"""Group the surviving documents of one part by the shard that each copy goes to."""

import logging
from pathlib import Path

import numpy as np
import pyarrow as pa

from corpusmill.documents.decided import load_decided
from corpusmill.documents.ids import ids_of_part
from corpusmill.run.job import run
from corpusmill.run.progress import phase
from corpusmill.shuffle.scattering import SCHEMA, ScatterFiles, write_scattered
from corpusmill.shuffle.targets import emissions, first_targets
from corpusmill.storage.files import content_digest, save_json
from corpusmill.text.columns import TextRows, string_array
from corpusmill.text.parts import TextPart


def texts_and_rests(text: Path) -> tuple[TextRows, TextRows]:
    """Of a part. No take(): of a column in several pieces it copies all for every block, and one
    piece is a copy too."""
    kept = pa.Table.from_batches(
        TextPart(text, ["text", "rest"]).batches(),
        pa.schema([SCHEMA.field("text"), SCHEMA.field("rest")]),
    )
    return TextRows(kept.column("text")), TextRows(kept.column("rest"))


def scatter(
    text: Path,
    decided: Path,
    part: int,
    shards: dict[str, int],
    seed: int,
    made: ScatterFiles,
) -> None:
    decisions = load_decided(decided, part)
    copies, split = (decisions.column(name).to_numpy() for name in ("copies", "split"))
    ids = ids_of_part(part, copies.size)
    row, copy, key, target = emissions(ids, copies, split, shards, seed)
    sources = TextPart(text, ["file"]).sources()
    texts, rests = texts_and_rests(text)
    sizes = texts.sizes + rests.sizes

    def rows_of(block: slice) -> pa.Table:
        chosen = row[block]
        progress.advance(len(chosen))
        return pa.table(
            [
                pa.array(key[block]),
                pa.array(ids[chosen]),
                pa.array(copy[block]),
                sources.take(pa.array(chosen)).cast(pa.string()),
                string_array(list(texts[chosen])),
                string_array(list(rests[chosen])).cast(pa.large_binary()),
            ],
            schema=SCHEMA,
        )

    with phase("scattering", row.size, "documents") as progress:
        count = first_targets(shards)["end"]
        write_scattered(made.data, made.index, rows_of, sizes[row], target, count)
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
