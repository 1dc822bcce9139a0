"""Describe the largest groups of duplicates for users: their shape and their texts."""

import numpy as np

from corpusmill.mill.dedup.components import roots_among
from corpusmill.mill.dedup.edges import STAGES
from corpusmill.mill.dedup.extracts import Extract
from corpusmill.mill.dedup.resolution import Graph, Resolution, neighbours_of

LARGEST = 5
"""Number of groups to describe per bin."""

SAMPLED_PAIRS = 5
SHARED_CHARS = 2000
"""Number of characters, from the start of each text, that are searched for a shared passage."""

SHOWN_CHARS = 300
"""Number of characters that the run's page shows of each text of the first sampled pair."""


def _distances(members: np.ndarray, graph: Graph, resolution: Resolution) -> dict:
    """Return the density of a group, and its members' distances from the best one in pairs."""
    inside = np.isin(graph.one, members)
    # A pair that shares several band keys occurs several times (method sketch).
    pairs = np.unique(np.column_stack([graph.one[inside], graph.other[inside]]), axis=0)
    first, neighbours, _ = neighbours_of(members.size, *np.searchsorted(members, pairs).T)
    steps = np.full(members.size, -1)
    reached, step = np.argsort(graph.sequence)[members].argmin(keepdims=True), 0
    while reached.size:
        steps[reached] = step
        step += 1
        near = [neighbours[first[one] : first[one + 1]] for one in reached.tolist()]
        reached = np.unique(np.concatenate(near))
        reached = reached[steps[reached] < 0]
    return {
        "pairs": len(pairs),
        "density": round(2 * len(pairs) / (members.size * (members.size - 1)), 6),
        "steps_from_best": {"mean": round(float(steps.mean()), 2), "greatest": int(steps.max())},
        "kept": int((resolution.winner[members] == members).sum()),
    }


def _text(extract: Extract, document: int) -> str:
    begin, stop = extract.texts.offsets[document : document + 2]
    return bytes(extract.texts.data[begin:stop]).decode("utf-8")[:SHARED_CHARS]


def longest_shared(a: str, b: str) -> str:
    """Return the longest passage of `a` that `b` has too, the first of several.

    As difflib.SequenceMatcher.find_longest_match, which takes five times as long or more.
    """
    shared, more = "", min(len(a), len(b)) + 1
    # If no passage of some length is shared, no longer one is.
    while (length := (len(shared) + more) // 2) > len(shared):
        of_b = {b[start : start + length] for start in range(len(b) - length + 1)}
        of_a = (a[start : start + length] for start in range(len(a) - length + 1))
        found = next((passage for passage in of_a if passage in of_b), None)
        if found is None:
            more = length
        else:
            shared = found
    return shared


def _compared(extract: Extract, graph: Graph, one: int, other: int) -> dict:
    """Return the starts of two texts and the longest passage they share; "" if not extracted."""
    a, b = (_text(extract, graph.example[text]) for text in (one, other))
    return {
        "starts": [a[:SHOWN_CHARS], b[:SHOWN_CHARS]],
        "shared": longest_shared(a, b),
    }


def largest_groups(
    extract: Extract, graph: Graph, resolution: Resolution, dropped: np.ndarray
) -> list[dict]:
    """Return the groups of the bin with most texts, and those with most documents.

    A group is a connected component of pairs that may be similar. Copies of a text count as one
    text. A group from which no document is dropped is one, too. dropped: from dropped_documents.
    """
    texts = graph.example.size
    roots = roots_among(texts, graph.one, graph.other)
    sizes = np.bincount(roots, minlength=texts)
    documents = np.bincount(roots[graph.text_of], minlength=texts)
    group_of = roots[graph.text_of[np.searchsorted(extract.ids, dropped["id"])]]
    chosen = [np.lexsort((np.arange(texts), -counts))[:LARGEST] for counts in (sizes, documents)]
    groups = []
    for root in dict.fromkeys(np.concatenate(chosen).tolist()):
        if documents[root] < 2:
            continue
        mine = np.flatnonzero(group_of == root)
        members = np.flatnonzero(roots == root)
        if mine.size:
            sample = dropped[mine[np.linspace(0, mine.size - 1, SAMPLED_PAIRS).astype(int)]]
            pair = graph.text_of[
                np.searchsorted(extract.ids, [sample[0]["id"], sample[0]["winner"]])
            ]
        else:
            sample = dropped[:0]
            edge = int(np.argmax(roots[graph.one] == root))
            pair = np.array([graph.one[edge], graph.other[edge]])
        groups.append(
            {
                "texts": int(sizes[root]),
                "documents": int(documents[root]),
                **(_distances(members, graph, resolution) if members.size > 1 else {}),
                "sample": [
                    {
                        "id": id,
                        "winner": winner,
                        "similarity": None if np.isnan(similarity) else round(similarity, 4),
                        "stage": STAGES[stage],
                    }
                    for id, winner, similarity, stage in dict.fromkeys(sample.tolist())
                ],
                **_compared(extract, graph, *pair.tolist()),
            }
        )
    return groups
