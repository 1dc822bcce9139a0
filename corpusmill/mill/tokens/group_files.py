"""The files that say the group of every document of a split: its source and its cell.

Without compiled code, as trainers read them too. docs/reference/formats.md describes them.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from corpusmill.mill.storage.untrusted import is_count

NUMBERS, LEGEND = "groups.npy", "groups.json"
NAMES = (NUMBERS, LEGEND)
DTYPE = np.dtype("<u4")
VERSION = 1


class GroupFiles(NamedTuple):
    """The files of one split."""

    numbers: Path
    """uint32 (documents,): the group of each document of the split, in the order of the shards."""
    legend: Path


class Group(NamedTuple):
    """Documents of one source and one cell of the mixture."""

    source: str
    cell: tuple[str, ...] | None
    """None: without a mixture, and for validation and test."""
    documents: int
    tokens: int

    def told(self) -> dict[str, Any]:
        cell = None if self.cell is None else list(self.cell)
        return self._asdict() | {"cell": cell}


def legend_of(groups: list[Group], by: list[str], sha256: str) -> dict[str, Any]:
    """Return the legend as JSON. by: the entries of `mixture.by`. sha256: of the numbers."""
    return {
        "corpusmill.groups": VERSION,
        "by": by,
        "groups": [group.told() for group in groups],
        "sha256": sha256,
    }


def groups_of(legend: Any, where: str, documents: int) -> list[Group]:
    """Return the groups of a legend, which may come from anywhere. documents: of the split."""
    try:
        if legend["corpusmill.groups"] != VERSION:
            raise ValueError(f"version {legend['corpusmill.groups']!r:.40}")
        groups = [
            Group(one["source"], one["cell"] if one["cell"] is None else tuple(one["cell"]),
                  one["documents"], one["tokens"])
            for one in legend["groups"]
        ]  # fmt: skip
        names = [name for group in groups for name in (group.source, *(group.cell or ()))]
        if not all(type(name) is str for name in names):
            raise ValueError("names that are not text")
        if not all(is_count(one) for group in groups for one in group[2:]):
            raise ValueError("counts that are not whole numbers")
        if (total := sum(group.documents for group in groups)) != documents:
            raise ValueError(f"{total} documents instead of {documents}")
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise ValueError(
            f"{where}: expected the sources and cells of this split, found something else "
            f"({error}). Copy the file again, or mill the corpus again."
        ) from None
    return groups
