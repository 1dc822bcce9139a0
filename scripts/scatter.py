"""Group the kept documents of one part by the target shard of each copy."""

import logging
from pathlib import Path
from typing import NamedTuple

import numpy as np

from corpusmill.mill.decide.decided import DecisionFiles, load_decided
from corpusmill.mill.read.ids import ids_of_part
from corpusmill.mill.read.parts import TextPart
from corpusmill.mill.shuffle.arranging import OrderGiven, load_orders
from corpusmill.mill.shuffle.scattering import ScatterFiles, TokenIds, write_scattered
from corpusmill.mill.shuffle.targets import emissions, first_targets
from corpusmill.mill.storage.files import content_digest, save_json
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


class Counted(NamedTuple):
    """The ids of the part's tokens, from `count`; none if they were not counted before."""

    token_ids: list[Path]
    token_starts: list[Path]


def scatter(
    text: Path,
    decisions: DecisionFiles,
    counted: Counted,
    part: int,
    shards: dict[str, int],
    seeds: dict[str, int],
    order: OrderGiven,
    made: ScatterFiles,
) -> None:
    decided = load_decided(decisions, part)
    documents = TextPart(text, ["file"]).column("file").size
    if decided.split.size != documents:
        raise ValueError(
            f"{text} has {documents} documents, but there are decisions about {decided.split.size}"
        )
    ids = ids_of_part(part, documents)
    emitted = emissions(ids, decided.copies, shards, seeds, load_orders(order, part))
    with phase("scattering", emitted.row.size, "documents") as progress:
        targets = first_targets(shards)["end"]
        files = zip(*counted, strict=True)
        token_ids = next((TokenIds(*one) for one in files), None)
        write_scattered(made.data, made.index, text, part, emitted, targets, progress, token_ids)
    save_json(
        made.counts,
        {
            "documents": int(emitted.row.size),
            "data": str(made.data),
            "index": str(made.index),
            "digest": content_digest(made.data),
        },
    )
    logging.info("%d documents scattered to %d shards", emitted.row.size,
                 np.unique(emitted.target).size)  # fmt: skip


if __name__ == "__main__":
    run(scatter)
