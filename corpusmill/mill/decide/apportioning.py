"""Choose the number of copies of each document so that every cell of a mixture reaches its target.

Candidates are documents that could be in train. Those of a cell that have the same factor form a
class. The copies of a document follow from the level of its cell:

    copies = number of integers k >= 0 with k + draw < min(level * factor, most)

`draw` in [0, 1) is a keyed hash of the document's id. A higher level never takes a copy away. A
cell takes the highest level at which its size is at most its target. Of documents that get their
next copy at the next higher level, those with low ids get it while they fit. What is left goes to
the cells that lack most of their next document, one document each, as in the largest remainder
method: first within each group of cells that has a share of its own, then one document per group.

The documents are read twice, and few are in memory: the first pass adds up sizes by class and bin
of draws, the second collects the documents of the bins in which the levels are.
"""

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

MOST_SUMS = 1 << 22
"""Maximum number of sums, of one class and one bin each."""
FEWEST_BINS, MOST_BINS = 16, 4096


class Candidates(NamedTuple):
    """Some documents that the mixture may use."""

    ids: np.ndarray  # uint64
    classes: np.ndarray  # int64
    draws: np.ndarray  # float64, in [0, 1), multiples of 2**-53
    sizes: np.ndarray  # int64, in the unit of the budget

    def where(self, chosen: np.ndarray) -> "Candidates":
        return Candidates(*(column[chosen] for column in self))


class Classes(NamedTuple):
    """The classes, ordered by cell."""

    cells: np.ndarray  # int64, ascending: the cell of each class
    factors: np.ndarray  # float64, 0 or more
    most: int
    """Maximum number of copies of a document."""

    def wanted(self, level: np.ndarray) -> np.ndarray:
        """Return float64 (classes,): the copies before rounding. level: of each cell."""
        return np.minimum(level[self.cells] * self.factors, self.most)


class Levels(NamedTuple):
    """The decision of each cell: its level, and where ids end that get one copy more."""

    level: np.ndarray  # float64
    below: np.ndarray  # uint64


def copies_at(wanted: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Return int64: the number of integers k >= 0 with k + draw < wanted."""
    whole = np.floor(wanted)
    return whole.astype(np.int64) + (draws < wanted - whole)


def next_up(level: np.ndarray) -> np.ndarray:
    """Return the next higher floating-point number."""
    return np.nextafter(level, np.inf)


def copies_of_candidates(some: Candidates, classes: Classes, levels: Levels) -> np.ndarray:
    """Return uint16: the copies of some candidates."""
    copies = copies_at(classes.wanted(levels.level)[some.classes], some.draws)
    higher = copies_at(classes.wanted(next_up(levels.level))[some.classes], some.draws)
    gets_next = some.ids < levels.below[classes.cells[some.classes]]
    return np.where(gets_next, higher, copies).astype(np.uint16)


class Sums(NamedTuple):
    """Sums of the first pass: int64 (classes, bins). A bin is a range of draws."""

    sizes: np.ndarray
    documents: np.ndarray

    @property
    def bins(self) -> int:
        return self.sizes.shape[1]


def bins_for(classes: int) -> int:
    """Return the number of bins, a power of two."""
    bins = FEWEST_BINS
    while bins < MOST_BINS and bins * 2 * classes <= MOST_SUMS:
        bins *= 2
    return bins


def sums_of(pieces: Iterator[Candidates], classes: int, bins: int = 0) -> Sums:
    """Add up candidates by class and bin."""
    bins = bins or bins_for(classes)
    sums = Sums(*(np.zeros(classes * bins, np.int64) for _ in range(2)))
    for some in pieces:
        places = some.classes * bins + bins_of(some.draws, bins)
        np.add.at(sums.sizes, places, some.sizes)
        np.add.at(sums.documents, places, 1)
    return Sums(*(one.reshape(classes, bins) for one in sums))


def bins_of(draws: np.ndarray, bins: int) -> np.ndarray:
    return (draws * bins).astype(np.int64)


def by_cell(values: np.ndarray, cells: np.ndarray, count: int) -> np.ndarray:
    """Return int64 (count,): exact sums of values by cell."""
    total = np.zeros(count, np.int64)
    np.add.at(total, cells, values)
    return total


def highest_level(
    size_at: Callable[[np.ndarray], np.ndarray],
    targets: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
) -> np.ndarray:
    """Return float64 (cells,): the highest level in [low, high] with size_at(level) <= target.

    size_at: never falls as the level rises; at `low` it must be at most the target.
    """
    # Non-negative floating-point numbers have the order of their bits as integers.
    first, last = low.view(np.int64).copy(), high.view(np.int64).copy()
    while (open_cells := first < last).any():
        middle = first + (last - first + 1) // 2
        fits = size_at(middle.view(np.float64)) <= targets
        first = np.where(open_cells & fits, middle, first)
        last = np.where(open_cells & ~fits, middle - 1, last)
    return first.view(np.float64)


class Apportioned(NamedTuple):
    """The result per cell."""

    levels: Levels
    sizes: np.ndarray
    """int64: the sizes of all copies of the cell."""


def apportion(
    pieces: Callable[[], Iterator[Candidates]],
    classes: Classes,
    sums: Sums,
    targets: list[Fraction],
    limits: np.ndarray,
    groups: list[int],
    budget: int,
) -> Apportioned:
    """Return the level of each cell.

    pieces: yields all candidates. sums: of the same candidates. targets: per cell; together at most
    the budget. limits: int64, the maximum size of each cell; no target exceeds it. groups: of each
    cell, the group of cells that has a share.
    """
    search = _Search(classes, sums, np.array([int(target) for target in targets], np.int64))
    near = search.near(pieces())
    level, reached = search.levels(near)
    gaps = _Gaps(near, classes, level)
    below = np.zeros(len(targets), np.uint64)
    waiting: list[_Next] = []
    for cell, (ids, sizes) in gaps.documents():
        ends = int(reached[cell]) + np.cumsum(sizes)
        fitting = int(np.searchsorted(ends, search.targets[cell], "right"))
        if fitting:
            reached[cell] = ends[fitting - 1]
        if fitting < ids.size:
            below[cell] = ids[fitting]
            size = int(sizes[fitting])
            lacked = (targets[cell] - int(reached[cell])) / size
            if reached[cell] + size <= limits[cell]:
                waiting.append(_Next(-lacked, cell, size, int(ids[fitting]) + 1))
        else:
            below[cell] = ids[-1] + np.uint64(1)
    for one in handed_out(waiting, reached, targets, groups, budget):
        below[one.cell] = one.behind
        reached[one.cell] += one.size
    return Apportioned(Levels(level, below), reached)


def repetition(classes: Classes, sums: Sums, targets: list[Fraction]) -> dict[int, int]:
    """Return the size of the documents by their number of copies, before copies are made, if cells
    reach these targets. It is exact but for the documents in one bin of each class."""
    level = _Search(classes, sums, np.array([int(one) for one in targets], np.int64)).low
    wanted = classes.wanted(level)
    whole = np.floor(wanted).astype(np.int64)
    before = np.zeros((wanted.size, sums.bins + 1), np.int64)
    np.cumsum(sums.sizes, axis=1, out=before[:, 1:])
    more = before[np.arange(wanted.size), bins_of(wanted - whole, sums.bins)]
    found: dict[int, int] = {}
    for copies, size in ((whole + 1, more), (whole, before[:, -1] - more)):
        for number, own in zip(copies.tolist(), size.tolist(), strict=True):
            if own:
                found[number] = found.get(number, 0) + own
    return found


class _Next(NamedTuple):
    """The next document of a cell, which does not fit into its target."""

    lacked: Fraction
    """How much of it would fit, negative, so that the best ones sort first."""
    cell: int
    size: int
    behind: int
    """The lowest id above its own."""


def handed_out(
    waiting: list[_Next],
    reached: np.ndarray,
    targets: list[Fraction],
    groups: list[int],
    budget: int,
) -> Iterator[_Next]:
    """Yield the documents that are used beyond the targets of their cells."""
    left_of = dict.fromkeys(groups, Fraction(0))
    for cell, group in enumerate(groups):
        left_of[group] += targets[cell] - int(reached[cell])
    left = budget - int(reached.sum())
    later = []
    for one in sorted(waiting):
        if one.size <= left_of[groups[one.cell]]:
            left_of[groups[one.cell]] -= one.size
            left -= one.size
            yield one
        else:
            later.append(one)
    served: set[int] = set()
    for one in later:
        if one.size <= left and groups[one.cell] not in served:
            served.add(groups[one.cell])
            left -= one.size
            yield one


class _Search:
    """The search for the levels: by the sums first, then by the documents near them."""

    def __init__(self, classes: Classes, sums: Sums, targets: np.ndarray) -> None:
        self._classes, self._sums, self.targets = classes, sums, targets
        self._before = np.zeros((len(classes.cells), sums.bins + 1), np.int64)
        np.cumsum(sums.sizes, axis=1, out=self._before[:, 1:])
        cells = targets.size
        # At this level every document with a factor has the maximum of copies.
        least = np.where(classes.factors > 0, classes.factors, np.inf)
        lowest = np.full(cells, np.inf)
        np.minimum.at(lowest, classes.cells, least)
        self._top = np.where(np.isfinite(lowest), next_up(classes.most / lowest), 0.0)
        zero = np.zeros(cells)
        self.low = highest_level(self._most_size, targets, zero, self._top)
        self._high = highest_level(self._least_size, targets, self.low, self._top)
        self._near = self._bins_between(self.low, next_up(self._high))
        self._far = self._size_of_far_documents(self.low)

    def _cut(self, level: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return per class: whole copies, bin of the fraction, whether there is a fraction."""
        wanted = self._classes.wanted(level)
        whole = np.floor(wanted)
        bin = bins_of(wanted - whole, self._sums.bins)
        return whole.astype(np.int64), bin, wanted > whole

    def _least_size(self, level: np.ndarray) -> np.ndarray:
        """Return a lower bound of the size per cell: without documents in the level's bin."""
        whole, bin, _ = self._cut(level)
        rows = np.arange(bin.size)
        size = whole * self._before[:, -1] + self._before[rows, bin]
        return by_cell(size, self._classes.cells, self.targets.size)

    def _most_size(self, level: np.ndarray) -> np.ndarray:
        """Return an upper bound: with all documents in the level's bin."""
        whole, bin, partly = self._cut(level)
        rows = np.arange(bin.size)
        size = whole * self._before[:, -1] + self._before[rows, bin + partly]
        return by_cell(size, self._classes.cells, self.targets.size)

    def _bins_between(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return bool (classes, bins): documents whose copies may differ between two levels."""
        whole, first, _ = self._cut(low)
        whole_high, last, _ = self._cut(high)
        bins = np.arange(self._sums.bins)
        from_first, to_last = bins >= first[:, None], bins <= last[:, None]
        wraps = (whole_high - whole)[:, None]
        return np.where(wraps == 0, from_first & to_last, (wraps > 1) | from_first | to_last)

    def _size_of_far_documents(self, level: np.ndarray) -> np.ndarray:
        """Return the size per cell of documents whose copies are the same at all levels left."""
        whole, bin, _ = self._cut(level)
        far = np.where(self._near, 0, self._sums.sizes)
        below = np.arange(self._sums.bins) < bin[:, None]
        size = whole * far.sum(axis=1) + np.where(below, far, 0).sum(axis=1)
        return by_cell(size, self._classes.cells, self.targets.size)

    def near(self, pieces: Iterator[Candidates]) -> Candidates:
        """Return the documents whose copies are not yet known."""
        found = [
            some.where(self._near[some.classes, bins_of(some.draws, self._sums.bins)])
            for some in pieces
        ]
        if not found:
            empty = np.zeros(0)
            return Candidates(empty.astype(np.uint64), empty.astype(np.int64), empty,
                              empty.astype(np.int64))  # fmt: skip
        return Candidates(*map(np.concatenate, zip(*found, strict=True)))

    def levels(self, near: Candidates) -> tuple[np.ndarray, np.ndarray]:
        """Return the level and the size of each cell. near: from `near`."""
        cells = self._classes.cells[near.classes]

        def size(level: np.ndarray) -> np.ndarray:
            copies = copies_at(self._classes.wanted(level)[near.classes], near.draws)
            return self._far + by_cell(copies * near.sizes, cells, self.targets.size)

        level = highest_level(size, self.targets, self.low, self._high)
        return level, size(level)


class _Gaps:
    """The documents that get their next copy at the next higher level."""

    def __init__(self, near: Candidates, classes: Classes, level: np.ndarray) -> None:
        now, after = (
            copies_at(classes.wanted(one)[near.classes], near.draws)
            for one in (level, next_up(level))
        )
        those = near.where(after > now)
        cells = classes.cells[those.classes]
        order = np.lexsort((those.ids, cells))
        self._cells, self._ids, self._sizes = cells[order], those.ids[order], those.sizes[order]

    def documents(self) -> Iterator[tuple[int, tuple[np.ndarray, np.ndarray]]]:
        """Yield each cell that has such documents, with their ids, ascending, and sizes."""
        bounds = np.append(np.flatnonzero(np.diff(self._cells, prepend=-1)), self._cells.size)
        for start, stop in itertools.pairwise(bounds):
            yield int(self._cells[start]), (self._ids[start:stop], self._sizes[start:stop])
