"""Collect, for each bin, the documents of a block of parts that are in pairs, and their pairs."""

import logging
from pathlib import Path
from typing import NamedTuple

import numpy as np

from corpusmill.mill.dedup.edges import edges_from
from corpusmill.mill.dedup.extracts import ExtractFiles, Known, write_extract
from corpusmill.mill.dedup.order import Preference, Ranked, order_of_part
from corpusmill.mill.dedup.policies import numbers_of_sources
from corpusmill.mill.read.ids import ROW_BITS, dense_numbers, ids_of_part
from corpusmill.mill.storage.arrays import StoredArray, load_array, save_array
from corpusmill.mill.storage.files import content_digest, load_listing, save_json, writing
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


class Parts(NamedTuple):
    """The parts of a block."""

    texts: list[Path]
    verdicts: list[Path]
    measures: list[Path]


class Groups(NamedTuple):
    """Outputs of `group`."""

    labels: Path
    starts: Path


def edges_by_bin(
    pairs: list[Path], parts: range, labels: StoredArray, part_starts: np.ndarray, bins: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of these parts' documents, sorted by bin, and the start of each bin."""
    files = [Path(bucket["file"]) for bucket in load_listing(pairs)]
    found = edges_from(files, parts.start << ROW_BITS, parts.stop << ROW_BITS)
    # The first document of a pair is in these parts.
    begin, end = int(part_starts[parts.start]), int(part_starts[parts.stop])
    bin = (labels[begin:end][dense_numbers(found["a"], part_starts) - begin] - 1) >> 1
    order = np.argsort(bin, kind="stable")
    return found[order], np.searchsorted(bin[order], np.arange(bins + 1))


def known_of_part(tables: Ranked, part: int, documents: int, preference: Preference) -> Known:
    return Known(
        ids_of_part(part, documents),
        order_of_part(tables, part, preference),
        numbers_of_sources(tables.measures, list(preference.weights)),
    )


def extract(
    of_parts: Parts,
    groups: Groups,
    pairs: list[Path],
    first_part: int,
    bins: int,
    preference: Preference,
    made: ExtractFiles,
) -> None:
    """first_part: the number of the first part of the block."""
    part_starts, of_documents = load_array(groups.starts), StoredArray.open(groups.labels)
    offsets = np.zeros((len(of_parts.texts), bins + 1), np.uint64)
    last = first_part + len(of_parts.texts)
    total = int(part_starts[last] - part_starts[first_part])
    with (
        writing(made.data) as file,
        phase("extracting", total, "documents") as progress,
    ):
        for k, (text, *tables) in enumerate(zip(*of_parts, strict=True)):
            part = first_part + k
            mine = np.array(of_documents[int(part_starts[part]) : int(part_starts[part + 1])])
            known = known_of_part(Ranked(*tables), part, mine.size, preference)
            offsets[k] = write_extract(file, text, known, mine, bins, progress.advance)
    save_array(made.index, offsets)
    found, edge_starts = edges_by_bin(
        pairs, range(first_part, last), of_documents, part_starts, bins
    )
    save_array(made.edges, found)
    save_array(made.edge_starts, edge_starts)
    save_json(
        made.counts,
        {
            "data": str(made.data),
            "index": str(made.index),
            "edges": str(made.edges),
            "edge_starts": str(made.edge_starts),
            "digest": content_digest(made.data),
            "edges_digest": content_digest(made.edges),
        },
    )
    logging.info("%d pairs of %d parts in %d bins", len(found), len(of_parts.texts), bins)


if __name__ == "__main__":
    run(extract)
