"""Gather the SHA-256 of every text that may not be in train."""

import hashlib
import logging
from pathlib import Path

import numpy as np

from corpusmill.files import load_array, save_array
from corpusmill.holdout import EVALUATION, gathered
from corpusmill.normalization import normalizer
from corpusmill.progress import phase
from corpusmill.readers import Malformed, read_records
from corpusmill.step_log import step_log


def evaluation_digests(files: list[dict], mode: str) -> np.ndarray:
    """uint8 (texts, 32): of all texts of the evaluation files, normalised as the corpus is."""
    mend = normalizer(mode)
    found = []
    for file in files:
        with phase("reading evaluation files") as progress:
            path = file["path"]
            for record in read_records(path, file["text_field"], progress, mode == "ftfy"):
                if isinstance(record, Malformed):
                    raise ValueError(
                        f"{path}:{record.line}: {record.reason}. Evaluation files must be whole: "
                        "repair or remove the record."
                    )
                found.append(hashlib.sha256(mend(record.text).encode("utf-8")).digest())
    return np.frombuffer(b"".join(found), np.uint8).reshape(-1, 32)


def holdout(
    parts: list[Path],
    evaluation_files: list[dict],
    mode: str,
    held_out: Path,
) -> None:
    """parts: the held-out digests of every part.

    evaluation_files: {"path", "text_field"} of each.
    """
    evaluation = evaluation_digests(evaluation_files, mode)
    blocks, origins = [evaluation], [np.full(len(evaluation), EVALUATION, np.uint8)]
    for part in parts:
        table = load_array(part)
        blocks.append(table["digest"])
        origins.append(table["origin"])
    table = gathered(blocks, origins)
    save_array(held_out, table)
    logging.info("%d texts held out, %d of evaluation files", len(table), len(evaluation))


if __name__ == "__main__":
    with step_log(snakemake.log[0]):
        holdout(
            parts=[Path(file) for file in snakemake.input.parts],
            evaluation_files=snakemake.params.evaluation,
            mode=snakemake.params.mode,
            held_out=Path(snakemake.output.held_out),
        )
