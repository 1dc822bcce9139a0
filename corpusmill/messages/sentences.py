"""Messages of others put together with ours."""

from collections.abc import Sequence

MOST_FAULTS = 20


def first_of(faults: Sequence[str]) -> list[str]:
    """The first MOST_FAULTS of many, and how many there are more."""
    more = len(faults) - MOST_FAULTS
    return [*faults[:MOST_FAULTS], *([f"and {more:,} more"] if more > 0 else [])]


def sentence(text: str) -> str:
    """A text with its full stop, unless it has one."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
