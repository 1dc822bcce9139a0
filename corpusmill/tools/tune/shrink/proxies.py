"""Choose the documents of a proxy, and how often each is read.

A proxy has a share of the documents of every class, the documents of a cell with equal factors: the
tokens of the proxy, divided by those of the target. They are those with the lowest keyed hashes, so
a larger proxy has the documents of a smaller one. Then the mixture is applied to them, with the
tokens of the proxy as its budget. So a document is read as often as in the target, and as many
documents are read 0, 1, 2 ... times, in proportion.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from corpusmill.mill.decide.apportioning import (
    Candidates,
    Classes,
    Sums,
    apportion,
    copies_of_candidates,
    repetition,
    sums_of,
)
from corpusmill.mill.decide.cells import Cells, Grid, candidates_of, cells_of
from corpusmill.mill.decide.composition import refuse_missing, refuse_unknown, supplies_of
from corpusmill.mill.decide.mixture import MaxEpochs, Mixture
from corpusmill.mill.decide.quantiles import quantiles_of
from corpusmill.mill.decide.shares import Supply, shares_of_cells, targets_of
from corpusmill.mill.read.ids import keyed_hash
from corpusmill.tools.tune.shrink.pool import Pool

PURPOSE = "shrink"
NO_MAXIMUM = MaxEpochs(None, None, {})


class Proxy(NamedTuple):
    """A proxy of one target."""

    places: np.ndarray
    """int64, ascending: its documents in the pool."""
    copies: np.ndarray
    """int64: how often each is read."""
    target_tokens: int
    tokens: int
    share_difference: float
    """Largest difference of a cell's share from the target's."""
    repetition: dict[int, float]
    """Copies -> share of the tokens of the documents, each document counted once."""
    target_repetition: dict[int, float]

    @property
    def repetition_difference(self) -> float:
        """Return the largest difference between the two."""
        numbers = {*self.repetition, *self.target_repetition}
        return max(
            abs(self.repetition.get(n, 0.0) - self.target_repetition.get(n, 0.0)) for n in numbers
        )


def drawn(
    classes: np.ndarray, cells: np.ndarray, sizes: np.ndarray, ids: np.ndarray, share: float,
    seed: int,
) -> np.ndarray:  # fmt: skip
    """Return int64, ascending: a share of the documents of each class, at least one per cell.

    classes: of each document. cells: of each class.
    """
    order = np.lexsort((keyed_hash(ids, seed, PURPOSE), classes))
    its = classes[order]
    of_sizes = sizes[order]
    totals = np.bincount(its, of_sizes, cells.size)
    before_class = np.cumsum(totals) - totals
    middle = np.cumsum(of_sizes) - of_sizes / 2 - before_class[its]
    chosen = middle <= share * totals[its]
    cell = cells[its]
    empty = np.bincount(cell, chosen, int(cells.max(initial=-1)) + 1) == 0
    firsts = np.unique(cell, return_index=True)[1]
    chosen[firsts[empty[cell[firsts]]]] = True
    return np.sort(order[chosen])


def shares_by_copies(copies: np.ndarray, sizes: np.ndarray) -> dict[int, float]:
    found = np.bincount(copies, sizes) / max(1, sizes.sum())
    return {number: share for number, share in enumerate(found.tolist()) if share}


def of_corpus(pool: Pool, tokens: int, seed: int) -> Proxy:
    """Return a proxy of the corpus itself."""
    sizes, copies = pool.columns["size"], pool.copies
    total = int((copies * sizes).sum())
    refuse_larger(tokens, total)
    pairs, classes = np.unique(np.stack([pool.groups, copies]), axis=1, return_inverse=True)
    cells = pairs[0].astype(np.int64)
    places = drawn(classes.reshape(-1), cells, sizes, pool.columns["id"], tokens / total, seed)
    groups = int(pool.groups.max(initial=0)) + 1
    whole = np.bincount(pool.groups, copies * sizes, groups) / total
    read = copies[places] * sizes[places]
    own = np.bincount(pool.groups[places], read, groups) / max(1, read.sum())
    return Proxy(
        places,
        copies[places],
        total,
        int(read.sum()),
        float(abs(own - whole).max()),
        shares_by_copies(copies[places], sizes[places]),
        shares_by_copies(copies, sizes),
    )


class Divided(NamedTuple):
    """A pool, divided into cells."""

    first: list[str]
    """The names along the first axis."""
    cells: Cells
    supplies: list[Supply]
    sums: Sums
    every: Candidates

    @property
    def classes(self) -> Classes:
        return self.cells.classes


class Chosen(NamedTuple):
    """Documents for proxies of one size."""

    places: np.ndarray
    some: Candidates
    sums: Sums
    capacity: np.ndarray
    """int64: the largest size of each cell."""


class Shrinker:
    """Makes proxies of mixtures. Those that divide the pool in the same way share the work."""

    def __init__(self, pool: Pool, seed: int) -> None:
        self._pool, self._seed = pool, seed
        self._divided: dict[str, Divided] = {}
        self._chosen: dict[tuple[str, float], Chosen] = {}

    def proxy(self, mixture: Mixture, tokens: int) -> Proxy:
        """Return the proxy of a mixture of the pool, whose budget is in tokens."""
        budget = mixture.budget
        assert budget
        refuse_larger(tokens, budget)
        key = repr(mixture._replace(shares=None, budget=None, max_epochs=NO_MAXIMUM))
        if key not in self._divided:
            self._divided[key] = divided(self._pool, mixture)
        of_pool = self._divided[key]
        refuse_unknown(mixture, of_pool.supplies, of_pool.first)
        shares, groups = shares_of_cells(
            mixture.shares, of_pool.supplies, budget, mixture.max_epochs
        )
        wanted = targets_of(shares, of_pool.supplies, mixture)
        chosen = self._documents(key, of_pool, tokens / budget)
        sizes = [
            min(size * tokens / budget, Fraction(most))
            for size, most in zip(wanted.sizes, chosen.capacity.tolist(), strict=True)
        ]
        done = apportion(
            lambda: iter([chosen.some]), of_pool.classes, chosen.sums, sizes, chosen.capacity,
            groups, tokens,
        )  # fmt: skip
        copies = copies_of_candidates(chosen.some, of_pool.classes, done.levels).astype(np.int64)
        reached = np.array(done.sizes, np.float64)
        targets = np.array([float(size) for size in wanted.sizes])
        of_target = repetition(of_pool.classes, of_pool.sums, wanted.sizes)
        pool_tokens = sum(of_target.values()) or 1
        return Proxy(
            chosen.places,
            copies,
            budget,
            int(reached.sum()),
            float(abs(reached / max(1, reached.sum()) - targets / max(1, targets.sum())).max()),
            shares_by_copies(copies, chosen.some.sizes),
            {number: size / pool_tokens for number, size in sorted(of_target.items())},
        )

    def _documents(self, key: str, of_pool: Divided, share: float) -> Chosen:
        if (key, share) not in self._chosen:
            every, classes = of_pool.every, of_pool.classes
            places = drawn(every.classes, classes.cells, every.sizes, every.ids, share, self._seed)
            some = every.where(places)
            totals = np.bincount(some.classes, some.sizes, classes.cells.size).astype(np.int64)
            capacity = np.zeros(len(of_pool.supplies), np.int64)
            np.add.at(capacity, classes.cells, totals * classes.most * (classes.factors > 0))
            sums = sums_of(iter([some]), classes.cells.size)
            self._chosen[key, share] = Chosen(places, some, sums, capacity)
        return self._chosen[key, share]


def divided(pool: Pool, mixture: Mixture) -> Divided:
    grid = Grid(mixture, pool.labels, quantiles_of(pool.pieces, mixture.quantiles))
    cells = cells_of(grid, pool.pieces(), mixture.most)
    supplies = supplies_of(grid, cells, pool)
    refuse_missing(mixture, supplies)
    every = candidates_of(grid, cells, pool.columns)
    return Divided(
        grid.scales[0].names, cells, supplies, sums_of(iter([every]), len(cells.pairs)), every
    )


def refuse_larger(tokens: int, target: int) -> None:
    if tokens > target:
        raise ValueError(
            f"--tokens {tokens:,}: expected at most the {target:,} tokens of the target. Lower it."
        )


def merged(proxies: Mapping[str, Proxy]) -> tuple[np.ndarray, np.ndarray]:
    """Return the documents of all proxies, ascending places in the pool; and int64 (proxies,
    documents): how often each reads each."""
    places = np.unique(np.concatenate([one.places for one in proxies.values()]))
    copies = np.zeros((len(proxies), places.size), np.uint16)
    for row, one in zip(copies, proxies.values(), strict=True):
        row[np.searchsorted(places, one.places)] = one.copies
    used = copies.any(axis=0)
    return places[used], copies[:, used]
