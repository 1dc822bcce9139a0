"""The order of documents: of those that are alike, the first is kept."""

from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from corpusmill.document_ids import by_part
from corpusmill.fates import KEPT
from corpusmill.tables import load_labels, load_table

ORDER = np.dtype([("rank", "<u8"), ("high", "<u8"), ("low", "<u8"), ("shorter", "<u8")])
"""Less is better, field by field; at last the document id decides."""

REJECTED = np.uint64(1 << 63)
LAST = (1 << 64) - 1


class Preference(NamedTuple):
    """What the order is made of: config section `dedup`, and the sources."""

    priority: dict[str, int | None]
    weights: dict[str, float]
    field: str | None
    generations: list[int] | None
    """Of every part; None if a document of an earlier generation is not better for that."""


_text = msgspec.json.Decoder(str)
_members = msgspec.json.Decoder(dict[str, msgspec.Raw])


def preferred(rest: bytes, field: str, order: str) -> tuple[int, int]:
    """(high, low) of a record by one of its fields, less is better; the last if it has none.

    A number as it is; of a text, a date perhaps, the first 16 bytes.
    """
    value = _members.decode(b"{%s}" % rest).get(field)
    if value is None:
        return LAST, LAST
    raw = bytes(value)
    if raw[:1] == b'"':
        start = _text.decode(raw).encode()[:16].ljust(16, b"\0")
        high, low = int.from_bytes(start[:8], "big"), int.from_bytes(start[8:], "big")
    elif raw[:1] in b"-0123456789":
        # Not msgspec, which refuses 1e999: of a number of JSON without limits, infinity is near.
        bits = int(np.float64(float(raw)).view(np.uint64))
        high, low = bits ^ (LAST if bits >> 63 else 1 << 63), 0
    else:
        return LAST, LAST
    if order == "highest":
        return LAST - high, LAST - low
    return high, low


def order_of_part(
    verdicts: Path, part: int, preference: Preference, rows: np.ndarray | slice = slice(None)
) -> np.ndarray:
    """ORDER (documents,): first what the filter kept and has a weight, then what came in an
    earlier generation, then by the source's priority, by the field, and the longer text."""
    sources, source = load_labels(verdicts, "source")
    given = [rank for rank in preference.priority.values() if rank is not None]
    last = max(given, default=0) + 1
    ranks = [preference.priority[name] for name in sources]
    of_source = np.array([last if rank is None else rank for rank in ranks], np.uint64)
    source = source[rows]
    fate, sizes = (column[rows] for column in load_table(verdicts, "fate", "text_bytes"))
    unused = np.array([preference.weights[name] == 0 for name in sources], bool)[source]
    order = np.zeros(fate.size, ORDER)
    order["rank"] = of_source[source]
    if preference.generations:
        order["rank"] |= np.uint64(preference.generations[part] << 32)
    order["rank"][(fate != KEPT) | unused] |= REJECTED
    if preference.field:
        high, low = load_table(verdicts, "high", "low")
        order["high"], order["low"] = high[rows], low[rows]
    order["shorter"] = np.uint64(LAST) - sizes
    return order


def best_first(order: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """The places of documents from the best to the worst."""
    return np.lexsort((ids, order["shorter"], order["low"], order["high"], order["rank"]))


def order_of(verdicts: list[Path], ids: np.ndarray, preference: Preference) -> np.ndarray:
    """ORDER (ids,): of some documents of any parts."""
    order = np.zeros(ids.size, ORDER)
    for part, places, rows in by_part(ids):
        order[places] = order_of_part(verdicts[part], part, preference, rows)
    return order
