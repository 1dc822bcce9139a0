"""Compute the SHA-256 of every text of the held_out sources, normalized like the corpus."""

import hashlib
import logging
import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from corpusmill.mill.decide.holdout import EVALUATION, gathered
from corpusmill.mill.read.readers import SeenBytes, read_normal_records, refuse_changed
from corpusmill.mill.read.records import Malformed, too_many_malformed
from corpusmill.mill.storage.arrays import save_array
from corpusmill.mill.storage.files import save_json
from corpusmill.mill.storage.streams import ReadLimits
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


def evaluation(
    files: list[dict],
    max_malformed_fraction: dict[str, float],
    normalizing: dict[str, Any],
    readers: list[str],
    limits: ReadLimits,
    held_out: Path,
    counts: Path,
) -> None:
    """files, normalizing: as in normalize. max_malformed_fraction: by source."""
    digests: list[bytes] = []
    records: Counter = Counter()
    bad: Counter = Counter()
    of_files = [SeenBytes(file) for file in files]
    with phase("reading", sum(os.path.getsize(file["path"]) for file in files)) as progress:
        for file, seen in zip(files, of_files, strict=True):
            source, path = file["source"], file["path"]
            for record in read_normal_records(
                path, file["text_field"], progress, normalizing["mode"], readers, seen, limits
            ):
                records[source] += 1
                if isinstance(record, Malformed):
                    bad[source] += 1
                    logging.warning("%s:%d: %s", path, record.line, record.reason)
                    continue
                digests.append(hashlib.sha256(record.text).digest())
            refuse_changed(file)
    for source in bad:
        most = max_malformed_fraction[source]
        if fault := too_many_malformed(source, bad[source], records[source], most):
            raise ValueError(
                f"held_out {fault} The log of this step lists them. Repair them, or raise the "
                "limit."
            )
    table = np.frombuffer(b"".join(digests), np.uint8).reshape(-1, 32)
    save_array(held_out, gathered([table], [np.full(len(table), EVALUATION, np.uint8)]))
    save_json(counts, {"texts": len(table), "files": [one.told() for one in of_files]})
    logging.info("%d texts of %d files held out", len(table), len(files))


if __name__ == "__main__":
    run(evaluation)
