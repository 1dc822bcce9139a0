"""All samples of a split, shuffled anew in every epoch, or in stored order."""

from typing import Any

import numpy as np

from corpusmill.reader.orders import Cursor
from corpusmill.reader.packed_samples import PackedSamples
from corpusmill.reader.permutation import Permutation
from corpusmill.reader.samples import Samples, refuse_few_shards
from corpusmill.reader.selection import ChosenSamples, Selection
from corpusmill.reader.split import Split


class InOrder:
    """Samples in stored order, which is shuffled by documents. For validation. packed: samples are
    the rows that the run packed to this length, instead of windows."""

    kind = "in order"

    def __init__(self, split: Split | Selection, length: int, packed: bool = False) -> None:
        self.samples = samples_of(split, length, packed)
        self.length, self.vocabulary = length, split.vocabulary
        self.identity: dict[str, Any] = {
            "order": self.kind, "corpus": split.digest, "split": split.name, "length": length
        }  # fmt: skip
        if isinstance(split, Selection):
            self.identity |= {"chosen": split.identity}
        if isinstance(self.samples, PackedSamples):
            self.identity |= {"rows": "packed", "index": self.samples.digests}

    def begin(self) -> Cursor:
        return {"epoch": 0, "position": 0}

    def available(self, cursor: Cursor, wanted: int, epochs: int | None) -> int:
        if epochs is None:
            return wanted
        return max(0, min(wanted, epochs * len(self.samples) - self._counted(cursor)))

    def near(self, cursor: Cursor) -> int:
        return len(self.samples)

    def read(self, cursor: Cursor, chosen: np.ndarray, epochs: int | None = None) -> np.ndarray:
        places = self._counted(cursor) + chosen
        epoch_of, positions = np.divmod(places, len(self.samples))
        numbers = np.empty_like(positions)
        for epoch in np.unique(epoch_of).tolist():
            here = epoch_of == epoch
            numbers[here] = self.numbers(epoch, positions[here])
        return self.samples.rows(numbers)

    def after(self, cursor: Cursor, count: int) -> Cursor:
        epoch, position = divmod(self._counted(cursor) + count, len(self.samples))
        return {"epoch": epoch, "position": position}

    def check(self, cursor: Cursor) -> None:
        if cursor["epoch"] < 0 or not 0 <= cursor["position"] < len(self.samples):
            raise ValueError(f"an epoch has {len(self.samples)} samples")

    def _counted(self, cursor: Cursor) -> int:
        return int(cursor["epoch"]) * len(self.samples) + int(cursor["position"])

    def numbers(self, epoch: int, positions: np.ndarray) -> np.ndarray:
        """Return the samples at these positions of an epoch."""
        return positions


def samples_of(
    split: Split | Selection, length: int, packed: bool
) -> Samples | PackedSamples | ChosenSamples:
    if not isinstance(split, Selection):
        return PackedSamples(split, length) if packed else Samples(split, length)
    if packed:
        raise ValueError(
            "packed: expected a whole split, found chosen documents. The run packs the documents "
            "of a whole split; leave out packed."
        )
    return ChosenSamples(split, length)


class Shuffled(InOrder):
    """Samples in shuffled order: sample P(i) is at position i, with P a keyed bijection for (seed,
    epoch). packed: as for `InOrder`."""

    kind = "shuffled"

    def __init__(
        self, split: Split | Selection, length: int, seed: int, packed: bool = False
    ) -> None:
        super().__init__(split, length, packed)
        if isinstance(split, Split):
            refuse_few_shards(split, "a shuffle of all samples needs every shard at the same time")
        self.identity |= {"seed": seed}
        self._seed = seed

    def numbers(self, epoch: int, positions: np.ndarray) -> np.ndarray:
        shuffle = Permutation(len(self.samples), f"{self._seed}/{epoch}/samples")
        return shuffle(positions)
