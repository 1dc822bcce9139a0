"""What can become of an input record. Each ends in exactly one of these fates.

A filter of the run is a fate too, named by the filter. Every other fate is one entry of `FATES`:
account, summary, reports, `why`, `verify` and docs read it. To add one, add its entry here and let
a step decide it (`FateColumn.drop`).
"""

from typing import NamedTuple

KEPT = "kept"
MALFORMED = "malformed"
"""A record that never became a document; it has no row and no id."""
DUPLICATE = "duplicate"
NOT_SAMPLED = "not_sampled"
CONTAMINATED = "contaminated"


class Fate(NamedTuple):
    """A fate that is no filter."""

    name: str
    step: str
    """The rule that decides it."""
    meaning: str
    """For docs, and for `why` where the fate has no words of its own there."""
    heading: str = "{name} was dropped: {fate}."
    """How `why` begins, with values of `Facts.words`."""
    in_list: str = "{reason}"
    """What `why` says of it in a list of documents, with the same values."""
    is_compared: bool = True
    """Whether documents of this fate were compared to find duplicates."""


FATES = {
    fate.name: fate
    for fate in (
        Fate(
            MALFORMED, "normalize", "The record cannot be read as a text. It has no row and no id.",
            heading="{Place} is no document: the record is malformed.",
            is_compared=False,
        ),
        Fate(
            DUPLICATE, "assign", "It passes the filters and has a winner.",
            heading="{name} was dropped as a duplicate of document {winner}.",
            in_list="{stage}{similarity}, of {winner}",
        ),
        Fate(NOT_SAMPLED, "assign", "Its source's weight gives it no copy."),
        Fate(
            CONTAMINATED, "decontaminate",
            "It would be kept in train, but a held-out text has its SHA-256.",
            in_list="held out by {held_out_by}",
        ),
        Fate(
            KEPT, "assign", "None of the above: it is written.",
            heading="{name} was kept: it is in {split}{often}.",
            in_list="{split}, {copies}",
        ),
    )
}  # fmt: skip
"""By name, in the order in which they are decided. Filters come before those that are compared."""

SPLITS = ("train", "validation", "test")


def fate_of(name: str) -> Fate:
    """What is known of a fate of the ledger; all but those of FATES are filters'."""
    of_filter = Fate(name, "filter", f"The filter {name} rejects it.", is_compared=False)
    return FATES.get(name, of_filter)


def uncompared_fates(filters: list[str]) -> list[str]:
    """The fates of records that were not compared to find duplicates.

    filters: the fates of the run's filters, in their order, here and below.
    """
    return [*(name for name, fate in FATES.items() if not fate.is_compared), *filters]


def dropping_fates(filters: list[str]) -> list[str]:
    """Every reason to drop a record, in the order in which they are decided."""
    compared = [name for name, fate in FATES.items() if fate.is_compared and name != KEPT]
    return [*uncompared_fates(filters), *compared]
