"""Suggestions for misspelled names."""

import difflib
from collections.abc import Collection

SHOWN = 10
"""Most names shown out of a long list."""
MOST_TOLD = 200
"""Lists up to this length are shown in full."""


def near_names(name: str, known: Collection[str], cutoff: float = 0.6) -> list[str]:
    """Return the nearest known names, best first."""
    return difflib.get_close_matches(name, known, SHOWN, cutoff)


def meant(name: str, known: Collection[str], cutoff: float = 0.6) -> str:
    """Return ` Did you mean {the nearest}? Known: ...`, to append to a message."""
    near = near_names(name, known, cutoff)
    question = f" Did you mean {near[0]}?" if near else ""
    if len(known) <= MOST_TOLD:
        return f"{question} Known: {', '.join(known)}."
    told = (near or list(known))[:SHOWN]
    return f"{question} Known: {', '.join(told)} and {len(known) - len(told):,} more."
