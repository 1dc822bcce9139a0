"""Batches for each rank and worker, and the state from which a trainer resumes."""

from collections import deque
from typing import Any

import numpy as np

from corpusmill.reader.orders import Cursor, Order

STATE, VERSION = "corpusmill.stream", 1
MEMBERS = {STATE, "order", "cursor", "turn"}
"""All members of a state. `turn` is only there with several workers."""
TOKENS_AHEAD = 1 << 20


class Batches:
    """The batches of a rank: arrays (batch_size, length + 1) of token ids, one per step.

    A step of all ranks takes the next batch_size * world_size samples of the order. Rank r gets the
    r-th run of batch_size of them. With `epochs`, the last step divides the remaining samples as
    evenly as possible. All ranks make the same number of steps; some may have no row in the last
    one.

    worker: (number, workers) if several processes make the batches of this rank in turn: steps
    number, number + workers, and so on. After a state is loaded, the same number of workers
    continues in turn. Any other number starts with worker 0.
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
                f"rank {rank} of world_size {world_size}: expected a world_size of at least 1 and "
                "a rank below it, from 0. Take both from torch.distributed or your launcher."
            )
        if batch_size < 1:
            raise ValueError(f"batch_size {batch_size}: expected 1 or more samples for each rank.")
        self.order = order
        self.cursor = order.begin()
        self._batch_size = batch_size
        self._rank, self._world_size = rank, world_size
        self._epochs = epochs
        self._worker, self._workers = worker
        self._waiting = self._worker  # steps of other workers before our next one
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
        """Read several steps at once, because one call costs as much as a hundred rows. Steps after
        the first are included only if they need no fetch."""
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
        """Advance all ranks by so many steps."""
        self._ahead.clear()
        self.cursor = self.order.after(self.cursor, self._counts(self.cursor, steps))

    def _counts(self, cursor: Cursor, steps: int) -> int:
        """Return the number of samples in the next steps of all ranks."""
        wanted = steps * self._batch_size * self._world_size
        return self.order.available(cursor, wanted, self._epochs) if steps else 0

    def _share(self, count: int) -> tuple[int, int]:
        rank, ranks = self._rank, self._world_size
        return count * rank // ranks, count * (rank + 1) // ranks

    def state_dict(self) -> dict[str, Any]:
        """Return the position of all ranks after the steps of this one: small, plain, equal on all
        ranks.

        Save it from one rank when all have made the same number of steps. With several workers, the
        state of the worker that made the last step includes all steps up to it.
        """
        state = {STATE: VERSION, "order": self.order.identity, "cursor": self.cursor}
        if self._workers > 1:
            state["turn"] = [(self._worker - self._waiting) % self._workers, self._workers]
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a state. Batch size, ranks and workers may have changed."""
        identity, cursor = read_state(state)
        if told := difference(self.order.identity, identity):
            raise ValueError(
                f"state: expected {told}. The state was saved for another corpus or order: open "
                "that one, pass the state through `changed` if a mixture changed, or start without "
                "a state."
            )
        turn, workers = checked_turn(state.get("turn", [0, 1]))
        try:
            self.order.check(cursor)
        except (ValueError, KeyError, TypeError) as fault:
            raise ValueError(
                f"state: expected a position in the order of samples, found {cursor!r} "
                f"({fault}). Load a complete state, or start without a state."
            ) from None
        self._ahead.clear()
        self.cursor = dict(cursor)
        as_before = workers == self._workers
        self._waiting = (self._worker - turn) % workers if as_before else self._worker


def read_state(state: dict[str, Any]) -> tuple[dict[str, Any], Cursor]:
    """Return the identity of the order of a state, and the place in it."""
    version = state.get(STATE)
    if version != VERSION:
        raise ValueError(
            f"state: expected version {VERSION} of a stream's state, found {version}. Load one "
            "that `state_dict` returned, or start without a state."
        )
    if unknown := sorted(set(state) - MEMBERS):
        raise ValueError(
            f"state: expected only the members {', '.join(sorted(MEMBERS))}, found "
            f"{', '.join(unknown)}, which this version of corpusmill does not know. Start "
            "without a state."
        )
    return state["order"], state["cursor"]


def checked_turn(turn: Any) -> tuple[int, int]:
    """Return (number, workers) of a turn. Raise ValueError if it is not valid."""
    whole = isinstance(turn, list) and [type(number) for number in turn] == [int, int]
    if not whole or not 0 <= turn[0] < turn[1]:
        raise ValueError(
            f"state: expected turn to be [worker, workers], found {turn!r}. Load a complete state, "
            "or start without a state."
        )
    return turn[0], turn[1]


def difference(here: Any, there: Any, name: str = "order") -> str | None:
    """Name the first difference between two identities; None if they are equal."""
    if isinstance(here, dict) and isinstance(there, dict) and set(here) == set(there):
        found = (difference(here[key], there[key], key) for key in here)
        return next((told for told in found if told), None)
    if isinstance(here, list) and isinstance(there, list) and len(here) == len(there):
        pairs = enumerate(zip(here, there, strict=True))
        found = (difference(a, b, f"{name} {place}") for place, (a, b) in pairs)
        return next((told for told in found if told), None)
    return None if here == there else f"{name} {here!r}, found {there!r}"
