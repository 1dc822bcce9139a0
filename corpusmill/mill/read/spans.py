"""Repeated spans: their keys, later occurrences, and texts without them.

A text is split into units (lines, paragraphs, sentences); a span is `width` consecutive units.
"""

import hashlib
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from corpusmill.kernels.splitting import LINE, PARAGRAPH, SENTENCE, split_texts
from corpusmill.mill.read.digests import WHOLE
from corpusmill.mill.read.ids import ROW_BITS, ROW_MASK
from corpusmill.mill.read.text_column import TextColumn
from corpusmill.mill.storage.arrays import StoredArray, save_array
from corpusmill.mill.storage.buckets import Slice

UNITS = {"line": LINE, "paragraph": PARAGRAPH, "sentence": SENTENCE}
BLOCK_SPANS = 1 << 16
"""Number of spans that are Python objects at the same time."""


class Units(NamedTuple):
    """The units of a text column, as `split_texts` finds them."""

    first: np.ndarray  # int64 (documents + 1,)
    starts: np.ndarray  # int64 (units,)
    ends: np.ndarray  # int64 (units,)


class SpanSetting(NamedTuple):
    """The definition of a span: config section `spans`. width is 1 except for sentences."""

    unit: str
    width: int
    min_chars: int


def units_of(texts: TextColumn, unit: str) -> Units:
    first, none = np.zeros(texts.offsets.size, np.int64), np.empty(0, np.int64)
    # Split twice, the first time to count: room for all possible units is 16 bytes per byte.
    count = split_texts(texts.data, texts.offsets, UNITS[unit], first, none, none)
    starts, ends = np.empty(count, np.int64), np.empty(count, np.int64)
    split_texts(texts.data, texts.offsets, UNITS[unit], first, starts, ends)
    return Units(first, starts, ends)


def compared(text: str) -> str:
    """Return the form in which spans are compared: lower-cased, white space stripped and
    collapsed."""
    return " ".join(text.lower().split())


def span_key(text: str) -> int:
    """Return the 64-bit key of a compared text: its 8-byte BLAKE2b as a little-endian number."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def spans_of(
    texts: TextColumn, units: Units, width: int, min_chars: int, wanted: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return key and place (row << 32 | first unit) of every span, uint64 each, by place.

    wanted: bool (documents,), the documents to search. Spans have at least `min_chars` compared
    characters and lie within one document.
    """
    rows = np.repeat(np.arange(units.first.size - 1), np.diff(units.first))
    heads = np.flatnonzero(np.arange(rows.size) + width <= units.first[1:][rows])
    heads = heads[wanted[rows[heads]]]
    # ASSUME a lower-cased text has at most as many characters as it had bytes.
    heads = heads[units.ends[heads + width - 1] - units.starts[heads] >= min_chars]
    data = memoryview(texts.data.data)
    keys, chosen = array("Q"), array("q")
    for at in range(0, heads.size, BLOCK_SPANS):
        block = heads[at : at + BLOCK_SPANS]
        bounds = units.starts[block].tolist(), units.ends[block + width - 1].tolist()
        for head, start, end in zip(block.tolist(), *bounds, strict=True):
            text = compared(str(data[start:end], "utf-8"))
            if len(text) >= min_chars:
                keys.append(span_key(text))
                chosen.append(head)
    heads = np.frombuffer(chosen, np.int64) if chosen else np.zeros(0, np.int64)
    places = rows[heads] << ROW_BITS | heads - units.first[rows[heads]]
    found = np.frombuffer(keys, np.uint64) if keys else np.zeros(0, np.uint64)
    return found, places.astype(np.uint64)


def save_spans(path: Path, keys: list[np.ndarray], places: list[np.ndarray]) -> int:
    """Write the spans of a part, uint64 (2, spans): keys ascending, then their places.

    keys, places: in blocks, in order of places, which also orders equal keys.
    """
    none = np.zeros(0, np.uint64)
    unsorted = np.concatenate([none, *keys])
    order = np.argsort(unsorted, kind="stable")
    table = np.empty((2, order.size), np.uint64)
    np.take(unsorted, order, out=table[0])
    del unsorted
    np.take(np.concatenate([none, *places]), order, out=table[1])
    save_array(path, table)
    return order.size


class Spans(NamedTuple):
    """The spans of one part, memory-mapped."""

    part: int
    keys: StoredArray
    places: StoredArray

    @classmethod
    def open(cls, part: int, path: Path) -> "Spans":
        table = StoredArray.open(path)
        return cls(part, table.row(0), table.row(1))


def count_spans(parts: list[Spans], share: Slice) -> int:
    """Count the spans of all parts in the slice."""
    found = (part.keys.within(share) for part in parts)
    return sum(one.stop - one.start for one in found)


def repeats_of_slice(parts: list[Spans], share: Slice) -> np.ndarray:
    """Return uint64 (4, repeats): id, unit and key of each later occurrence, and the first one's
    id.

    The first occurrence of a key has the smallest (part, row, unit). parts: ascending.
    """
    keys, ids, units = ([np.zeros(0, np.uint64)] for _ in range(3))
    for part in parts:
        chosen = part.keys.within(share)
        places = part.places[chosen]
        keys.append(part.keys[chosen])
        ids.append(np.uint64(part.part << ROW_BITS) | places >> np.uint64(ROW_BITS))
        units.append(places & np.uint64(ROW_MASK))
    all_keys, all_ids = np.concatenate(keys), np.concatenate(ids)
    order = np.argsort(all_keys, kind="stable")  # equal keys keep parts and places ascending
    sorted_keys = all_keys[order]
    later = np.zeros(order.size, bool)
    later[1:] = sorted_keys[1:] == sorted_keys[:-1]
    heads = np.maximum.accumulate(np.where(later, 0, np.arange(order.size)))[later]
    repeats = order[later]
    return np.stack(
        [all_ids[repeats], np.concatenate(units)[repeats], all_keys[repeats], all_ids[order[heads]]]
    )


def by_place(repeats: np.ndarray) -> np.ndarray:
    """Return the columns of a table of repeats sorted by (id, unit)."""
    return repeats[:, np.lexsort((repeats[1], repeats[0]))]


def repeats_of_part(files: Iterable[Path], part: int) -> np.ndarray:
    """Return uint64 (4, repeats): the repeats of one part from the tables of all buckets, by
    place."""
    ends = np.array([part << ROW_BITS, part + 1 << ROW_BITS], np.uint64)
    found = [np.zeros((4, 0), np.uint64)]
    for file in files:
        table = StoredArray.open(file)
        start, stop = map(table.row(0).place_of, ends)
        found.append(np.array([table.row(column)[start:stop] for column in range(4)]))
    return by_place(np.concatenate(found, axis=1))


def kept_bytes(texts: TextColumn, units: Units, cut: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return bool (bytes of all texts,): the bytes kept, and int64 (documents + 1,): the new
    offsets.

    A unit is cut with the separator after it. If the last unit of a text is cut, the separator
    before it goes too, so that the rest does not gain a separator at its end.
    """
    separators = np.append(units.starts, texts.offsets[-1])[1:] - units.ends
    last = units.first[1:] - 1  # has none: it ends with its document
    numbers = np.where(cut, -1, np.arange(cut.size))
    tail = np.maximum.accumulate(numbers)[last] if cut.size else last  # the last that is kept
    tail = tail[cut[last] & (tail >= units.first[:-1])]
    keep = np.repeat(~cut, 2)
    keep[2 * tail + 1] = False
    sizes = np.column_stack([units.ends - units.starts, separators]).ravel()
    ends = np.append(0, np.cumsum(sizes * keep))
    return np.repeat(keep, sizes), ends[2 * units.first]


def without(texts: TextColumn, units: Units, cut: np.ndarray) -> TextColumn:
    """Return the texts without the cut units. A text with only white space left becomes empty.

    cut: bool (units,).
    """
    data = texts.data[texts.offsets[0] : texts.offsets[-1]]
    keep, offsets = kept_bytes(texts, units, cut)
    rest = data[keep]
    rows = np.repeat(np.arange(units.first.size - 1), np.diff(units.first))
    blank = np.zeros(units.first.size - 1, bool)
    for row in np.unique(rows[cut]).tolist():
        blank[row] = not rest[offsets[row] : offsets[row + 1]].tobytes().strip()
    if (blank & (np.diff(offsets) > 0)).any():
        keep, offsets = kept_bytes(texts, units, cut | blank[rows])
        rest = data[keep]
    return TextColumn(offsets, rest)


def cut_out(
    texts: TextColumn, unit: str, width: int, rows: np.ndarray, heads: np.ndarray
) -> tuple[TextColumn, np.ndarray, np.ndarray]:
    """Return the texts without the given spans, and start and end of each span in its text, in
    bytes.

    rows, heads: int64 (spans,), the row of each span in the column and its first unit there.
    """
    units = units_of(texts, unit)
    heads = units.first[rows] + heads
    cut = np.zeros(units.starts.size, bool)
    for place in range(width):
        cut[heads + place] = True
    begins = texts.offsets[rows]
    starts, ends = units.starts[heads] - begins, units.ends[heads + width - 1] - begins
    return without(texts, units, cut), starts, ends


def whole_digests(texts: TextColumn, rows: np.ndarray, first: int) -> np.ndarray:
    """Return WHOLE (rows,): SHA-256 and size of the texts of the given rows.

    first: the first text's row in the part.
    """
    data, table = memoryview(texts.data.data), np.zeros(rows.size, WHOLE)
    table["row"] = rows + first
    for place, row in enumerate(rows.tolist()):
        text = data[texts.offsets[row] : texts.offsets[row + 1]]
        table["digest"][place] = np.frombuffer(hashlib.sha256(text).digest(), np.uint8)
        table["text_bytes"][place] = len(text)
    return table
