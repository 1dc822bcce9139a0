"""Choose which documents of one bin to keep, and for which of them each other one is dropped."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from corpusmill.kernels import similarity as similarities
from corpusmill.kernels.similarity import measure_pairs, resolve_kept
from corpusmill.mill.dedup.components import roots_among
from corpusmill.mill.dedup.edges import (
    BY_BAND,
    BY_CHAIN,
    BY_DIGEST,
    BY_SHINGLES,
    BY_SKETCH,
    DROPPED,
    IDENTICAL,
    SAME_KEY,
    WINNERS,
    Similarity,
    certain_matches,
)
from corpusmill.mill.dedup.extracts import Extract
from corpusmill.mill.dedup.order import best_first
from corpusmill.mill.read.unicode_tables import character_table


class ResolveSetting(NamedTuple):
    """The settings of resolution: config section `dedup`, and the shingle width."""

    resolve: str  # kept or component
    threshold: float
    enough: int  # equal sketch values that decide a pair
    permutations: int
    shingle_chars: int

    @classmethod
    def of(cls, similarity: Similarity, **keys: Any) -> Self:
        _, enough = certain_matches(similarity.permutations, similarity.threshold)
        return cls(enough=enough, **similarity._asdict(), **keys)


class Graph(NamedTuple):
    """The different texts of a bin and the pairs among them."""

    text_of: np.ndarray  # int64 (documents,): which text each document has
    root: np.ndarray  # int64 (texts,): the least document with the text, ascending
    example: np.ndarray  # int64 (texts,): the least document of each
    best: np.ndarray  # int64 (texts,): the best document of each
    sequence: np.ndarray  # int64 (texts,): the texts from best to worst
    one: np.ndarray  # int64 (pairs,): texts
    other: np.ndarray
    matches: np.ndarray  # as in EDGE


class Resolution(NamedTuple):
    """The outcome, by texts."""

    winner: np.ndarray  # int64 (texts,): the text it is dropped for, or itself
    similarity: np.ndarray  # float64, of the two
    stage: np.ndarray  # uint8
    measured: int  # pairs whose shingles were compared


def graph_of(extract: Extract, exact: Sequence[int] = ()) -> Graph:
    """Return the graph of a bin, in which documents with equal digests are one text.

    exact: sources that are compared only with equal texts. Their documents of a text are another
    text with the same root, just after that of the other documents.
    """
    documents = extract.ids.size
    one = np.searchsorted(extract.ids, extract.edges["a"])
    other = np.searchsorted(extract.ids, extract.edges["b"])
    identical = extract.edges["matches"] == IDENTICAL
    roots = roots_among(documents, one[identical], other[identical])
    halves, example, text_of = np.unique(
        2 * roots + np.isin(extract.sources, exact), return_index=True, return_inverse=True
    )
    sequence = best_first(extract.order, extract.ids)
    _, first_place = np.unique(text_of[sequence], return_index=True)
    # Equal texts may also share a band key (method sketch).
    between = ~identical & (text_of[one] != text_of[other])
    return Graph(
        text_of,
        halves // 2,
        example,
        sequence[first_place],
        np.argsort(first_place),
        text_of[one[between]],
        text_of[other[between]],
        extract.edges["matches"][between],
    )


def _texts(extract: Extract, graph: Graph, setting: ResolveSetting) -> similarities.Texts:
    """Return the different texts in the form that kernels take."""
    offsets = extract.texts.offsets
    return similarities.Texts(
        extract.texts.data, offsets[graph.example], offsets[graph.example + 1],
        character_table(), setting.shingle_chars,
    )  # fmt: skip


def neighbours_of(
    nodes: int, one: np.ndarray, other: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return `first`, `neighbours` and `pairs`: node n has neighbours[first[n]:first[n + 1]].

    pairs: the number of the pair that makes each one a neighbour.
    """
    ends = np.concatenate([one, other])
    order = np.argsort(ends, kind="stable")
    first = np.searchsorted(ends[order], np.arange(nodes + 1))
    return first, np.concatenate([other, one])[order], order % max(one.size, 1)


def kept_resolution(extract: Extract, graph: Graph, setting: ResolveSetting) -> Resolution:
    """Resolve from best to worst: drop a text only if it is similar to a kept one."""
    texts = graph.example.size
    winner = np.empty(texts, np.int64)
    similarity, compared = np.ones(texts), np.zeros(texts, bool)
    component = roots_among(texts, graph.one, graph.other)
    place = np.argsort(graph.sequence)
    first, neighbours, pairs = neighbours_of(texts, graph.one, graph.other)
    both_ways = similarities.Graph(
        np.lexsort((place, component)), component, place, first, neighbours,
        graph.matches[pairs].astype(np.int64),
    )  # fmt: skip
    measured = resolve_kept(
        both_ways,
        (setting.enough, setting.permutations, float(setting.threshold)),
        _texts(extract, graph, setting),
        (winner, similarity, compared),
    )
    stage = np.where(compared, BY_SHINGLES, BY_SKETCH).astype(np.uint8)
    return Resolution(winner, similarity, stage, measured)


def component_resolution(extract: Extract, graph: Graph, setting: ResolveSetting) -> Resolution:
    """Drop every text of a connected component except the best."""
    texts = graph.example.size
    similarity = np.where(
        graph.matches == SAME_KEY, np.nan, graph.matches / max(setting.permutations, 1)
    )
    stage = np.where(graph.matches == SAME_KEY, BY_BAND, BY_SKETCH).astype(np.uint8)
    open_pairs = np.flatnonzero(graph.matches < setting.enough)
    values = np.empty(open_pairs.size)
    pairs = np.column_stack([graph.one[open_pairs], graph.other[open_pairs]])
    measure_pairs(pairs, setting.threshold, _texts(extract, graph, setting), values)
    similarity[open_pairs], stage[open_pairs] = values, BY_SHINGLES
    similar = ~(similarity < setting.threshold)
    one, other = graph.one[similar], graph.other[similar]
    roots = roots_among(texts, one, other)
    best = np.empty(texts, np.int64)
    best[roots[graph.sequence[::-1]]] = graph.sequence[::-1]  # the last assignment wins
    winner = best[roots]
    # For direct pairs with the winner, similarity and stage are known, not just the chain.
    found = np.full(texts, np.nan), np.full(texts, BY_CHAIN, np.uint8)
    for text, with_whom in ((one, other), (other, one)):
        direct = winner[text] == with_whom
        found[0][text[direct]] = similarity[similar][direct]
        found[1][text[direct]] = stage[similar][direct]
    return Resolution(winner, *found, open_pairs.size)


RESOLUTIONS = {"kept": kept_resolution, "component": component_resolution}


def winners_of(extract: Extract, dropped: np.ndarray) -> np.ndarray:
    """Return WINNERS, by ascending id. dropped: DROPPED."""
    ids, cluster, counts = np.unique(dropped["winner"], return_inverse=True, return_counts=True)
    members = np.searchsorted(extract.ids, np.concatenate([ids, dropped["id"]]))
    clusters = np.concatenate([np.arange(ids.size), cluster]).astype(np.uint64)
    both = np.unique(clusters << np.uint64(32) | extract.sources[members])
    found = np.empty(ids.size, WINNERS)
    found["id"], found["dropped"] = ids, counts
    found["sources"] = np.bincount((both >> np.uint64(32)).astype(np.int64), minlength=ids.size)
    return found


def dropped_documents(extract: Extract, graph: Graph, resolution: Resolution) -> np.ndarray:
    """Return DROPPED, by ascending id: every document that is not kept.

    If a text is kept, its best document is kept, and the others are dropped for it. Otherwise all
    its documents are dropped for the winner of the text.
    """
    winner = graph.best[resolution.winner[graph.text_of]]
    rows = np.flatnonzero(winner != np.arange(extract.ids.size))
    text = graph.text_of[rows]
    stays = resolution.winner[text] == text
    dropped = np.empty(rows.size, DROPPED)
    dropped["id"] = extract.ids[rows]
    dropped["winner"] = extract.ids[winner[rows]]
    dropped["similarity"] = np.where(stays, 1, resolution.similarity[text])
    dropped["stage"] = np.where(stays, BY_DIGEST, resolution.stage[text])
    return dropped
