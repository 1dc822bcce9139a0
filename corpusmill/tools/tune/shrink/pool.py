"""The documents of a corpus from which proxies are drawn. All of them are in memory."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from corpusmill.mill.decide.cells import Columns
from corpusmill.mill.decide.mixture import Stage, label_column, labels_of, numbers_of
from corpusmill.reader.selection import groups_of_documents
from corpusmill.reader.split import Split
from corpusmill.tools.tune.mixture.mixtures import tables_of
from corpusmill.tools.why.parquet_rows import Rows


class Pool(NamedTuple):
    """The different documents of a split, in the order of their ids."""

    columns: dict[str, np.ndarray]
    """Columns of candidates; sizes are tokens, with the end of text."""
    labels: dict[str, list[str]]
    """The names of each column of names."""
    groups: np.ndarray
    """uint32: places in the groups of the split."""
    copies: np.ndarray
    """int64: copies in the shards."""
    first: np.ndarray
    """int64: the number in the split of the first copy in the shards."""

    def pieces(self) -> Iterator[Columns]:
        yield self.columns

    @property
    def tokens(self) -> int:
        """Tokens of all documents, each counted once."""
        return int(self.columns["size"].sum())


def pool_of(results: Path, split: Split, sources: list[str]) -> Pool:
    """Return the documents. sources: of the configuration, in order."""
    ids, sizes = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
    for shard, number in enumerate(split.shards.numbers):
        path = results / f"placements/{split.name}/{number}.parquet"
        documents = int(split.shards.documents[shard])
        ids.append(Rows(path, documents).columns("id")["id"].to_numpy())
        sizes.append(np.diff(split.opened.starts(shard)))
    groups = groups_of_documents(split)
    found, first, copies = np.unique(np.concatenate(ids), return_index=True, return_counts=True)
    names = [group.source for group in split.groups]
    if unknown := sorted({*names} - {*sources}):
        raise ValueError(
            f"{results}: expected the sources of its configuration, found {unknown[0]!r:.100}. "
            "Finish the run: corpusmill run"
        )
    places = np.array([sources.index(name) for name in names], np.int64)
    columns = {
        "id": found,
        "size": np.concatenate(sizes)[first],
        "source": places[groups[first]],
    }
    return Pool(columns, {}, groups[first], copies, first)


def with_values(pool: Pool, results: Path, stages: list[Stage]) -> Pool:
    """Return the pool with the values that mixtures use, from the candidates of the run."""
    labels, numbers = labels_of(stages), numbers_of(stages)
    if not labels and not numbers:
        return pool
    tables = tables_of(results, stages, any_unit=True)
    ids = pool.columns["id"]
    found: dict[str, np.ndarray] = {label_column(name): np.full(ids.size, -1) for name in labels}
    found |= {name: np.full(ids.size, np.nan) for name in numbers}
    seen = np.zeros(ids.size, bool)
    for piece in tables.pieces():
        rows = np.searchsorted(ids, piece["id"])
        there = rows < ids.size
        there[there] = ids[rows[there]] == piece["id"][there]
        seen[rows[there]] = True
        for name, column in found.items():
            column[rows[there]] = piece[name][there]
    if not seen.all():
        raise ValueError(
            f"{results}/candidates: expected every document of the shards, found "
            f"{int(seen.sum()):,} of {seen.size:,}. Finish the run: corpusmill run"
        )
    return pool._replace(columns=pool.columns | found, labels=tables.labels)
