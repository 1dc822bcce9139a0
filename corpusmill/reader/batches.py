"""Who gets which samples, and how to go on where a trainer was stopped."""

from collections import deque
from typing import Any

import numpy as np

from corpusmill.reader.orders import Cursor, Order

VERSION = 1
MEMBERS = {"corpusmill.stream", "order", "cursor", "turn"}
"""All that a state can have; `turn` only with several workers."""
TOKENS_AHEAD = 1 << 20


class Batches:
    """The batches of a rank: arrays (batch_size, length + 1) of token ids, one per step.

    A step of all ranks takes the next batch_size * world_size samples of the order; rank r has the
    r-th run of batch_size of them. With `epochs` the last step has what is left, dealt as evenly as
    may be: every rank makes as many steps as the others, and may have no row in the last.

    worker: (number, workers) of one of several processes that make the batches of this rank in
    turn: steps number, number + workers, and so on. Behind a state that was loaded, as many workers
    as before go on in turn, and any other number begins with worker 0.
    """

    def __init__(
        self,
        order: Order,
        batch_size: int,
        rank: int = 0,
        world_size: int = 1,
        epochs: int | None = None,
        worker: tuple[int, int] = (0, 1),
    ) -> None:
        if world_size < 1 or not 0 <= rank < world_size:
            raise ValueError(
                f"rank {rank} of world_size {world_size}: expected one rank or more, and a rank "
                "from 0 to the last. Ask torch.distributed or your launcher."
            )
        if batch_size < 1:
            raise ValueError(f"batch_size {batch_size}: expected 1 or more samples for each rank.")
        self.order = order
        self.cursor = order.begin()
        self._batch_size = batch_size
        self._rank, self._world_size = rank, world_size
        self._epochs = epochs
        self._worker, self._workers = worker
        self._waiting = self._worker  # steps of others before the next one of ours
        self._ahead: deque[tuple[np.ndarray, Cursor]] = deque()

    def __iter__(self) -> "Batches":
        return self

    def __next__(self) -> np.ndarray:
        if not self._ahead:
            self._read_ahead()
        if not self._ahead:
            raise StopIteration
        batch, self.cursor = self._ahead.popleft()
        self._waiting = self._workers - 1
        return batch

    def _read_ahead(self) -> None:
        """Read a few steps in one go, as the work of a call is that of a hundred rows; but behind
        the first none that may have to be waited for."""
        begin = cursor = self.cursor
        near, offset, waiting = self.order.near(cursor), 0, self._waiting
        chosen: list[np.ndarray] = []
        cursors: list[Cursor] = []
        for _ in range(max(1, TOKENS_AHEAD // (self._batch_size * self.order.length))):
            if chosen and offset >= near:
                break
            skipped = self._counts(cursor, waiting)
            cursor = self.order.after(cursor, skipped)
            count = self._counts(cursor, 1)
            if not count:
                break
            first, stop = self._share(count)
            chosen.append(np.arange(first, stop) + offset + skipped)
            cursor = self.order.after(cursor, count)
            cursors.append(cursor)
            offset += skipped + count
            waiting = self._workers - 1
        if chosen:
            rows = self.order.read(begin, np.concatenate(chosen), self._epochs)
            ends = np.cumsum([one.size for one in chosen])[:-1]
            self._ahead.extend(zip(np.split(rows, ends), cursors, strict=True))

    def skip(self, steps: int) -> None:
        """Go on as if all ranks had made so many steps."""
        self._ahead.clear()
        self.cursor = self.order.after(self.cursor, self._counts(self.cursor, steps))

    def _counts(self, cursor: Cursor, steps: int) -> int:
        """Samples of the next steps of all ranks."""
        wanted = steps * self._batch_size * self._world_size
        return self.order.available(cursor, wanted, self._epochs) if steps else 0

    def _share(self, count: int) -> tuple[int, int]:
        rank, ranks = self._rank, self._world_size
        return count * rank // ranks, count * (rank + 1) // ranks

    def state_dict(self) -> dict[str, Any]:
        """Where all ranks are after as many steps as this one made; small, plain, the same on each
        of them. Save it from one rank, when all have made the same steps.

        Of several workers, the state of the one that made the last step has all steps up to it.
        """
        state = {"corpusmill.stream": VERSION, "order": self.order.identity, "cursor": self.cursor}
        if self._workers > 1:
            state["turn"] = [(self._worker - self._waiting) % self._workers, self._workers]
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on behind that. batch_size, ranks and workers may be others than they were."""
        version = state.get("corpusmill.stream")
        if version != VERSION:
            raise ValueError(
                f"state: expected version {VERSION} of a stream's state, found {version}. Load one "
                "that `state_dict` gave, or begin anew."
            )
        if told := difference(self.order.identity, state["order"]):
            raise ValueError(
                f"state: expected {told}. It is of another corpus or order: open those, or begin "
                "anew without it."
            )
        if unknown := sorted(set(state) - MEMBERS):
            raise ValueError(
                f"state: expected no more than {', '.join(sorted(MEMBERS))}, found "
                f"{', '.join(unknown)}, which this version does not know. Begin anew."
            )
        turn, workers = checked_turn(state.get("turn", [0, 1]))
        cursor = state["cursor"]
        try:
            self.order.check(cursor)
        except (ValueError, KeyError, TypeError) as fault:
            raise ValueError(
                f"state: expected a place in this order, found {cursor!r} ({fault}). Load a state "
                "that is whole, or begin anew."
            ) from None
        self._ahead.clear()
        self.cursor = dict(cursor)
        as_before = workers == self._workers
        self._waiting = (self._worker - turn) % workers if as_before else self._worker


def checked_turn(turn: Any) -> tuple[int, int]:
    """(number, workers): whose turn it is, and of how many; ValueError if it can be nobody's."""
    whole = isinstance(turn, list) and [type(number) for number in turn] == [int, int]
    if not whole or not 0 <= turn[0] < turn[1]:
        raise ValueError(
            f"state: expected turn to be one of some workers, found {turn!r}. Load a state that is "
            "whole, or begin anew."
        )
    return turn[0], turn[1]


def difference(here: Any, there: Any, name: str = "order") -> str | None:
    """The first thing in which two identities differ, in words; None if they do not."""
    if isinstance(here, dict) and isinstance(there, dict) and set(here) == set(there):
        found = (difference(here[key], there[key], key) for key in here)
        return next((told for told in found if told), None)
    if isinstance(here, list) and isinstance(there, list) and len(here) == len(there):
        pairs = enumerate(zip(here, there, strict=True))
        found = (difference(a, b, f"{name} {place}") for place, (a, b) in pairs)
        return next((told for told in found if told), None)
    return None if here == there else f"{name} {here!r}, found {there!r}"
