"""Sizes of clusters, each a kept document with all documents that were dropped for it.

The bins are fixed, so that counts of all jobs add up.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

LEAST = [2, 3, 4, 5, 6, *(first * 10**power + 1 for power in range(1, 18) for first in (1, 2, 5))]
"""Smallest cluster size of each bin: 2, 3, 4, 5, 6 to 10, 11 to 20, 21 to 50, 51 to 100 and so
on."""

Bin = dict[str, int]
"""`least`, `most`: the smallest and largest cluster size of the bin. `clusters`, `documents`: the
number of clusters, and of documents in them."""


def cluster_sizes(winners: "np.ndarray") -> list[Bin]:
    """Return the non-empty bins. winners: of each dropped document of complete clusters."""
    import numpy as np  # here, as small steps only need `added`

    sizes = np.unique(winners, return_counts=True)[1] + 1
    places = np.searchsorted(LEAST, sizes, "right") - 1
    return [
        {
            "least": LEAST[place],
            "most": LEAST[place + 1] - 1,
            "clusters": int((places == place).sum()),
            "documents": int(sizes[places == place].sum()),
        }
        for place in np.unique(places)
    ]


def added(counts: Iterable[list[Bin]]) -> list[Bin]:
    found: dict[int, Bin] = {}
    for bin in (bin for bins in counts for bin in bins):
        whole = found.setdefault(bin["least"], bin | {"clusters": 0, "documents": 0})
        whole["clusters"] += bin["clusters"]
        whole["documents"] += bin["documents"]
    return [found[least] for least in sorted(found)]
