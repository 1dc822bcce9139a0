"""Batches and samples as torch datasets. Importing it requires torch."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset, IterableDataset, get_worker_info

from corpusmill.reader.batches import Batches
from corpusmill.reader.orders import Order
from corpusmill.reader.packed_samples import PackedSamples
from corpusmill.reader.samples import Samples


def as_tensor(tokens: np.ndarray) -> Any:
    """Return int64, which torch expects of ids."""
    return torch.from_numpy(tokens.astype(np.int64))


class TokenBatches(IterableDataset):  # type: ignore[misc]
    """Batches of a rank, int64 (batch_size, length + 1), for a DataLoader with batch_size=None.

    Workers make the batches in turn, so any number of them gives the same batches in the same
    order. The state of torchdata's StatefulDataLoader is exact as well.
    """

    def __init__(
        self,
        order: Order,
        batch_size: int,
        rank: int = 0,
        world_size: int = 1,
        epochs: int | None = None,
    ) -> None:
        super().__init__()
        self._order = order
        self._dealt = {
            "batch_size": batch_size, "rank": rank, "world_size": world_size, "epochs": epochs
        }  # fmt: skip
        self._begin = self._batches().state_dict()

    def _batches(self, worker: tuple[int, int] = (0, 1)) -> Batches:
        return Batches(self._order, **self._dealt, worker=worker)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Any]:
        info = get_worker_info()
        batches = self._batches((info.id, info.num_workers) if info else (0, 1))
        batches.load_state_dict(self._begin)
        return TensorBatches(batches)

    def state_after(self, steps: int) -> dict[str, Any]:
        """Return the state after every rank has taken so many batches, counted from the start of
        this one. It can be loaded with other ranks, batch sizes and workers."""
        batches = self._batches()
        batches.load_state_dict(self._begin)
        batches.skip(steps)
        return batches.state_dict()

    def state_dict(self) -> dict[str, Any]:
        """Return the start of an iteration; the iterator has the position within it."""
        return self._begin

    def load_state_dict(self, state: dict[str, Any]) -> None:
        batches = self._batches()
        batches.load_state_dict(state)
        self._begin = batches.state_dict()


class TensorBatches:
    """The batches of one worker as tensors."""

    def __init__(self, batches: Batches) -> None:
        self._batches = batches

    def __iter__(self) -> "TensorBatches":
        return self

    def __next__(self) -> Any:
        return as_tensor(next(self._batches))

    def state_dict(self) -> dict[str, Any]:
        return self._batches.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._batches.load_state_dict(state)


class TokenSamples(Dataset):  # type: ignore[misc]
    """Samples by number, int64 (length + 1,), for samplers of torch."""

    def __init__(self, samples: Samples | PackedSamples) -> None:
        self._samples = samples

    def __len__(self) -> int:
        return len(self._samples)

    def __getitem__(self, number: int) -> Any:
        return as_tensor(self._samples[number])

    def __getitems__(self, numbers: list[int]) -> list[Any]:
        """Return all samples of a batch at once, as a DataLoader requests them."""
        return list(as_tensor(self._samples.rows(np.array(numbers, np.int64))))
