"""Groups of duplicates: connected components of the pairs, and who of each is kept."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from corpusmill.document_ids import ROW_BITS, ROW_MASK, ids_of_part
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
) -> Iterator[np.ndarray]:
    """Part by part, uint64 (rows,): the id of the document that is kept of each row's component.

    candidates(part): called once for every part that has a row in a component of two or more, in
    order. Ties go to the least document id. Holds 24 bytes per such component beside `roots`.
    """
    parts = part_starts.size - 1

    def rows_of(part: int) -> np.ndarray:
        return roots[part_starts[part] : part_starts[part + 1]]

    def numbers_of(part: int) -> np.ndarray:
        return np.arange(part_starts[part], part_starts[part + 1])

    # Components of two or more, by their least member: whoever has another root names one.
    named = [np.unique(rows_of(part)[rows_of(part) != numbers_of(part)]) for part in range(parts)]
    heads = np.unique(np.concatenate([*named, roots[:0]]))
    best = np.zeros((heads.size, 2), np.uint64)
    elected = np.full(heads.size, -1, np.int64)

    def members(part: int) -> tuple[np.ndarray, np.ndarray]:
        """Which rows of the part are in such a component, and the places of these in `heads`."""
        if heads.size == 0:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        places = np.minimum(np.searchsorted(heads, rows_of(part)), heads.size - 1)
        rows = np.flatnonzero(heads[places] == rows_of(part))
        return rows, places[rows]

    with phase("electing", parts, "parts") as progress:
        for part in range(parts):
            rows, components = members(part)
            if rows.size:
                worse, sizes = candidates(part)
                stands = part_starts[part] + rows
                elect(stands, components, worse[rows], sizes[rows], best, elected)
            progress.advance(1)
    ids = as_ids(elected, part_starts)
    for part in range(parts):
        winners = ids_of_part(part, rows_of(part).size)
        rows, components = members(part)
        winners[rows] = ids[components]
        yield winners


def as_ids(numbers: np.ndarray, part_starts: np.ndarray) -> np.ndarray:
    """Document ids (uint64) of dense numbers."""
    parts = np.searchsorted(part_starts, numbers, "right") - 1
    rows = numbers - part_starts[parts]
    return parts.astype(np.uint64) << np.uint64(ROW_BITS) | rows.astype(np.uint64)
