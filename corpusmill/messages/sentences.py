"""Helpers that put messages together."""

from collections.abc import Sequence

MOST_FAULTS = 20


def first_of(faults: Sequence[str]) -> list[str]:
    """Return the first MOST_FAULTS faults, and a line with the number of the others."""
    more = len(faults) - MOST_FAULTS
    return [*faults[:MOST_FAULTS], *([f"and {more:,} more"] if more > 0 else [])]


def sentence(text: str) -> str:
    """Add a full stop unless the text ends with a punctuation mark."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
