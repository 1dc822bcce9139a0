"""Collect what the mixture needs to know about the documents of a block of parts."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from corpusmill.mill.decide.candidates import as_labels, as_numbers, labels_of, save_candidates
from corpusmill.mill.decide.decided import load_candidates
from corpusmill.mill.decide.mixture import DUPLICATE_SOURCES, DUPLICATES, Mixture
from corpusmill.mill.dedup.winners import clusters_of_part
from corpusmill.mill.read.ids import ids_of_part
from corpusmill.mill.storage.arrays import load_array
from corpusmill.mill.storage.files import content_digest, save_json
from corpusmill.mill.storage.tables import load_column, load_table
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


class Known(NamedTuple):
    """What is known of a block of parts. Lists have a file per part."""

    measures: list[Path]
    verdicts: list[Path]
    assigned: list[Path]
    marks: Path
    token_starts: list[Path]
    """None if the budget is not in tokens."""


def weigh(
    known: Known,
    resolved: list[Path],
    first_part: int,
    mixture: Mixture,
    candidates: Path,
    counts: Path,
) -> None:
    """resolved: the reports of all bins. first_part: number of the block's first part."""
    labels: dict[str, set[str]] = {name: set() for name in mixture.labels}
    documents = 0

    def of_parts() -> Iterator[pa.Table]:
        nonlocal documents
        with phase("collecting", len(known.measures), "parts") as progress:
            for place, measures in enumerate(known.measures):
                part = first_part + place
                decisions = known.verdicts[place], known.assigned[place], known.marks
                rows = load_candidates(*decisions, part)
                starts = load_array(known.token_starts[place]) if known.token_starts else None
                table = part_table(measures, rows, part, mixture, starts, resolved)
                for name, found in labels_of(table, mixture.labels).items():
                    labels[name] |= found
                documents += table.num_rows
                yield table
                progress.advance(1)

    save_candidates(candidates, mixture, of_parts())
    save_json(
        counts,
        {
            "documents": documents,
            "labels": {name: sorted(found) for name, found in labels.items()},
            "file": str(candidates),
            "digest": content_digest(candidates),
        },
    )
    logging.info("%d candidates", documents)


def part_table(
    measures: Path,
    rows: np.ndarray,
    part: int,
    mixture: Mixture,
    token_starts: np.ndarray | None,
    resolved: list[Path],
) -> pa.Table:
    """Return the table of a part. rows: the documents that could be in train."""
    chosen = pa.array(rows)
    (text_bytes,) = load_table(measures, "text_bytes")
    sizes = np.ones(rows.size, np.int64)
    if mixture.unit == "bytes":
        sizes = text_bytes[rows].astype(np.int64)
    elif token_starts is not None:
        sizes = np.diff(token_starts.astype(np.int64))[rows]
    columns = {
        "id": ids_of_part(part, text_bytes.size)[rows],
        "size": sizes,
        "source": load_column(measures, "source").cast(pa.string()).take(chosen),
    }
    names = (*mixture.labels, *mixture.numbers)
    of_clusters = {}
    if {DUPLICATES, DUPLICATE_SOURCES} & set(names):
        clusters = clusters_of_part(resolved, part, text_bytes.size)
        of_clusters = {DUPLICATES: clusters.documents, DUPLICATE_SOURCES: clusters.sources}
    for name in names:
        if name in of_clusters:
            columns[name] = pa.array(of_clusters[name][rows])
        else:
            columns[name] = load_column(measures, name).take(chosen)
        convert = as_labels if name in mixture.labels else as_numbers
        columns[name] = convert(columns[name])
    return pa.table(columns)


if __name__ == "__main__":
    run(weigh)
