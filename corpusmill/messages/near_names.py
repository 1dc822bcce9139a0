"""Names that somebody may have meant who wrote another."""

import difflib
from collections.abc import Collection

SHOWN = 10
"""Names of many that are told."""
MOST_TOLD = 200
"""So many are told all."""


def near_names(name: str, known: Collection[str], cutoff: float = 0.6) -> list[str]:
    """The nearest ones, the best first."""
    return difflib.get_close_matches(name, known, SHOWN, cutoff)


def meant(name: str, known: Collection[str], cutoff: float = 0.6) -> str:
    """` Is {the nearest} meant? Known: ...`, to be put behind what is wrong with a name."""
    near = near_names(name, known, cutoff)
    question = f" Is {near[0]} meant?" if near else ""
    if len(known) <= MOST_TOLD:
        return f"{question} Known: {', '.join(known)}."
    told = (near or list(known))[:SHOWN]
    return f"{question} Known: {', '.join(told)} and {len(known) - len(told):,} more."
