"""Find the group of every document of a split: its source and its cell of the mixture."""

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from corpusmill.messages.progress import Progress
from corpusmill.mill.decide.candidates import NO_CELL, load_cells
from corpusmill.mill.storage.files import load_json, save_json, writing
from corpusmill.mill.storage.sums import CheckedFile
from corpusmill.mill.tokens.group_files import DTYPE, Group, GroupFiles, legend_of
from corpusmill.mill.tokens.pack_files import npy_header


class CellsOfSplit(NamedTuple):
    """The cells of the documents that a mixture put into a split."""

    by: list[str]
    names: list[tuple[str, ...]]
    ids: np.ndarray
    """uint64, ascending"""
    cells: np.ndarray
    """int32: places in `names`"""

    @classmethod
    def load(cls, composition: Path, copies: list[Path], split: str) -> "CellsOfSplit":
        """composition: of the split. copies: of every block of parts, in order."""
        told = load_json(composition)
        found = [load_cells(path, split) for path in copies]
        ids, cells = (np.concatenate(columns) for columns in zip(*found, strict=True))
        if (ids[1:] <= ids[:-1]).any():
            raise ValueError(f"{copies[0].parent}: expected ascending ids, found others")
        return cls(told["by"], [tuple(cell["cell"]) for cell in told["cells"]], ids, cells)

    def of(self, ids: np.ndarray) -> np.ndarray:
        """Return int64: the cells of documents."""
        places = np.searchsorted(self.ids, ids)
        places[places == self.ids.size] = 0
        if not (self.ids.size and (self.ids[places] == ids).all()) and ids.size:
            raise ValueError("placements: expected only documents of the mixture, found others")
        return self.cells[places].astype(np.int64)


def save_groups(
    files: GroupFiles, placements: list[Path], cells: CellsOfSplit | None, progress: Progress
) -> list[Group]:
    """Write the groups of a split's documents; return them, sorted by source and cell.

    placements: of the split's shards, in order. progress: counts shards.
    """
    sources: dict[str, int] = {}
    numbers: dict[tuple[int, int], int] = {}
    parts: list[np.ndarray] = []
    documents: Counter[int] = Counter()
    tokens: Counter[int] = Counter()
    for path in placements:
        columns = ["id", "source", "token_start", "token_end"]
        table = pq.read_table(pa.PythonFile(CheckedFile(path), mode="r"), columns=columns)
        ids, begins, ends = (table[name].to_numpy() for name in ("id", *columns[2:]))
        named = table["source"].combine_chunks().dictionary_encode()
        of_names = [sources.setdefault(one, len(sources)) for one in named.dictionary.to_pylist()]
        source = np.array(of_names, np.int64)[named.indices.to_numpy()]
        cell = np.full(ids.size, NO_CELL) if cells is None else cells.of(ids)
        wide = int(cell.max(initial=NO_CELL)) + 2
        pairs, places = np.unique(source * wide + cell + 1, return_inverse=True)
        known = [(pair // wide, pair % wide - 1) for pair in pairs.tolist()]
        found = [numbers.setdefault(pair, len(numbers)) for pair in known]
        parts.append(np.array(found, DTYPE)[places])
        counts, lengths = np.bincount(places), np.zeros(pairs.size, np.int64)
        np.add.at(lengths, places, (ends - begins).astype(np.int64))
        for number, count, size in zip(found, counts.tolist(), lengths.tolist(), strict=True):
            documents[number] += count
            tokens[number] += size
        progress.advance(1)
    names = list(sources)
    groups = [
        Group(names[source], None if cells is None else cells.names[cell], documents[number],
              tokens[number])
        for (source, cell), number in numbers.items()
    ]  # fmt: skip
    order = sorted(range(len(groups)), key=lambda place: (groups[place].source,
                                                          groups[place].cell or ()))  # fmt: skip
    renumbered = np.argsort(order).astype(DTYPE)
    with writing(files.numbers, kept=True) as file:
        file.write(npy_header((sum(part.size for part in parts),), DTYPE))
        for part in parts:
            file.write(renumbered[part].view(np.uint8))
    ordered = [groups[place] for place in order]
    by = [] if cells is None else cells.by
    legend: dict[str, Any] = legend_of(ordered, by, file.sha256)
    save_json(files.legend, legend, kept=True)
    return ordered
