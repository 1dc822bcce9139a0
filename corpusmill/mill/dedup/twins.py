"""Twins: equal texts, of which one is of sources that are compared by similarity, the other not.

Only the first has similar texts. So each resolves by itself, but one of the two is dropped.
"""

from typing import NamedTuple

import numpy as np

from corpusmill.mill.dedup.edges import BY_DIGEST
from corpusmill.mill.dedup.extracts import Extract
from corpusmill.mill.dedup.resolution import RESOLUTIONS, Graph, Resolution, ResolveSetting


class Twins(NamedTuple):
    """Pairs of texts."""

    near: np.ndarray  # int64 (twins,)
    exact: np.ndarray  # int64 (twins,)
    exact_first: np.ndarray  # bool (twins,): whether the exact one ranks higher

    @classmethod
    def of(cls, graph: Graph) -> "Twins":
        """Find the twins: texts of one root are adjacent, the near one first."""
        near = np.flatnonzero(graph.root[1:] == graph.root[:-1])
        place = np.empty(graph.root.size, np.int64)
        place[graph.sequence] = np.arange(place.size)
        return cls(near, near + 1, place[near + 1] < place[near])

    def without_outranked(self, graph: Graph) -> Graph:
        """Return the graph without the pairs of near texts whose twin ranks higher."""
        if not self.exact_first.any():
            return graph
        outranked = np.zeros(graph.root.size, bool)
        outranked[self.near[self.exact_first]] = True
        stay = ~(outranked[graph.one] | outranked[graph.other])
        return graph._replace(
            one=graph.one[stay], other=graph.other[stay], matches=graph.matches[stay]
        )

    def joined(self, found: Resolution) -> Resolution:
        """Drop one of each pair: the lower one, unless the near one is dropped for another text."""
        near, exact = self.near[self.exact_first], self.exact[self.exact_first]
        stays = ~self.exact_first & (found.winner[self.near] == self.near)
        for dropped, winner in ((near, exact), (self.exact[stays], self.near[stays])):
            found.winner[dropped], found.similarity[dropped] = winner, 1
            found.stage[dropped] = BY_DIGEST
        return found


def resolution_of(extract: Extract, graph: Graph, setting: ResolveSetting) -> Resolution:
    """Resolve the texts of a bin, and then the twins among them."""
    twins = Twins.of(graph)
    found = RESOLUTIONS[setting.resolve](extract, twins.without_outranked(graph), setting)
    return twins.joined(found)
