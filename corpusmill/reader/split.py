"""The token shards of a split as one stream of tokens and of documents."""

import bisect
import itertools
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from corpusmill.mill.storage.untrusted import load_plain_json
from corpusmill.mill.tokens.group_files import Group, groups_of
from corpusmill.reader.manifest import GroupIndex, Shards, Vocabulary
from corpusmill.reader.open_shards import OpenShards
from corpusmill.reader.shelves import Here, Shelf
from corpusmill.reader.stores import check_file


class Span(NamedTuple):
    """A document, or part of one, with tokens [start, stop) of the stream."""

    document: int  # counted through the split
    shard: int
    row: int  # the document in its shard
    start: int
    stop: int


class Split:
    """`train`, `validation` or `test` of a corpus. Tokens and documents are numbered through all
    its shards. Files are opened when they are read."""

    def __init__(
        self, shards: Shards, vocabulary: Vocabulary, shelf: Shelf, mapped_bytes: int
    ) -> None:
        self.shards = shards
        self.vocabulary = vocabulary
        self.shelf = shelf
        self.opened = OpenShards(shards, shelf, vocabulary.dtype, mapped_bytes)
        self.token_starts = np.append(0, np.cumsum(shards.tokens))
        self._starts: list[int] = self.token_starts.tolist()  # look-ups take a tenth of the time
        self.document_starts = np.append(0, np.cumsum(shards.documents))

    @property
    def name(self) -> str:
        return self.shards.split

    @property
    def tokens(self) -> int:
        return self._starts[-1]

    @property
    def documents(self) -> int:
        return int(self.document_starts[-1])

    @cached_property
    def digest(self) -> str:
        return self.shards.digest(self.vocabulary)

    @property
    def group_index(self) -> GroupIndex:
        """Return the files with the groups; raise ValueError if the corpus has none."""
        if self.shards.groups is None:
            raise ValueError(
                f"{self.name}: expected tokens/{self.name}/groups.npy in the manifest, found none. "
                "An earlier version made this corpus: mill it again to choose sources or cells."
            )
        return self.shards.groups

    @cached_property
    def groups(self) -> list[Group]:
        """Return the sources and cells of the documents, with their numbers of tokens."""
        path = self.shelf.other(self.group_index.legend)
        return groups_of(load_plain_json(path), str(path), self.documents)

    def read(self, start: int, stop: int) -> np.ndarray:
        """Return a copy of tokens [start, stop) of the stream."""
        if not 0 <= start <= stop <= self.tokens:
            raise ValueError(
                f"expected tokens within [0, {self.tokens}) of {self.name}, got [{start}, {stop})."
            )
        parts = [
            self.opened.tokens(shard)[first:last]
            for shard, first, last in self._stretches(start, stop)
        ]
        if len(parts) == 1:
            return parts[0].copy()
        return np.concatenate([np.zeros(0, self.vocabulary.dtype), *parts])

    def _stretches(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        """Yield (shard, first, last): tokens [first, last) of each shard in a stretch."""
        shard = bisect.bisect_right(self._starts, start) - 1
        while start < stop:
            begin, end = self._starts[shard : shard + 2]
            if start < end:
                yield shard, start - begin, min(stop, end) - begin
                start = end
            shard += 1

    def document(self, number: int) -> np.ndarray:
        """Return a copy of a document's tokens, including the final end-of-text."""
        shard, row = self._place(number)
        first, last = self.opened.starts(shard)[row : row + 2]
        return self.opened.tokens(shard)[first:last].copy()

    def _place(self, number: int) -> tuple[int, int]:
        if not 0 <= number < self.documents:
            raise ValueError(
                f"expected a document within [0, {self.documents}) of {self.name}, got {number}."
            )
        shard = int(np.searchsorted(self.document_starts, number, "right")) - 1
        return shard, number - int(self.document_starts[shard])

    def documents_in(self, start: int, stop: int) -> list[Span]:
        """Return the documents in tokens [start, stop), in order, clipped to that range."""
        spans = []
        for shard, first, last in self._stretches(start, stop):
            starts = self.opened.starts(shard)
            rows = range(
                int(np.searchsorted(starts, first, "right")) - 1,
                int(np.searchsorted(starts, last, "left")),
            )
            base = self._starts[shard]
            cuts = [first, *starts[rows.start + 1 : rows.stop].tolist(), last]
            for row, (a, b) in zip(rows, itertools.pairwise(cuts), strict=True):
                document = int(self.document_starts[shard]) + row
                spans.append(Span(document, shard, row, base + a, base + b))
        return spans

    def placement(self, number: int) -> dict[str, Any]:
        """Return a document's entry in results/placements: its `id` in the ledger, `copy` and
        `source`. Needs pyarrow and a local corpus."""
        import pyarrow.parquet as pq

        if not isinstance(self.shelf, Here):
            raise ValueError(
                f"document {number} of {self.name}: expected results/placements beside the tokens, "
                "but this corpus is read through a cache. Open it in the folder of its run."
            )
        shard, row = self._place(number)
        path = self.shelf.folder / f"placements/{self.name}/{self.shards.numbers[shard]}.parquet"
        check_file(path, None)
        found = pq.read_table(path).slice(row, 1).to_pylist()[0]
        if found["row"] != row:
            raise ValueError(
                f"{path}: expected row {row} at position {row}, found row {found['row']}. The "
                "file is from a different run: copy it again."
            )
        return found
