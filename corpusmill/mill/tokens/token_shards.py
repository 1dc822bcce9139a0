"""Token shards: `.bin` has raw ids, `.idx` the start of each document, `.json` the description."""

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from corpusmill.mill.storage.files import load_json, save_json, writing
from corpusmill.mill.storage.sums import CheckedFile


class TokenFiles(NamedTuple):
    """The files of one token shard."""

    bin: Path
    idx: Path
    facts: Path


def with_ends(documents: list[np.ndarray], end: int, dtype: str) -> np.ndarray:
    """Return the ids of all documents with `end` after each."""
    last = np.array([end], np.dtype(dtype).newbyteorder("<"))
    parts = [part for ids in documents for part in (ids, last)]
    return np.concatenate([last[:0], *parts], dtype=last.dtype, casting="same_kind")


class TokenShardWriter:
    """A writer of one token shard, batch by batch. The three files appear at the end."""

    def __init__(self, files: TokenFiles) -> None:
        self._files = files
        self.documents = 0
        self.tokens = 0
        self._sums: dict[str, Counter] = {}
        self._lengths: list[np.ndarray] = []

    def __enter__(self) -> "TokenShardWriter":
        self._writing = writing(self._files.bin, kept=True)
        self._file = self._writing.__enter__()
        return self

    def add(
        self, sources: pa.ChunkedArray, tokens: np.ndarray, lengths: np.ndarray, **sums: np.ndarray
    ) -> None:
        """Append documents. tokens: from `with_ends`. lengths: int64 (documents,), tokens of each.

        sums: other figures to sum per source, a number per document.
        """
        self._file.write(tokens.view(np.uint8))
        self._lengths.append(lengths)
        self.documents += lengths.size
        self.tokens += tokens.size
        places = sources.combine_chunks().dictionary_encode()
        names, rows = places.dictionary.to_pylist(), places.indices.to_numpy()
        documents = np.ones(lengths.size, np.int64)
        for figure, numbers in {"documents": documents, "tokens": lengths, **sums}.items():
            totals = np.zeros(len(names), np.int64)
            np.add.at(totals, rows, numbers)
            for name, total in zip(names, totals.tolist(), strict=True):
                self._sums.setdefault(name, Counter())[figure] += total

    def __exit__(self, *error: Any) -> None:
        self._writing.__exit__(*error)

    def finish(self, **facts: Any) -> np.ndarray:
        """Write the index and, last, the description with further facts.

        Return the index, uint64 (documents + 1,).
        """
        starts = np.zeros(self.documents + 1, "<u8")
        if self._lengths:
            np.cumsum(np.concatenate(self._lengths), out=starts[1:])
        with writing(self._files.idx, kept=True) as index:
            index.write(starts.view(np.uint8))
        save_json(
            self._files.facts,
            {
                "corpusmill.tokens": 1,
                "documents": self.documents,
                "tokens": self.tokens,
                "bytes": self._file.bytes,
                "sha256": self._file.sha256,
                "index_sha256": index.sha256,
                "by_source": {name: dict(sums) for name, sums in sorted(self._sums.items())},
                **facts,
            },
            kept=True,
        )
        return starts


class TokenShard:
    """A token shard on disk, mapped."""

    def __init__(self, files: TokenFiles) -> None:
        self.facts = load_json(files.facts)
        dtype = np.dtype(self.facts["dtype"]).newbyteorder("<")
        tokens, starts = CheckedFile(files.bin), CheckedFile(files.idx)
        self.tokens = np.frombuffer(tokens.view(0, tokens.size), dtype)
        self.starts = np.frombuffer(starts.view(0, starts.size), "<u8")

    def document(self, row: int) -> np.ndarray:
        """Return the ids of one document, with its end token."""
        return self.tokens[int(self.starts[row]) : int(self.starts[row + 1])]
