"""The fates of input records. Each record has exactly one.

Each filter of the run is a fate, with the filter's name. Every other fate is one entry of `FATES`,
which account, summary, reports, `why`, `verify` and docs read. To add one, add its entry here and
let a step decide it (`FateColumn.drop`).
"""

from typing import NamedTuple

KEPT = "kept"
MALFORMED = "malformed"
"""Fate of a record that cannot be read as a document. Such a record has no row and no id."""
DUPLICATE = "duplicate"
NOT_SAMPLED = "not_sampled"
CONTAMINATED = "contaminated"


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


FATES = {
    fate.name: fate
    for fate in (
        Fate(
            MALFORMED, "normalize",
            "The record cannot be read as a text. It gets no row and no document id.",
            heading="{Place} is not a document: the record is malformed.",
            is_compared=False,
        ),
        Fate(
            DUPLICATE, "assign",
            "The document is a duplicate. Another document, its winner, is kept instead.",
            heading="{name} was dropped as a duplicate of document {winner}.",
            in_list="{stage}{similarity}, of {winner}",
        ),
        Fate(
            NOT_SAMPLED, "assign",
            "Its source has a weight below 1, and the document is not in the sample.",
        ),
        Fate(
            CONTAMINATED, "decontaminate",
            "The document would be in train, but a held-out text is identical (same SHA-256).",
            in_list="held out by {held_out_by}",
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

SPLITS = ("train", "validation", "test")


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
