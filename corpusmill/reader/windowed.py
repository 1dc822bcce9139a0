"""A shuffle that needs few shards at a time: of shards, and of the rows in a window of shards.

In epoch e, the shards come in the order of a keyed bijection for (seed, e). Windows are runs of
`window_shards` of them; the last of an epoch may be smaller. The rows of all shards of a window are
numbered consecutively and come in the order of a keyed bijection for (seed, e, window). So every
row comes once in an epoch. While a window is read, the next one is fetched.
"""

from typing import Any, NamedTuple

import numpy as np

from corpusmill.reader.orders import Cursor
from corpusmill.reader.packing import Cut, Packed, ShardRows
from corpusmill.reader.permutation import Permutation
from corpusmill.reader.split import Split

WINDOWS_REMEMBERED = 8


class Window(NamedTuple):
    """Shards that are read together, with the number of the first row of each, and of all rows."""

    shards: np.ndarray
    first_rows: np.ndarray

    @property
    def rows(self) -> int:
        return int(self.first_rows[-1])


class Windowed:
    """Rows in windowed order. packed: rows are whole documents packed together, else windows of a
    shard's stream."""

    def __init__(
        self, split: Split, length: int, seed: int, window_shards: int = 4, packed: bool = False
    ) -> None:
        if not isinstance(split, Split):
            raise TypeError(
                "split: expected a whole split, found chosen documents, which may be in every "
                "shard. Use Shuffled."
            )
        shards = split.shards.tokens.size
        if window_shards < 1:
            raise ValueError(f"window_shards {window_shards}: expected 1 or more shards at a time.")
        least = min(shards, 2 * window_shards)
        if split.shelf.kept is not None and split.shelf.kept < least:
            raise ValueError(
                f"keep_shards {split.shelf.kept}: expected {least} or more: the {window_shards} "
                "shards of a window and those of the next one. Raise keep_shards or lower "
                "window_shards."
            )
        self.split = split
        self.length, self.vocabulary = length, split.vocabulary
        # The plans of a window, and of the next when a batch reaches into it.
        self._rows: ShardRows = (
            Packed(split, length, 2 * window_shards) if packed else Cut(split, length)
        )
        self._seed = seed
        self._window_shards = window_shards
        self._windows_per_epoch = -(-shards // window_shards)
        self._windows: dict[tuple[int, int], Window] = {}
        self.identity: dict[str, Any] = {
            "order": "windowed", "corpus": split.digest, "split": split.name, "length": length,
            "rows": self._rows.kind, "window_shards": window_shards, "seed": seed,
        }  # fmt: skip

    def begin(self) -> Cursor:
        return {"epoch": 0, "window": 0, "position": 0}

    def available(self, cursor: Cursor, wanted: int, epochs: int | None) -> int:
        return wanted if epochs is None else self._walked(cursor, wanted, epochs)[1]

    def near(self, cursor: Cursor) -> int:
        rows = self._window(int(cursor["epoch"]), int(cursor["window"])).rows
        return rows - int(cursor["position"])

    def read(self, cursor: Cursor, chosen: np.ndarray, epochs: int | None = None) -> np.ndarray:
        epoch, window = int(cursor["epoch"]), int(cursor["window"])
        places = int(cursor["position"]) + chosen
        runs = [np.zeros((0, self.length + 1), self.vocabulary.dtype)]
        while places.size:
            rows = self._window(epoch, window).rows
            here = int(np.searchsorted(places, rows))
            if here:
                runs.append(self._of_window(epoch, window, places[:here], epochs))
            places = places[here:] - rows
            epoch, window = self._next(epoch, window)
        return np.concatenate(runs)

    def after(self, cursor: Cursor, count: int) -> Cursor:
        return self._walked(cursor, count, None)[0]

    def check(self, cursor: Cursor) -> None:
        if min(cursor.values()) < 0 or cursor["window"] >= self._windows_per_epoch:
            raise ValueError(f"an epoch has {self._windows_per_epoch} windows")

    def _walked(self, cursor: Cursor, count: int, epochs: int | None) -> tuple[Cursor, int]:
        """Return the cursor after the next `count` rows, or at the end of `epochs`, and the rows
        between.

        The cursor stops at the end of a window: counting the rows of the next one may need a fetch.
        """
        epoch, window = int(cursor["epoch"]), int(cursor["window"])
        left = int(cursor["position"]) + count
        epoch_rows, is_whole = 0, window == 0
        while epochs is None or epoch < epochs:
            rows = self._window(epoch, window).rows
            if left <= rows:
                return {"epoch": epoch, "window": window, "position": left}, count
            left, epoch_rows = left - rows, epoch_rows + rows
            epoch, window = self._next(epoch, window)
            if window:
                continue
            if is_whole:  # all epochs have the same number of rows
                more = (left - 1) // epoch_rows
                more = more if epochs is None else min(more, epochs - epoch)
                epoch, left = epoch + more, left - more * epoch_rows
            epoch_rows, is_whole = 0, True
        return {"epoch": epoch, "window": window, "position": left}, max(0, count - left)

    def _of_window(
        self, epoch: int, window: int, places: np.ndarray, epochs: int | None
    ) -> np.ndarray:
        shards, first_rows = found = self._window(epoch, window)
        after = self._next(epoch, window)
        now = shards.tolist()
        soon = [] if after[0] == epochs else self._shards(*after).tolist()
        self.split.opened.close_all_but({*now, *soon})
        self.split.shelf.expect(now, soon)
        numbers = Permutation(found.rows, f"{self._seed}/{epoch}/{window}/rows")(places)
        shard = np.searchsorted(first_rows, numbers, "right") - 1
        return self._rows.rows(shards[shard], numbers - first_rows[shard])

    def _window(self, epoch: int, window: int) -> Window:
        if (epoch, window) not in self._windows:
            if len(self._windows) > WINDOWS_REMEMBERED:
                self._windows.clear()
            shards = self._shards(epoch, window)
            counts = [self._rows.count(shard) for shard in shards.tolist()]
            self._windows[epoch, window] = Window(shards, np.append(0, np.cumsum(counts)))
        return self._windows[epoch, window]

    def _shards(self, epoch: int, window: int) -> np.ndarray:
        shards = self.split.shards.tokens.size
        first = window * self._window_shards
        places = np.arange(first, min(first + self._window_shards, shards))
        return Permutation(shards, f"{self._seed}/{epoch}/shards")(places)

    def _next(self, epoch: int, window: int) -> tuple[int, int]:
        last = window + 1 == self._windows_per_epoch
        return (epoch + 1, 0) if last else (epoch, window + 1)
