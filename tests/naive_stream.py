"""Slow twins of what a trainer reads, written to be obviously right."""

import functools
import hashlib
import itertools
import math

from naive import MASK_64, mixed, unit_hash


def keys_of(key: str) -> list[int]:
    """Eight rounds, 64 bits of SHA-256 each."""
    digests = [
        hashlib.sha256(f"corpusmill/stream/{key}/{part}".encode()).digest() for part in (0, 1)
    ]
    data = b"".join(digests)
    return [int.from_bytes(data[8 * n : 8 * n + 8], "little") for n in range(8)]


def image(number: int, size: int, key: str) -> int:
    """Where a keyed permutation of range(size) has a number."""
    keys = keys_of(key)
    if size <= 1024:
        hashes = [mixed((mixed(n ^ keys[0]) + keys[1]) & MASK_64) for n in range(size)]
        return sorted(range(size), key=hashes.__getitem__)[number]
    rows = math.isqrt(size - 1) + 1
    columns = -(-size // rows)
    while True:
        left, right = divmod(number, columns)
        for n in (0, 2, 4, 6):
            left = (left + ((mixed(right ^ keys[n]) >> 32) * rows >> 32)) % rows
            right = (right + ((mixed(left ^ keys[n + 1]) >> 32) * columns >> 32)) % columns
        number = left * columns + right
        assert number <= MASK_64
        if number < size:
            return number


def shuffle(size: int, key: str) -> list[int]:
    return [image(number, size, key) for number in range(size)]


def samples(tokens: list[int], length: int) -> list[list[int]]:
    """Windows that share a token."""
    found, start = [], 0
    while start + length + 1 <= len(tokens):
        found.append(tokens[start : start + length + 1])
        start += length
    return found


def shuffled(tokens: list[int], length: int, seed: int, epochs: int) -> list[list[int]]:
    found = samples(tokens, length)
    orders = [shuffle(len(found), f"{seed}/{epoch}/samples") for epoch in range(epochs)]
    return [found[number] for order in orders for number in order]


def packed(documents: list[list[int]], length: int, end: int) -> list[list[int]]:
    """Documents, longest first, each to the fullest row that has room for it."""
    pieces = []
    for document in documents:
        start = 0
        while start == 0 or start + 1 < len(document):
            pieces.append(document[start : start + length + 1])
            start += length
    rows: list[list[int]] = []
    places: list[list[int]] = []  # of the pieces of each row
    for n in sorted(range(len(pieces)), key=lambda n: (-len(pieces[n]), n)):
        fitting = [row for row in range(len(rows)) if len(rows[row]) + len(pieces[n]) <= length + 1]
        if not fitting:
            rows.append([])
            places.append([])
            fitting = [len(rows) - 1]
        row = min(fitting, key=lambda row: (-len(rows[row]), row))
        rows[row] += pieces[n]
        places[row].append(n)
    ordered = [[id for n in sorted(own) for id in pieces[n]] for own in places]
    return [row + [end] * (length + 1 - len(row)) for row in ordered]


def windowed(shard_rows: list[list], seed: int, window: int, epochs: int) -> list:
    """shard_rows: the rows of each shard."""
    found = []
    for epoch in range(epochs):
        order = shuffle(len(shard_rows), f"{seed}/{epoch}/shards")
        for number, first in enumerate(range(0, len(order), window)):
            rows = [row for shard in order[first : first + window] for row in shard_rows[shard]]
            if rows:
                places = shuffle(len(rows), f"{seed}/{epoch}/{number}/rows")
                found += [rows[place] for place in places]
    return found


@functools.cache
def mixture_block(counts: tuple[int, ...], seed: int, block: int) -> list[int]:
    """Which order each sample of a block is of."""
    places = [
        ((n + unit_hash(n, seed, f"mixture/{block}/{order}")) / count, order, n)
        for order, count in enumerate(counts)
        for n in range(count)
    ]
    return [order for _, order, _ in sorted(places)]


def mixture(orders: list[list], counts: tuple[int, ...], seed: int, size: int) -> list:
    """The first samples of a mixture; counts: samples of each order in a block."""
    left = [iter(order) for order in orders]
    blocks = range(-(-size // sum(counts)))
    whose = [order for block in blocks for order in mixture_block(counts, seed, block)]
    return [next(left[order]) for order in whose[:size]]


def dealt(order: list, batch_size: int, ranks: int) -> list[list[list]]:
    """Steps of ranks of rows. The last step is dealt as evenly as can be."""
    steps = []
    while order:
        step, order = order[: batch_size * ranks], order[batch_size * ranks :]
        bounds = [len(step) * rank // ranks for rank in range(ranks + 1)]
        steps.append([step[a:b] for a, b in itertools.pairwise(bounds)])
    return steps


def segments(row: list[int], end: int) -> list[int]:
    return [row[:place].count(end) for place in range(len(row))]


def positions(row: list[int], end: int) -> list[int]:
    found, place = [], 0
    for id in row:
        found.append(place)
        place = 0 if id == end else place + 1
    return found
