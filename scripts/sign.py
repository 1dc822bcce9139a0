"""Compute the MinHash sketch and the SHA-256 of every document in one part."""

import logging
from pathlib import Path

import numpy as np

from corpusmill.mill.dedup.minhash import MinHasher
from corpusmill.mill.read.digests import digests_of
from corpusmill.mill.read.parts import TextPart
from corpusmill.mill.read.text_column import TextColumn
from corpusmill.mill.storage.arrays import array_writer
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


def sign(text: Path, hasher: MinHasher, signatures: Path, digests: Path) -> None:
    documents = TextPart(text, ["file"]).column("file").size
    with (
        array_writer(signatures, (documents, hasher.permutations), np.uint32) as append_sketches,
        array_writer(digests, (documents, 32), np.uint8) as append_digests,
        phase("signing", documents, "documents") as progress,
    ):
        for batch in TextPart(text, ["text"]).batches():
            column = TextColumn.of(batch.column("text"))
            append_sketches(hasher.sign(column))
            append_digests(digests_of(column))
            progress.advance(batch.num_rows)
    logging.info("%d documents signed", documents)


if __name__ == "__main__":
    run(sign)
