"""Rows of whole documents, by the rules under "Packed rows" of docs/reference/formats.md."""

import bisect
from itertools import accumulate, pairwise

from qa.oracle.document import Outcome
from qa.oracle.fate import keyed_hash
from qa.oracle.plan import splits_in_order

Piece = tuple[int, int]
"""Start and end in the stream of a split."""


def sizes_of(outcome: Outcome, split: str) -> list[int]:
    """Tokens of the documents of a split, with their end-of-text, in the order of its stream."""
    rows = [
        row for shard in range(outcome.shard_counts[split]) for row in outcome.shards[split, shard]
    ]
    return [len(outcome.tokens.ids(document.text)) + 1 for *_, document in rows]


def pieces_of(start: int, end: int, length: int) -> list[Piece]:
    """A document that fits into a row, or the pieces that it is cut into."""
    if end - start <= length + 1:
        return [(start, end)]
    return [(at, min(at + length + 1, end)) for at in range(start, end - 1, length)]


def rows_of(sizes: list[int], length: int, seed: int) -> list[list[Piece]]:
    """The rows in the order of the file."""
    starts = list(accumulate(sizes, initial=0))
    pieces = [piece for document in pairwise(starts) for piece in pieces_of(*document, length)]
    rows: list[list[Piece]] = []
    with_room: dict[int, list[int]] = {}  # room -> rows, in the order in which they were opened
    for start, end in sorted(pieces, key=lambda piece: (piece[0] - piece[1], piece[0])):
        rooms = [room for room, open_ in with_room.items() if open_ and room >= end - start]
        room = min(rooms, default=length + 1)
        if rooms:
            row = with_room[room].pop(0)
        else:
            row = len(rows)
            rows.append([])
        rows[row].append((start, end))
        if left := room - (end - start):
            bisect.insort(with_room.setdefault(left, []), row)
    rows = [sorted(row) for row in rows]
    return sorted(rows, key=lambda row: keyed_hash(seed, "pack", row[0][0]))


def pack(outcome: Outcome) -> None:
    """The rows of every split and length."""
    for split in splits_in_order(outcome.config):
        if outcome.shard_counts[split]:
            sizes = sizes_of(outcome, split)
            for length in outcome.config["output"]["pack"]:
                seed = outcome.config["shuffle"]["seed"]
                outcome.packed[split, length] = rows_of(sizes, length, seed)


def figures(outcome: Outcome, split: str, length: int) -> dict:
    """What `pack-{length}.json` says, but for checksums."""
    rows, sizes = outcome.packed[split, length], sizes_of(outcome, split)
    filled = sum(end - start for row in rows for start, end in row)
    return {
        "corpusmill.pack": 1,
        "length": length,
        "seed": outcome.config["shuffle"]["seed"],
        "documents": len(sizes),
        "cut_documents": sum(size > length + 1 for size in sizes),
        "rows": len(rows),
        "pieces": sum(map(len, rows)),
        "filled_tokens": filled,
        "fill_rate": filled / (len(rows) * (length + 1)) if rows else 0,
    }
