"""Checks the order of documents that are not shuffled, as far as placements say it."""

from typing import Any

import numpy as np

from corpusmill.mill.decide.fates import SPLITS
from corpusmill.run.order_config import AS_FOUND, SHUFFLED
from corpusmill.tools.verify.reading import Corpus
from corpusmill.tools.verify.shard_documents import Placed, Shard


class SplitOrder:
    """The order of each split, as the configuration says."""

    def __init__(self, told: Any) -> None:
        """told: `shuffle.order`."""
        self._told = told

    @property
    def is_as_found(self) -> bool:
        return bool(self._told == AS_FOUND)

    @property
    def is_curriculum(self) -> bool:
        return isinstance(self._told, dict)

    def is_shuffled(self, split: str) -> bool:
        return self._told == SHUFFLED or (self.is_curriculum and split in SPLITS[1:])


class AsFoundCheck:
    """Documents as found ascend by (copy, id), from shard to shard of a split."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[int, int]] = {}

    def hold(self, corpus: Corpus, shard: Shard, placed: Placed) -> None:
        """Report a shard whose documents are in another order. Shards come in order."""
        if not placed.id.size:
            return
        before = self._last.get(shard.split)
        copies, ids = placed.copy, placed.id
        if before is not None:
            copies = np.append(np.uint64(before[0]), copies)
            ids = np.append(np.uint64(before[1]), ids)
        ascends = (copies[1:] > copies[:-1]) | ((copies[1:] == copies[:-1]) & (ids[1:] > ids[:-1]))
        if not ascends.all():
            fault = "its documents are not in the order in which they were found"
            corpus.findings.damage(shard.placements, fault)
        self._last[shard.split] = int(copies[-1]), int(ids[-1])
