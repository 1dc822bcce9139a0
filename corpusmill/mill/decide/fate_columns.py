"""The fates of a part's documents as a table column: names once, numbers per row."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from corpusmill.mill.decide.fates import FATES, KEPT, AtAssign, AtDecontaminate
from corpusmill.mill.storage.tables import load_labels


class FateColumn:
    """A fate per document. All are kept at first, and the first decision wins."""

    def __init__(self, documents: int) -> None:
        self.names = [KEPT]
        self.numbers = np.zeros(documents, np.uint8)
        """uint8 (documents,): the index of each document's fate in `names`; 0 means kept."""

    @classmethod
    def load(cls, path: Path) -> "FateColumn":
        """Load the column `fate` of a decision table."""
        column = cls(0)
        names, numbers = load_labels(path, "fate")
        column.names, column.numbers = names or [KEPT], numbers.copy()
        return column

    @property
    def kept(self) -> np.ndarray:
        """bool (documents,): whether each document is kept."""
        return self.numbers == 0

    def drop(self, name: str, which: np.ndarray) -> np.ndarray:
        """Give this fate to documents of `which`, bool (documents,), that are still kept; return
        these."""
        if name not in self.names:
            self.names.append(name)
        dropped = self.kept & which
        self.numbers[dropped] = self.names.index(name)
        return dropped

    def decide(self, step: str, documents: AtAssign | AtDecontaminate, among: np.ndarray) -> None:
        """Give the fates of `FATES` that a step decides to documents of `among`, bool (documents,),
        in order."""
        for fate in FATES.values():
            if fate.step == step and fate.decides:
                self.drop(fate.name, among & fate.decides(documents))

    def has(self, name: str) -> np.ndarray:
        """Return bool (documents,): which documents have this fate."""
        if name not in self.names:
            return np.zeros(self.numbers.size, bool)
        return self.numbers == self.names.index(name)

    def array(self) -> pa.DictionaryArray:
        names = pa.array(self.names, pa.string())
        return pa.DictionaryArray.from_arrays(pa.array(self.numbers, pa.uint8()), names)
