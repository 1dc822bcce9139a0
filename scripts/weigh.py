"""Collect what the mixture needs to know about the documents of a block of parts."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from corpusmill.mill.decide.candidates import as_labels, as_numbers, names_in, save_candidates
from corpusmill.mill.decide.decided import load_candidates
from corpusmill.mill.decide.mixture import Stage, label_column, labels_of, numbers_of
from corpusmill.mill.dedup.document_values import document_values
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
    stages: list[Stage],
    candidates: Path,
    counts: Path,
) -> None:
    """resolved: the reports of all bins. first_part: number of the block's first part."""
    labels, numbers = labels_of(stages), numbers_of(stages)
    names: dict[str, set[str]] = {name: set() for name in labels}
    documents = 0

    def of_parts() -> Iterator[pa.Table]:
        nonlocal documents
        with phase("collecting", len(known.measures), "parts") as progress:
            for place, measures in enumerate(known.measures):
                part = first_part + place
                decisions = known.verdicts[place], known.assigned[place], known.marks
                rows = load_candidates(*decisions, part)
                starts = load_array(known.token_starts[place]) if known.token_starts else None
                sizes = Sizes(stages[0].mixture.unit, starts)
                table = part_table(measures, rows, part, sizes, labels, numbers, resolved)
                for name, found in names_in(table, labels).items():
                    names[name] |= found
                documents += table.num_rows
                yield table
                progress.advance(1)

    save_candidates(candidates, labels, numbers, of_parts())
    save_json(
        counts,
        {
            "documents": documents,
            "labels": {name: sorted(found) for name, found in names.items()},
            "file": str(candidates),
            "digest": content_digest(candidates),
        },
    )
    logging.info("%d candidates", documents)


class Sizes(NamedTuple):
    """How the documents of a part are measured."""

    unit: str
    token_starts: np.ndarray | None

    def of(self, rows: np.ndarray, text_bytes: np.ndarray) -> np.ndarray:
        """Return int64: the size of some documents."""
        if self.token_starts is not None:
            return np.diff(self.token_starts.astype(np.int64))[rows]
        if self.unit == "bytes":
            return text_bytes[rows].astype(np.int64)
        return np.ones(rows.size, np.int64)


def part_table(
    measures: Path,
    rows: np.ndarray,
    part: int,
    sizes: Sizes,
    labels: list[str],
    numbers: list[str],
    resolved: list[Path],
) -> pa.Table:
    """Return the table of a part. rows: the documents that could be in train."""
    chosen = pa.array(rows)
    (text_bytes,) = load_table(measures, "text_bytes")
    values = document_values(measures, resolved, part, text_bytes.size, {*labels, *numbers})
    return pa.table(
        {
            "id": ids_of_part(part, text_bytes.size)[rows],
            "size": sizes.of(rows, text_bytes),
            "source": load_column(measures, "source").cast(pa.string()).take(chosen),
            **{label_column(name): as_labels(values[name].take(chosen)) for name in labels},
            **{name: as_numbers(values[name].take(chosen)) for name in numbers},
        }
    )


if __name__ == "__main__":
    run(weigh)
