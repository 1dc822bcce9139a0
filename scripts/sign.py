"""Compute the MinHash sketch and the SHA-256 of every document in one part."""

import logging
from pathlib import Path

import numpy as np

from corpusmill.dedup.minhash import MinHasher
from corpusmill.run.job import run
from corpusmill.run.progress import phase
from corpusmill.storage.arrays import array_writer
from corpusmill.text.columns import TextColumn
from corpusmill.text.digests import digests_of
from corpusmill.text.parts import TextPart


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
