"""Collect what the order needs to know about the documents of a block of parts."""

import logging
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from corpusmill.mill.decide.candidates import as_numbers
from corpusmill.mill.decide.curriculum import Arranging
from corpusmill.mill.decide.decided import BlockDecisions, load_decided
from corpusmill.mill.dedup.document_values import document_values
from corpusmill.mill.shuffle.arranging import SIZE, VALUE, save_values
from corpusmill.mill.storage.files import content_digest, save_json
from corpusmill.mill.storage.tables import load_table
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


def gauge(
    measures: list[Path],
    decisions: BlockDecisions,
    resolved: list[Path],
    first_part: int,
    arranging: Arranging,
    values: Path,
    counts: Path,
) -> None:
    """measures: of each part. resolved: the reports of all bins. first_part: number of the block's
    first part."""
    documents = 0

    def of_parts() -> Iterator[dict[str, np.ndarray]]:
        nonlocal documents
        with phase("collecting", len(measures), "parts") as progress:
            for place, files in enumerate(decisions.of_parts()):
                part, measured = first_part + place, measures[place]
                (text_bytes,) = load_table(measured, "text_bytes")
                documents += text_bytes.size
                columns = {SIZE: text_bytes.astype(np.int64) + 1}
                if arranging.curriculum:
                    name = arranging.curriculum.column
                    found = document_values(measured, resolved, part, text_bytes.size, {name})
                    columns[VALUE] = as_numbers(found[name]).to_numpy(zero_copy_only=False)
                yield columns | load_decided(files, part).copies
                progress.advance(1)

    save_values(values, first_part, arranging, of_parts())
    save_json(
        counts,
        {"documents": documents, "file": str(values), "digest": content_digest(values)},
    )
    logging.info("%d documents", documents)


if __name__ == "__main__":
    run(gauge)
