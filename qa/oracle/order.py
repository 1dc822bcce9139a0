"""Where the copies of documents are in a split that is not shuffled."""

import math
from collections import Counter
from fractions import Fraction

from qa.oracle.document import Document, Outcome
from qa.oracle.fate import WRAP
from qa.oracle.mixture import member_value

Copy = tuple[Document, int]


def order_of(config: dict, split: str):
    """`shuffled`, `as_found`, or the keys of a curriculum."""
    order = config["shuffle"]["order"]
    held_out = split in ("validation", "test")
    return "shuffled" if isinstance(order, dict) and held_out else order


def size(document: Document) -> int:
    return document.text_bytes + 1


def keys_as_found(copies: list[Copy]) -> dict[tuple[int, int], int]:
    """(id, copy) -> key: the share of the split that is before it."""
    total, before, found = sum(size(document) for document, _ in copies), 0, {}
    for document, copy in sorted(copies, key=lambda one: (one[1], one[0].id)):
        found[document.id, copy] = math.floor(Fraction(before, total) * WRAP)
        before += size(document)
    return found


def number(by, document: Document, outcome: Outcome, dropped_for: Counter) -> float | None:
    """What puts a document in order; None for nothing."""
    if isinstance(by, dict):
        text = member_value(by["member"], document)
        try:
            value = float("nan" if text is None else text)
        except ValueError:
            return None
        return None if math.isnan(value) else value
    return float(
        {
            "duplicates": 1 + dropped_for[document.id],
            "text_bytes": document.text_bytes,
            "chars": len(document.cleaned),
        }[by]
    )


class Curriculum:
    """The bands of a split."""

    def __init__(self, outcome: Outcome, copies: list[Copy]) -> None:
        self.order = outcome.config["shuffle"]["order"]
        winners = Counter(d.winner for d in outcome.documents() if d.winner is not None)
        sign = -1 if self.order.get("descending") else 1
        self.value = {}
        for document, _ in copies:
            value = number(self.order["by"], document, outcome, winners)
            self.value[document.id] = None if value is None else sign * value
        self.copies = copies
        self.limits = self.limits_of_bands()

    @property
    def refused(self) -> bool:
        without = sum(value is None for value in self.value.values())
        is_needed = self.order.get("missing") == "fail"
        return bool(without and (is_needed or without == len(self.value)))

    def limits_of_bands(self) -> list[float]:
        """The value of the byte at each share of all bytes of documents that have a value."""
        known = [one for one in self.copies if self.value[one[0].id] is not None]
        known.sort(key=lambda one: self.value[one[0].id])
        total, found = sum(size(document) for document, _ in known), []
        for band in range(1, self.order["bands"] if known else 1):
            at, before = Fraction(band * total, self.order["bands"]), 0
            for document, _ in known:
                before += size(document)
                if before > math.floor(at):
                    found.append(self.value[document.id])
                    break
        return found

    def band(self, document: Document) -> int:
        value = self.value[document.id]
        if value is None:
            return self.order["bands"]
        return sum(limit <= value for limit in self.limits)

    def bands(self) -> list[dict]:
        """What each band has; nothing without documents."""
        found = [{"documents": 0, "copies": 0, "size": 0} for _ in range(self.order["bands"] + 1)]
        for document, copy in self.copies:
            band = found[self.band(document)]
            band["documents"] += copy == 0
            band["copies"] += 1
            band["size"] += size(document)
        return found if self.copies else []

    def keys(self, hashed: dict[tuple[int, int], int]) -> dict[tuple[int, int], int]:
        """(id, copy) -> key. hashed: those of the shuffled order."""
        bands = range(self.order["bands"] + 1)
        sizes = [sum(size(d) for d, _ in self.copies if self.band(d) == band) for band in bands]
        starts = [WRAP * sum(sizes[:band]) // max(1, sum(sizes)) for band in (*bands, len(bands))]
        starts = [min(start, WRAP - 1) for start in starts]
        found = {}
        for document, copy in self.copies:
            first, end = starts[self.band(document)], starts[self.band(document) + 1]
            found[document.id, copy] = first + hashed[document.id, copy] * (end - first) // WRAP
        return found
