"""Suggestions for misspelled names."""

import difflib
import itertools
from collections.abc import Collection

SHOWN = 10
"""Maximum number of names shown out of a long list."""
MOST_TOLD = 200
"""Lists up to this length are shown in full."""
MOST_COMPARED, LONGEST_COMPARED = 20_000, 500
"""Maximum number of names to compare, and maximum characters of a name: the time of a comparison
grows with their product.
"""


def near_names(name: str, known: Collection[str], cutoff: float = 0.6) -> list[str]:
    """Return the nearest known names, best first, among those it compares."""
    if len(name) > LONGEST_COMPARED:
        return []
    short = (one for one in known if len(one) <= LONGEST_COMPARED)
    compared = itertools.islice(short, MOST_COMPARED)
    return difflib.get_close_matches(name, list(compared), SHOWN, cutoff)


def meant(name: str, known: Collection[str], cutoff: float = 0.6) -> str:
    """Return ` Did you mean {the nearest}? Known names: ...`, to append to a message."""
    near = near_names(name, known, cutoff)
    question = f" Did you mean {near[0]}?" if near else ""
    if len(known) <= MOST_TOLD:
        return f"{question} Known names: {', '.join(known)}."
    told = (near or list(known))[:SHOWN]
    return f"{question} Known names: {', '.join(told)} and {len(known) - len(told):,} more."
