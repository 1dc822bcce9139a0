"""Fates of the documents of a part as a column of a table: names once, numbers per row."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from corpusmill.mill.decide.fates import KEPT
from corpusmill.mill.storage.tables import load_labels


class FateColumn:
    """A fate per document; all are kept to begin with, and the first decision stays."""

    def __init__(self, documents: int) -> None:
        self.names = [KEPT]
        self.numbers = np.zeros(documents, np.uint8)
        """uint8 (documents,): the place of each fate among the names; 0 is kept."""

    @classmethod
    def load(cls, path: Path) -> "FateColumn":
        """The column `fate` of a decision table."""
        column = cls(0)
        names, numbers = load_labels(path, "fate")
        column.names, column.numbers = names or [KEPT], numbers.copy()
        return column

    @property
    def kept(self) -> np.ndarray:
        """bool (documents,)."""
        return self.numbers == 0

    def drop(self, name: str, which: np.ndarray) -> np.ndarray:
        """Give this fate to those of `which`, bool (documents,), that are still kept: returns
        them."""
        if name not in self.names:
            self.names.append(name)
        dropped = self.kept & which
        self.numbers[dropped] = self.names.index(name)
        return dropped

    def has(self, name: str) -> np.ndarray:
        """bool (documents,): whose fate it is."""
        if name not in self.names:
            return np.zeros(self.numbers.size, bool)
        return self.numbers == self.names.index(name)

    def array(self) -> pa.DictionaryArray:
        names = pa.array(self.names, pa.string())
        return pa.DictionaryArray.from_arrays(pa.array(self.numbers, pa.uint8()), names)
