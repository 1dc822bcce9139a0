"""The fates of input records. Each record has exactly one.

Each filter of the run is a fate, with the filter's name. Every other fate is one entry of `FATES`,
which account, summary, reports, `why`, `verify` and docs read. To add one, add its entry here, with
the condition for it in `decides`. Then write docs/reference/filters.md anew.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np

KEPT = "kept"
MALFORMED = "malformed"
"""Fate of a record that cannot be read as a document. Such a record has no row and no id."""
DUPLICATE = "duplicate"
FEW_SOURCES = "few_sources"
NOT_SAMPLED = "not_sampled"
CONTAMINATED = "contaminated"
LEFT_OVER = "left_over"

SPLITS = ("train", "validation", "test")
TRAIN = SPLITS[0]
STAGE_NAME = r"[a-z][a-z0-9_]{0,39}"
"""Pattern of the names of stages, each of which has shards in place of train."""


def in_order(splits: Iterable[str]) -> list[str]:
    """Return the names of splits that have shards, in order: train or its stages by name, then
    validation and test."""
    return sorted(splits, key=lambda split: (SPLITS.index(split) if split in SPLITS else 0, split))


class AtAssign(NamedTuple):
    """What the step `assign` knows: one value per document of a part."""

    ids: "np.ndarray"  # uint64
    winner: "np.ndarray"  # uint64: the document kept instead; its own id if there is none
    split: "np.ndarray"  # uint8: index in SPLITS
    copies: "np.ndarray"  # uint16: how often the weight of its source writes it
    agreed: "np.ndarray"  # bool: whether its cluster has documents of enough sources
    measured: "Callable[[str], np.ndarray]"
    """Loads a column of results/measures: `text_bytes`, or a value of a filter."""


class AtDecontaminate(NamedTuple):
    """What is known after the step `decontaminate`, or `mix`: one value per document of a part."""

    winner: "np.ndarray"  # uint64
    split: "np.ndarray"  # uint8
    copies: "np.ndarray"  # uint16
    held_out_by: "np.ndarray"  # uint8: key of ORIGINS if the text is held out, also in other splits


class Fate(NamedTuple):
    """A fate other than a filter."""

    name: str
    step: str
    """The rule of the workflow that decides this fate."""
    meaning: str
    """The description in the docs. `corpusmill why` prints it for fates without a text of their
    own."""
    heading: str = "{name} was dropped: {fate}."
    """Template for the first line of `corpusmill why`, filled with `Facts.words`."""
    in_list: str = "{reason}"
    """Template for an entry in a list of `corpusmill why`, filled with the same values."""
    is_compared: bool = True
    """Whether documents of this fate were compared to find duplicates."""
    decides: "Callable[[Any], np.ndarray] | None" = None
    """Returns bool (documents,): which documents get this fate, if no earlier fate applies. Takes
    `AtAssign`, or `AtDecontaminate` in later steps. None: the step has code of its own for it."""


FATES = {
    fate.name: fate
    for fate in (
        Fate(
            MALFORMED, "normalize",
            "The record cannot be read as a document. A malformed record gets no row number and "
            "no document id.",
            heading="{Place} is not a document: the record is malformed.",
            is_compared=False,
        ),
        Fate(
            DUPLICATE, "assign",
            "The document is a duplicate. A different document (its winner) is kept instead.",
            heading="{name} was dropped as a duplicate of document {winner}.",
            in_list="{stage}{similarity}, of {winner}",
            decides=lambda documents: documents.winner != documents.ids,
        ),
        Fate(
            FEW_SOURCES, "assign",
            "The document and its duplicates are of fewer sources than `dedup.min_sources`.",
            decides=lambda documents: ~documents.agreed,
        ),
        Fate(
            NOT_SAMPLED, "assign",
            "The source of the document has a weight below 1, and the document was not sampled.",
            decides=lambda documents: documents.copies == 0,
        ),
        Fate(
            CONTAMINATED, "decontaminate",
            "The document would be in train, but its text is identical to a held-out text (same "
            "SHA-256).",
            in_list="held out by {held_out_by}",
            decides=lambda documents: (
                (documents.held_out_by > 0) & (documents.split == SPLITS.index("train"))
            ),
        ),
        Fate(
            LEFT_OVER, "mix",
            "The document could be in train, but the mixture gave it no copy.",
            decides=lambda documents: (
                (documents.copies == 0) & (documents.split == SPLITS.index("train"))
            ),
        ),
        Fate(
            KEPT, "assign", "The document is in the corpus.",
            heading="{name} was kept: it is in {split}{often}.",
            in_list="{split}, {copies}",
        ),
    )
}  # fmt: skip
"""Fates by name, in the order in which they are decided. Filters decide before the fates with
`is_compared`."""


def fate_of(name: str) -> Fate:
    """Return a fate of the ledger by name; a name that is not in FATES is a filter."""
    of_filter = Fate(name, "filter", f"The filter {name} rejects it.", is_compared=False)
    return FATES.get(name, of_filter)


def uncompared_fates(filters: list[str]) -> list[str]:
    """Return the fates of records that were not compared to find duplicates.

    filters: the fates of the run's filters, in their order, here and below.
    """
    return [*(name for name, fate in FATES.items() if not fate.is_compared), *filters]


def dropping_fates(filters: list[str]) -> list[str]:
    """Return every fate that drops a record, in the order of decisions."""
    compared = [name for name, fate in FATES.items() if fate.is_compared and name != KEPT]
    return [*uncompared_fates(filters), *compared]
