"""Some documents of a split, read as one stream: those of some sources or cells, or of a list."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from corpusmill.messages.near_names import meant
from corpusmill.mill.tokens.group_files import DTYPE, Group
from corpusmill.mill.tokens.pack_files import runs
from corpusmill.reader.manifest import Vocabulary
from corpusmill.reader.pieces import copy_pieces, mapped_array
from corpusmill.reader.samples import refuse_few_shards
from corpusmill.reader.split import Split

Cell = tuple[str, ...]


class Selection:
    """Documents of a split, one after the other. A document may occur several times.

    Needs the index of every shard, and 16 bytes of memory per document.
    """

    def __init__(self, split: Split, documents: np.ndarray, identity: dict[str, Any]) -> None:
        """documents: int64, numbers of documents of the split in the order of the stream.
        identity: says which documents these are, as JSON."""
        refuse_few_shards(split, "chosen documents may be in every shard")
        self.split = split
        self.identity = identity
        if documents.size and not 0 <= documents.min() <= documents.max() < split.documents:
            raise ValueError(
                f"expected documents within [0, {split.documents}) of {split.name}, found "
                f"{documents.min()} to {documents.max()}. Is the list of another corpus?"
            )
        self.starts, self.ends = placed(split, documents)
        self.held: np.ndarray | None = None
        """All tokens, if they are held in memory."""

    def hold(self) -> None:
        """Read all tokens into memory."""
        row = np.empty((1, self.tokens), self.vocabulary.dtype)
        fill_rows(self, row, np.zeros(1, np.int64))
        self.held = row[0]

    @property
    def name(self) -> str:
        return self.split.name

    @property
    def vocabulary(self) -> Vocabulary:
        return self.split.vocabulary

    @property
    def digest(self) -> str:
        return self.split.digest

    @property
    def tokens(self) -> int:
        return int(self.ends[-1]) if self.ends.size else 0


class Chosen(Selection):
    """The documents of some sources, of some cells of the mixture, or of both.

    sources: their names. cells: their names along the entries of `mixture.by`; the first names of a
    cell choose all cells that begin with them. None: all.
    """

    def __init__(
        self,
        split: Split,
        sources: Sequence[str] | None = None,
        cells: Iterable[Cell] | None = None,
    ) -> None:
        if isinstance(sources, str):
            raise TypeError(f"sources {sources!r}: expected a list of names, found a text.")
        beginnings = None if cells is None else sorted({tuple(cell) for cell in cells})
        if sources is not None:
            refuse_unknown("source", sources, [one.source for one in split.groups])
        for cell in beginnings or ():
            known = {one.cell[: len(cell)] for one in split.groups if one.cell}
            refuse_unknown("cell", [":".join(cell)], [":".join(one) for one in known])
        wanted = [
            (sources is None or group.source in sources)
            and (beginnings is None or any(begins(group, cell) for cell in beginnings))
            for group in split.groups
        ]
        identity = {
            "sources": None if sources is None else sorted(set(sources)),
            "cells": None if beginnings is None else [list(cell) for cell in beginnings],
            "groups": split.group_index.numbers.sha256,
        }
        numbers = np.flatnonzero(np.array(wanted, bool)[groups_of_documents(split)])
        super().__init__(split, numbers, identity)


def begins(group: Group, cell: Cell) -> bool:
    return group.cell is not None and group.cell[: len(cell)] == cell


def refuse_unknown(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    there = sorted(set(known))
    for name in names:
        if name not in there:
            raise ValueError(
                f"{name!r}: expected a {what} of this split."
                f"{meant(name, there) if there else ' It has none.'}"
            )


def groups_of_documents(split: Split) -> np.ndarray:
    """Return uint32 (documents,): places in `split.groups`."""
    path = split.shelf.other(split.group_index.numbers)
    numbers = mapped_array(path, 1, DTYPE)
    if numbers.size != split.documents or numbers.max(initial=0) >= max(1, len(split.groups)):
        raise ValueError(
            f"{path}: expected the groups of {split.documents} documents, each below "
            f"{len(split.groups)}, found others. Copy the file again, or mill the corpus again."
        )
    return numbers


def placed(split: Split, documents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return int64: where each document starts in the split, and where it ends in the selection."""
    first, sizes = np.empty(documents.size, np.int64), np.empty(documents.size, np.int64)
    shards = np.searchsorted(split.document_starts, documents, "right") - 1
    order = np.argsort(shards, kind="stable")
    bounds = np.searchsorted(shards[order], np.arange(split.shards.tokens.size + 1))
    for shard in np.flatnonzero(np.diff(bounds)).tolist():
        mine = order[bounds[shard] : bounds[shard + 1]]
        starts = split.opened.starts(shard)
        rows = documents[mine] - split.document_starts[shard]
        first[mine] = split.token_starts[shard] + starts[rows]
        sizes[mine] = starts[rows + 1] - starts[rows]
    return first, np.cumsum(sizes)


class ChosenSamples:
    """Windows of the stream of a selection, as `Samples` are of a split's."""

    def __init__(self, selection: Selection, length: int) -> None:
        if length < 1 or selection.tokens <= length:
            raise ValueError(
                f"length {length}: expected 1 to {selection.tokens - 1}, as the chosen documents "
                f"of {selection.name} have {selection.tokens} tokens. Take a shorter length or "
                "more documents."
            )
        self._selection = selection
        self.length = length

    def __len__(self) -> int:
        return (self._selection.tokens - 1) // self.length

    def rows(self, numbers: np.ndarray) -> np.ndarray:
        """Return (numbers, length + 1): samples by int64 numbers, in any order."""
        begin = numbers * self.length
        if self._selection.held is not None:
            windows = np.lib.stride_tricks.sliding_window_view(
                self._selection.held, self.length + 1
            )
            found: np.ndarray = windows[begin]
            return found
        rows = np.empty((numbers.size, self.length + 1), self._selection.vocabulary.dtype)
        fill_rows(self._selection, rows, begin)
        return rows


def fill_rows(chosen: Selection, rows: np.ndarray, begin: np.ndarray) -> None:
    """Copy tokens of a selection into rows. begin: int64, where each row begins."""
    split, ends, width = chosen.split, chosen.ends, rows.shape[1]
    first = np.searchsorted(ends, begin, "right")
    counts = np.searchsorted(ends, begin + width, "left") - first + 1
    place = runs(first, counts)
    row = np.repeat(np.arange(begin.size), counts)
    # Pieces in the stream of the selection, cut at the borders of the row.
    sizes = ends[place] - np.where(place > 0, ends[place - 1], 0)
    its_begin = ends[place] - sizes
    start = np.maximum(its_begin, begin[row])
    size = np.minimum(ends[place], begin[row] + width) - start
    source = chosen.starts[place] + start - its_begin
    shard = np.searchsorted(split.token_starts, source, "right") - 1
    local = source - split.token_starts[shard]
    copy_pieces(split, rows, shard, local, row * width + start - begin[row], size)
