"""Group documents by their pairs, and divide the groups among bins, one job each."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from corpusmill.mill.dedup.components import bins_of, document_blocks, paired, roots_of
from corpusmill.mill.dedup.edges import Similarity, certain_matches, edge_blocks, undecided
from corpusmill.mill.read.ids import dense_numbers, starts_of_parts
from corpusmill.mill.storage.arrays import array_writer, save_array
from corpusmill.mill.storage.files import load_listing
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


def group(
    listing: list[Path],
    pairs: list[Path],
    similarity: Similarity,
    bins: int,
    components: dict[str, Any],
    labels: Path,
    starts: Path,
) -> None:
    """listing: the counts of all parts; pairs: the files of all pairs. components: keyword
    arguments of `roots_of`."""
    part_starts = starts_of_parts([part["documents"] for part in load_listing(listing)])
    found = load_listing(pairs)
    _, enough = certain_matches(similarity.permutations, similarity.threshold)
    needs_text = np.zeros(int(part_starts[-1]), bool)

    def blocks() -> Iterator[np.ndarray]:
        files = [Path(bucket["file"]) for bucket in found]
        with phase("joining pairs", sum(bucket["pairs"] for bucket in found), "pairs") as progress:
            for edges in edge_blocks(files, progress):
                ends = np.column_stack([edges["a"], edges["b"]])
                open_ends = ends[undecided(edges, enough)]
                needs_text[dense_numbers(open_ends.ravel(), part_starts)] = True
                yield ends

    roots = roots_of(blocks(), part_starts, **components)
    in_pair = paired(roots)
    with array_writer(labels, roots.shape, np.uint32) as append:
        for block in document_blocks(roots.size):
            append(bins_of(roots[block], in_pair[block], needs_text[block], bins))
    save_array(starts, part_starts)
    logging.info("%d documents, %d of them in pairs, %d texts to compare", roots.size,
                 in_pair.sum(), needs_text.sum())  # fmt: skip


if __name__ == "__main__":
    run(group)
