"""Several orders mixed by weight; each has its own epochs.

The mixture consists of blocks of 65,536 samples. In each block, every order has its share in whole
samples (the largest remainders are rounded up). Its n-th of c samples falls at a keyed place in the
n-th of c equal stretches. So any run of a block contains each order's due share, to two samples.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from corpusmill.mill.read.ids import unit_hash
from corpusmill.reader.orders import Cursor, Order
from corpusmill.reader.selection import Chosen
from corpusmill.reader.shuffled import Shuffled
from corpusmill.reader.split import Split

BLOCK = 1 << 16


def shares(weights: Sequence[float]) -> np.ndarray:
    """Return int64: samples per block for each weight. Their sum is the block size."""
    due = np.array(weights, np.float64) / sum(weights) * BLOCK
    counts = np.floor(due).astype(np.int64)
    largest = np.argsort(counts - due, kind="stable")  # the largest remainders first
    counts[largest[: BLOCK - counts.sum()]] += 1
    return counts


class Mixture:
    """A mixture of orders that share tokenizer and length. Each weight is a share of the samples,
    not of the corpora. The mixture never ends."""

    def __init__(self, orders: Sequence[Order], weights: Sequence[float], seed: int) -> None:
        if not orders or len(orders) != len(weights) or not all(0 < w < 1e300 for w in weights):
            raise ValueError(
                f"weights {list(weights)}: expected a number above 0 for each of {len(orders)} "
                "orders. Leave out orders that are not wanted."
            )
        self.length, self.vocabulary = orders[0].length, orders[0].vocabulary
        for order in orders:
            if (order.length, order.vocabulary) != (self.length, self.vocabulary):
                raise ValueError(
                    f"orders: expected one length and one tokenizer for all, found {self.length}, "
                    f"{self.vocabulary} and {order.length}, {order.vocabulary}. Mill the corpora "
                    "with one tokenizer."
                )
        self._counts = shares(weights)
        if not self._counts.all():
            raise ValueError(
                f"weights {list(weights)}: expected each to be at least 1/{BLOCK} of their sum. "
                "Leave out smaller ones."
            )
        self._orders = list(orders)
        self._seed = seed
        self._blocks: dict[int, np.ndarray] = {}  # at most two: a batch may reach into the next
        self.identity: dict[str, Any] = {
            "order": "mixture", "shares": self._counts.tolist(), "seed": seed,
            "of": [order.identity for order in orders],
        }  # fmt: skip

    @classmethod
    def of_sources(
        cls, split: Split, weights: Mapping[str, float], length: int, seed: int
    ) -> "Mixture":
        """Return a mixture of the sources of a split, each shuffled. weights: by source."""
        orders = [Shuffled(Chosen(split, sources=[name]), length, seed) for name in weights]
        return cls(orders, [*weights.values()], seed)

    @property
    def orders(self) -> list[Order]:
        return list(self._orders)

    def begin(self) -> Cursor:
        return {"position": 0, "of": [order.begin() for order in self._orders]}

    def available(self, cursor: Cursor, wanted: int, epochs: int | None) -> int:
        if epochs is not None:
            raise ValueError("epochs: expected none for a mixture, as each corpus has its own.")
        return wanted

    def near(self, cursor: Cursor) -> int:
        pairs = zip(self._orders, cursor["of"], strict=True)
        return min(order.near(place) for order, place in pairs)

    def read(self, cursor: Cursor, chosen: np.ndarray, epochs: int | None = None) -> np.ndarray:
        position = int(cursor["position"])
        whose = self._whose(position, position + int(chosen[-1]) + 1 if chosen.size else position)
        batch = np.empty((chosen.size, self.length + 1), self.vocabulary.dtype)
        for number, order in enumerate(self._orders):
            its = whose == number
            rows = np.flatnonzero(its[chosen])
            if rows.size:
                # Its samples are counted separately.
                batch[rows] = order.read(cursor["of"][number], np.cumsum(its)[chosen[rows]] - 1)
        return batch

    def after(self, cursor: Cursor, count: int) -> Cursor:
        position = int(cursor["position"])
        given = self._given(position + count) - self._given(position)
        pairs = zip(self._orders, cursor["of"], given.tolist(), strict=True)
        return {
            "position": position + count,
            "of": [order.after(place, n) for order, place, n in pairs],
        }

    def check(self, cursor: Cursor) -> None:
        if cursor["position"] < 0 or len(cursor["of"]) != len(self._orders):
            raise ValueError(f"{len(self._orders)} orders are mixed")
        for order, place in zip(self._orders, cursor["of"], strict=True):
            order.check(place)

    def _given(self, position: int) -> np.ndarray:
        """Return int64: samples of each order before a position."""
        block, first = divmod(position, BLOCK)
        begun = np.bincount(self._block(block)[:first], minlength=len(self._orders))
        return block * self._counts + begun

    def _whose(self, start: int, stop: int) -> np.ndarray:
        """Return uint16: the order of each sample at positions [start, stop)."""
        runs = [np.zeros(0, np.uint16)]
        while start < stop:
            block, first = divmod(start, BLOCK)
            last = min(BLOCK, first + stop - start)
            runs.append(self._block(block)[first:last])
            start += last - first
        return np.concatenate(runs)

    def _block(self, block: int) -> np.ndarray:
        if block in self._blocks:
            return self._blocks[block]
        places = []
        for number, count in enumerate(self._counts.tolist()):
            nth = np.arange(count)
            chance = unit_hash(nth, self._seed, f"mixture/{block}/{number}")
            places.append((nth + chance) / count)
        whose = np.repeat(np.arange(len(places), dtype=np.uint16), self._counts)
        mixed = whose[np.argsort(np.concatenate(places), kind="stable")]
        self._blocks = dict([*self._blocks.items()][-1:]) | {block: mixed}
        return mixed
