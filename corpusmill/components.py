"""Groups of duplicates: connected components of the pairs, and who of each is kept."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from corpusmill.document_ids import ROW_BITS, ROW_MASK
from corpusmill.files import load_array
from corpusmill.kernels.components import elect, flatten, join_pairs
from corpusmill.progress import phase

BLOCK_PAIRS = 1 << 22


def pair_blocks(files: Iterable[Path]) -> Iterable[np.ndarray]:
    """The pairs of all files, a bounded block at a time."""
    arrays = [load_array(file) for file in files]
    with phase("joining pairs", sum(len(pairs) for pairs in arrays), "pairs") as progress:
        for pairs in arrays:
            for start in range(0, len(pairs), BLOCK_PAIRS):
                block = np.ascontiguousarray(pairs[start : start + BLOCK_PAIRS])
                yield block
                progress.advance(len(block))


def union_find(blocks: Iterable[np.ndarray], part_starts: np.ndarray) -> np.ndarray:
    """The least member of each document's component, by dense numbers.

    part_starts: int64 (parts + 1,), the dense number of each part's first row, then the total.
    """
    documents = int(part_starts[-1])
    parent = np.arange(documents, dtype=np.uint32 if documents < 1 << 32 else np.uint64)
    for block in blocks:
        join_pairs(block, part_starts, parent)
    flatten(parent)
    return parent


def networkit(blocks: Iterable[np.ndarray], part_starts: np.ndarray) -> np.ndarray:
    """The same answer by networkit, which holds the whole graph in memory."""
    import networkit as nk

    documents = int(part_starts[-1])
    graph = nk.Graph(documents)
    for block in blocks:
        part, row = block >> np.uint64(ROW_BITS), block & np.uint64(ROW_MASK)
        ends = part_starts[part.astype(np.int64)] + row.astype(np.int64)
        graph.addEdges((ends[:, 0].copy(), ends[:, 1].copy()), addMissing=False)
    found = nk.components.ConnectedComponents(graph)
    found.run()
    roots = np.arange(documents, dtype=np.int64)
    for component in found.getComponents():
        if len(component) > 1:
            roots[component] = min(component)
    return roots


ENGINES: dict[str, Callable] = {"union_find": union_find, "networkit": networkit}


class Candidates(NamedTuple):
    """What the election of one part's documents looks at; the least `worse` wins."""

    worse: np.ndarray  # uint64: filter verdict, then the source's rank
    sizes: np.ndarray  # uint64: the longer text wins among equals


def winners_of(
    roots: np.ndarray, part_starts: np.ndarray, candidates: Callable[[int], Candidates]
) -> np.ndarray:
    """int64 (documents,): who is kept of each document's component, by dense numbers.

    candidates(part): called once for every part, in order. Ties go to the least document id.
    """
    numbers = np.arange(roots.size, dtype=roots.dtype)
    heads = np.unique(roots[roots != numbers])  # components of two or more, by least member
    best = np.zeros((heads.size, 2), np.uint64)
    elected = np.full(heads.size, -1, np.int64)
    winners = np.arange(roots.size, dtype=np.int64)
    if heads.size == 0:
        return winners

    def members(part: int) -> tuple[np.ndarray, np.ndarray]:
        start, stop = part_starts[part], part_starts[part + 1]
        places = np.searchsorted(heads, roots[start:stop])
        places[places == heads.size] = 0
        grouped = np.flatnonzero(heads[places] == roots[start:stop])
        return start + grouped, places[grouped]

    parts = part_starts.size - 1
    with phase("electing", parts, "parts") as progress:
        for part in range(parts):
            numbers_of_part, components = members(part)
            if numbers_of_part.size:
                rows = numbers_of_part - part_starts[part]
                worse, sizes = candidates(part)
                elect(numbers_of_part, components, worse[rows], sizes[rows], best, elected)
            progress.advance(1)
    for part in range(parts):
        numbers_of_part, components = members(part)
        winners[numbers_of_part] = elected[components]
    return winners


def as_ids(numbers: np.ndarray, part_starts: np.ndarray) -> np.ndarray:
    """Document ids (uint64) of dense numbers."""
    parts = np.searchsorted(part_starts, numbers, "right") - 1
    rows = numbers - part_starts[parts]
    return parts.astype(np.uint64) << np.uint64(ROW_BITS) | rows.astype(np.uint64)
