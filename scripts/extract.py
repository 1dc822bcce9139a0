"""Bring the documents of a block of parts that are in pairs, and their pairs, to their bins."""

import logging
from pathlib import Path

import numpy as np

from corpusmill.dedup.edges import edges_from
from corpusmill.dedup.extracts import write_extract
from corpusmill.dedup.order import Preference, order_of_part
from corpusmill.documents.ids import ROW_BITS, dense_numbers, ids_of_part
from corpusmill.run.job import this_job
from corpusmill.run.progress import phase
from corpusmill.storage.arrays import load_array, save_array
from corpusmill.storage.files import file_sha256, load_json, replacing, save_json


def extract(
    texts: list[Path],
    verdicts: list[Path],
    labels: Path,
    starts: Path,
    pairs: Path,
    first: int,
    bins: int,
    preference: Preference,
    data: Path,
    index: Path,
    edges: Path,
    edge_starts: Path,
    counts: Path,
) -> None:
    """texts, verdicts: of the block's parts, the first of which has the number `first`."""
    part_starts, of_documents = load_array(starts), load_array(labels)
    offsets = np.zeros((len(texts), bins + 1), np.uint64)
    last = first + len(texts)
    total = int(part_starts[last] - part_starts[first])
    with (
        replacing(data) as temporary,
        open(temporary, "wb") as file,
        phase("extracting", total, "documents") as progress,
    ):
        for k, (text, verdict) in enumerate(zip(texts, verdicts, strict=True)):
            part = first + k
            mine = np.array(of_documents[part_starts[part] : part_starts[part + 1]])
            order = order_of_part(verdict, part, preference)
            offsets[k] = write_extract(
                file, text, ids_of_part(part, mine.size), order, mine, bins, progress.advance
            )
    save_array(index, offsets)
    files = [Path(bucket["file"]) for bucket in load_json(pairs)["parts"]]
    found = edges_from(files, first << ROW_BITS, last << ROW_BITS)
    bin = (of_documents[dense_numbers(found["a"], part_starts)] - 1) >> 1
    order = np.argsort(bin, kind="stable")
    save_array(edges, found[order])
    save_array(edge_starts, np.searchsorted(bin[order], np.arange(bins + 1)))
    save_json(
        counts,
        {
            "data": str(data),
            "index": str(index),
            "edges": str(edges),
            "edge_starts": str(edge_starts),
            "sha256": file_sha256(data),
            "edges_sha256": file_sha256(edges),
        },
    )
    logging.info("%d pairs of %d parts brought to %d bins", len(found), len(texts), bins)


if __name__ == "__main__":
    with this_job() as job:
        extract(
            texts=job.input.texts,
            verdicts=job.input.verdicts,
            labels=job.input.labels,
            starts=job.input.starts,
            pairs=job.input.pairs,
            first=job.params.first,
            bins=job.params.bins,
            preference=Preference(**job.params.preference),
            data=job.output.data,
            index=job.output.index,
            edges=job.output.edges,
            edge_starts=job.output.edge_starts,
            counts=job.output.counts,
        )
