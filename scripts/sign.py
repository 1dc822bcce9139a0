"""Compute the MinHash sketch and the SHA-256 of every document in one part."""

import hashlib
import itertools
import logging
from pathlib import Path

import numpy as np

from corpusmill.files import save_array
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
    tables = [np.zeros((0, hasher.permutations), np.uint32)]
    hashes = [np.zeros((0, 32), np.uint8)]
    with phase("signing", unit="documents") as progress:
        for batch in TextPart(text, ["text"]).batches():
            column = TextColumn.of(batch.column("text"))
            tables.append(hasher.sign(column))
            hashes.append(digests_of(column))
            progress.advance(batch.num_rows)
    save_array(signatures, np.concatenate(tables))
    save_array(digests, np.concatenate(hashes))
    logging.info("%d documents signed", sum(len(table) for table in tables))


if __name__ == "__main__":
    with step_log(snakemake.log[0]):
        sign(
            text=Path(snakemake.input.text),
            hasher=MinHasher(**snakemake.params.minhash),
            signatures=Path(snakemake.output.signatures),
            digests=Path(snakemake.output.digests),
        )
