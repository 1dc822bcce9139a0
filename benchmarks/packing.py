"""Packs documents of real lengths into rows in four ways, and compares what each leaves out.

    python benchmarks/packing.py --results DIR [--lengths 512 2048 8192] [--documents 1e6]

Lengths are those of the documents of a finished run, all splits together: once as they are, and
once so many documents drawn from them with replacement. All ways cut the same documents. Each way
has rows of length + 1 tokens:

best fit    the step `pack`: best fit decreasing; the rest of a row is filled
first fit   first fit decreasing: the earliest row with room; the rest of a row is filled
stream      one stream, cut every `length` tokens; neighbors share a token
nanochat    a buffer of 1,000 documents, refilled by 128: the longest that fits into the row, or the
            beginning of the shortest if none fits; the rest of that document is thrown away

The last two fill every row. The ratio in the summary is of seconds, to best fit. Cut documents are
in no row as a whole; those "that fit" have at most length + 1 tokens.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout, as rules/common.smk does

from benchmarks.measuring import parser, timed
from benchmarks.run_folder import RunFolder
from corpusmill.kernels.jit import kernel
from corpusmill.kernels.packing import cut_documents, longest_first
from corpusmill.mill.tokens.packing import packing_of

BUFFER, REFILL = 1000, 128
SEED = 1


class Packed(NamedTuple):
    """The result of one way of packing."""

    rows: int
    cut: int
    """Documents that are in no row as a whole."""
    lost: int
    """Tokens that are in no row."""
    held: int
    """Tokens in rows; those that two pieces share count twice."""


@kernel
def first_fit(size, capacity, row_of):
    """Put each piece, longest first, into the earliest row in which it fits. Return the number of
    rows. size: int32 (pieces,). row_of: int32 (pieces,), filled.

    """
    # For each node of a tree over all rows, the most room of a row below it.
    leaves = 1
    while leaves < size.size:
        leaves *= 2
    most = np.full(2 * leaves, capacity, np.int32)
    rows = 0
    for piece in longest_first(size, capacity):
        node = 1
        while node < leaves:
            node = 2 * node if most[2 * node] >= size[piece] else 2 * node + 1
        row_of[piece] = node - leaves
        rows = max(rows, node - leaves + 1)
        most[node] -= size[piece]
        while node > 1:
            node //= 2
            most[node] = max(most[2 * node], most[2 * node + 1])
    return rows


@kernel
def from_buffer(sizes, capacity):
    """Return rows, cut documents, lost tokens of nanochat's way. The last row counts only if it is
    full, and all documents after the last full row are lost but not cut."""
    buffer = np.empty(BUFFER + REFILL, np.int64)
    held = taken = rows = cut = lost = position = 0
    while True:
        while held < BUFFER and taken < sizes.size:
            for _ in range(min(REFILL, sizes.size - taken)):
                buffer[held] = sizes[taken]
                held += 1
                taken += 1
        if not held:
            return rows, cut, lost + position
        room = capacity - position
        longest, shortest = -1, 0
        for place in range(held):
            fits = buffer[place] <= room
            if fits and (longest < 0 or buffer[place] > buffer[longest]):
                longest = place
            if buffer[place] < buffer[shortest]:
                shortest = place
        place = longest if longest >= 0 else shortest
        if longest < 0:
            cut += 1
            lost += buffer[place] - room
        position += min(buffer[place], room)
        buffer[place : held - 1] = buffer[place + 1 : held]
        held -= 1
        if position == capacity:
            rows += 1
            position = 0


def by_best_fit(sizes: np.ndarray, length: int) -> Packed:
    found = packing_of(np.append(0, np.cumsum(sizes)), length)
    return Packed(found.rows, found.cut_documents, 0, int(found.size.sum(dtype=np.int64)))


def by_first_fit(sizes: np.ndarray, length: int) -> Packed:
    cuts = np.maximum((sizes - 2) // length, 0)
    start = np.empty(sizes.size + int(cuts.sum()), np.int64)
    size = np.empty(start.size, np.int32)
    cut_documents(np.append(0, np.cumsum(sizes)), length, start, size)
    rows = int(first_fit(size, length + 1, np.empty(size.size, np.int32)))
    return Packed(rows, int((cuts > 0).sum()), 0, int(size.sum(dtype=np.int64)))


def as_stream(sizes: np.ndarray, length: int) -> Packed:
    ends = np.cumsum(sizes)
    starts = ends - sizes
    rows = (int(ends[-1]) - 1) // length
    row = starts // length
    cut = int(((ends - 1 > row * length + length) & (row < rows)).sum())
    return Packed(rows, cut, int(ends[-1]) - rows * length - 1, rows * (length + 1))


def as_nanochat(sizes: np.ndarray, length: int) -> Packed:
    rows, cut, lost = from_buffer(sizes, length + 1)
    return Packed(rows, cut, lost, rows * (length + 1))


WAYS: dict[str, Callable[[np.ndarray, int], Packed]] = {
    "best fit": by_best_fit, "first fit": by_first_fit, "stream": as_stream,
    "nanochat": as_nanochat,
}  # fmt: skip


def lengths_of(results: Path) -> np.ndarray:
    """Return the tokens of every document of a run, in the order of the shards."""
    files = sorted(results.glob("tokens/*/[0-9]*.idx"))
    return np.concatenate([np.diff(np.fromfile(file, "<u8").astype(np.int64)) for file in files])


def figures(found: Packed, sizes: np.ndarray, length: int) -> dict[str, float]:
    """Return what does not depend on the machine; shares in percent."""
    fitting = int((sizes <= length + 1).sum())
    shares = {
        "% full": found.held / (found.rows * (length + 1)),
        "% of documents cut": found.cut / sizes.size,
        "% cut that fit": max(0, found.cut - (sizes.size - fitting)) / max(1, fitting),
        "% of tokens lost": found.lost / int(sizes.sum()),
    }
    return {"rows": found.rows} | {name: round(100 * share, 2) for name, share in shares.items()}


def main() -> None:
    arguments = parser(__doc__ or "")
    arguments.add_argument("--results", type=Path, required=True, help="results of a run")
    arguments.add_argument("--lengths", type=int, nargs="+", default=[512, 2048, 8192])
    arguments.add_argument("--documents", type=float, default=1e6, help="documents to draw")
    given = arguments.parse_args()
    real = lengths_of(given.results)
    drawn = np.random.default_rng(SEED).choice(real, int(given.documents))
    run = RunFolder(given.run_folder)
    for sizes in (real, drawn):
        for length in given.lengths:
            for way, pack in WAYS.items():
                pack(sizes, length)  # compiles
                for _ in range(given.runs):
                    spent, found = timed(lambda way=pack, of=(sizes, length): way(*of))
                    run.record(
                        "packing", way, group=f"{sizes.size} {length}", amount=sizes.size,
                        unit="documents", **spent, not_equal=f"rows of {length}, another way",
                        counts=figures(found, sizes, length),
                    )  # fmt: skip
    run.close()


if __name__ == "__main__":
    main()
