"""Apply limits to values, and describe which limit a value exceeds."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from corpusmill.mill.filters.declaration import Limit

SHOWN_ENTRIES, SHOWN_CHARS = 5, 100
"""Maximum number of list entries, and of characters of a text, in a reason."""

LONGEST_SEARCH = 10.0
"""Maximum seconds of a search. Some expressions need years for a short text; this limit ends the
search with a reason."""


def unlike(value: str, pattern: str) -> bool:
    """Return whether a regular expression does not occur in a text.

    `regex` reads what `re` reads; it also has a time limit, and other threads run meanwhile.
    """
    import regex  # few filters need it

    try:
        found = regex.search(pattern, value, timeout=LONGEST_SEARCH, concurrent=True)
    except TimeoutError:
        raise ValueError(
            f"the regular expression {shown(pattern)!r} took over {LONGEST_SEARCH:g} seconds on "
            f"the text {shown(value)!r}. Rewrite it without nested repetition."
        ) from None
    return found is None


JUDGED: dict[str, Callable[[Any, Any], bool]] = {
    "below": operator.lt,
    "above": operator.gt,
    "in": lambda value, listed: value in listed,
    "not in": lambda value, listed: value not in listed,
    "not like": unlike,
}


def has_value(values: np.ndarray) -> np.ndarray:
    """Return bool (documents,): which values exist. NaN and None do not count."""
    if values.dtype == object:
        return np.array([one is not None for one in values.tolist()], bool)
    return values == values


def beyond(values: np.ndarray, side: str, bound: Any) -> np.ndarray:
    """Return bool (documents,): which values a limit drops. values: objects for texts."""
    if bound is None:
        return np.zeros(values.shape, bool)
    if side == "missing":
        return ~has_value(values) & (bound == "drop")
    if values.dtype != object:
        return values < bound if side == "below" else values > bound
    # Search each distinct text only once.
    texts = values.tolist()
    judged = {one: one is not None and JUDGED[side](one, bound) for one in set(texts)}
    return np.array([judged[one] for one in texts], bool)


def in_words(limit: Limit, value: Any, bound: Any) -> str:
    """Describe an exceeded limit: `words 12 below min_words 50`, `language fr not in languages
    en`."""
    if limit.side == "missing":
        return f"no {limit.value}"
    told, allowed = shown(value), shown(bound)
    if not isinstance(bound, str | list) and f"{value:.6g}" == f"{bound:.6g}":
        # Both round to the same number, so show all digits.
        told, allowed = str(value), str(bound)
    return f"{limit.value} {told} {limit.side} {limit.setting} {allowed}"


def shown(value: Any) -> str:
    if isinstance(value, list):
        more = len(value) - SHOWN_ENTRIES
        return ", ".join(value[:SHOWN_ENTRIES]) + (f" and {more} more" if more > 0 else "")
    if isinstance(value, str):
        return value if len(value) <= SHOWN_CHARS else f"{value[: SHOWN_CHARS - 1]}…"
    return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)
