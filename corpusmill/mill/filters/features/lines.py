"""Split texts into lines."""

from typing import NamedTuple

import numpy as np

from corpusmill.kernels.lines import split_newlines
from corpusmill.mill.filters.features.words import word_table
from corpusmill.mill.read.text_column import TextColumn


class Lines(NamedTuple):
    """The lines of several documents in order, split at newlines. Empty lines count."""

    first: np.ndarray  # int64 (documents + 1,): number of each document's first line
    starts: np.ndarray  # int64: first byte in the column
    ends: np.ndarray
    chars: np.ndarray  # uint32
    hashes: np.ndarray  # uint64, as for words
    blank: np.ndarray  # bool: only white space

    @property
    def columns(self) -> tuple[np.ndarray, ...]:
        """All columns but `first`."""
        return self[1:]


def lines_of(texts: TextColumn) -> Lines:
    bytes_of_all = texts.data[texts.offsets[0] : texts.offsets[-1]]
    count = int(np.count_nonzero(bytes_of_all == ord("\n"))) + texts.offsets.size - 1
    dtypes = np.int64, np.int64, np.uint32, np.uint64, np.bool_
    columns = [np.empty(count, dtype) for dtype in dtypes]
    first = np.zeros(texts.offsets.size, np.int64)
    split_newlines(texts.data, texts.offsets, word_table(), first, *columns)
    return Lines(first, *columns)
