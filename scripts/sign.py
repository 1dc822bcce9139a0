"""Compute the MinHash sketch and the SHA-256 of every document in one part."""

import hashlib
import itertools
import logging
from pathlib import Path

import numpy as np

from corpusmill.files import array_writer
from corpusmill.minhash import MinHasher
from corpusmill.progress import phase
from corpusmill.step_log import step_log
from corpusmill.texts import TextColumn, TextPart


def digests_of(texts: TextColumn) -> np.ndarray:
    """uint8 (documents, 32): the SHA-256 of each text's UTF-8 bytes."""
    data = memoryview(texts.data)
    bounds = texts.offsets.tolist()
    found = b"".join(
        hashlib.sha256(data[start:stop]).digest() for start, stop in itertools.pairwise(bounds)
    )
    return np.frombuffer(found, np.uint8).reshape(-1, 32)


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
    with step_log(snakemake.log[0]):
        sign(
            text=Path(snakemake.input.text),
            hasher=MinHasher(**snakemake.params.minhash),
            signatures=Path(snakemake.output.signatures),
            digests=Path(snakemake.output.digests),
        )
