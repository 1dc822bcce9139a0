"""The settings of an order other than shuffled, as steps get them from the configuration."""

from typing import NamedTuple


class Curriculum(NamedTuple):
    """Documents by a value, in bands of about equal size."""

    name: str
    """The value as the configuration names it."""
    column: str
    bands: int
    descending: bool
    missing: str
    """`last`: documents without a value form a band after all others. `fail`: they stop the run."""


class Arranging(NamedTuple):
    """The settings."""

    splits: list[str]
    """Splits that are not shuffled."""
    curriculum: Curriculum | None
    """None: documents are in the order in which they were found."""
