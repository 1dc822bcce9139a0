"""Connected components of the edges: documents that may be duplicates, maybe indirectly."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from corpusmill.kernels.components import flatten, join_numbers, join_pairs
from corpusmill.mill.read.ids import dense_numbers, mixed


def union_find(blocks: Iterable[np.ndarray], part_starts: np.ndarray) -> np.ndarray:
    """Return the least member of each document's component, by dense numbers.

    blocks: uint64 (pairs, 2) of document ids.
    """
    documents = int(part_starts[-1])
    parent = np.arange(documents, dtype=np.uint32 if documents < 1 << 32 else np.uint64)
    for block in blocks:
        join_pairs(block, part_starts, parent)
    flatten(parent)
    return parent


def networkit(blocks: Iterable[np.ndarray], part_starts: np.ndarray) -> np.ndarray:
    """Return the same as union_find, by networkit, which holds the whole graph in memory."""
    import networkit as nk

    documents = int(part_starts[-1])
    graph = nk.Graph(documents)
    for block in blocks:
        ends = dense_numbers(block, part_starts)
        graph.addEdges((ends[:, 0].copy(), ends[:, 1].copy()), addMissing=False)
    found = nk.components.ConnectedComponents(graph)
    found.run()
    roots = np.arange(documents, dtype=np.int64)
    for component in found.getComponents():
        if len(component) > 1:
            roots[component] = min(component)
    return roots


ENGINES: dict[str, Callable] = {"union_find": union_find, "networkit": networkit}


def roots_of(blocks: Iterable[np.ndarray], part_starts: np.ndarray, engine: str) -> np.ndarray:
    """Return int64 (documents,): the least member of the component of each document.

    blocks: pairs of ids. engine: of ENGINES.
    """
    return ENGINES[engine](blocks, part_starts)


def roots_among(nodes: int, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return int64 (nodes,): the least member of the component of each of a few nodes."""
    parent = np.arange(nodes)
    join_numbers(one.astype(np.int64), other.astype(np.int64), parent)
    flatten(parent)
    return parent


BLOCK_DOCUMENTS = 1 << 20


def document_blocks(documents: int) -> Iterator[slice]:
    """Yield all documents in bounded blocks of dense numbers."""
    for start in range(0, documents, BLOCK_DOCUMENTS):
        yield slice(start, min(start + BLOCK_DOCUMENTS, documents))


def paired(roots: np.ndarray) -> np.ndarray:
    """Return bool (documents,): whether the document's component has other members."""
    found = np.zeros(roots.size, bool)
    for block in document_blocks(roots.size):
        joined = roots[block] != np.arange(block.start, block.stop)
        found[block] |= joined
        found[roots[block][joined]] = True
    return found


def bins_of(
    roots: np.ndarray, in_pair: np.ndarray, needs_text: np.ndarray, bins: int
) -> np.ndarray:
    """Return uint32 (documents,): 1 + 2 * bin + needs_text, or 0 for a document without a pair.

    The bin is a hash of the component's least member, so a component is in one bin. Any block of
    documents may be given. needs_text: whether the bin has to read the text.
    """
    labels = np.zeros(roots.size, np.uint32)
    bin = mixed(roots[in_pair].astype(np.uint64)) % np.uint64(bins)
    labels[in_pair] = 1 + 2 * bin + needs_text[in_pair]
    return labels
