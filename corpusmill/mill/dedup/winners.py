"""The winners of one part's dropped documents: read them from the bins, save them as clusters."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from corpusmill.mill.dedup.edges import DROPPED, STAGES, place_of
from corpusmill.mill.read.ids import ROW_BITS, ROW_MASK
from corpusmill.mill.storage.arrays import StoredArray
from corpusmill.mill.storage.files import load_listing
from corpusmill.mill.storage.tables import named, save_parquet


def dropped_of_part(resolved: list[Path], part: int) -> np.ndarray:
    """Return DROPPED: the part's dropped documents, from all bins."""
    bounds = part << ROW_BITS, part + 1 << ROW_BITS
    found = [np.empty(0, DROPPED)]
    for bin in load_listing(resolved):
        table = StoredArray.open(bin["file"])
        start, stop = (place_of(table, "id", bound) for bound in bounds)
        found.append(np.array(table[start:stop]))
    return np.concatenate(found)


class Clusters(NamedTuple):
    """The cluster of each document of a part, if it is the one that is kept. Else 1 of each."""

    documents: np.ndarray  # int64 (documents,)
    sources: np.ndarray  # int64 (documents,): different ones


def clusters_of_part(resolved: list[Path], part: int, rows: int) -> Clusters:
    """rows: documents of the part."""
    found = Clusters(np.ones(rows, np.int64), np.ones(rows, np.int64))
    bounds = part << ROW_BITS, part + 1 << ROW_BITS
    for bin in load_listing(resolved):
        table = StoredArray.open(bin["winners"])
        start, stop = (place_of(table, "id", bound) for bound in bounds)
        mine = np.array(table[start:stop])
        of_rows = (mine["id"] & np.uint64(ROW_MASK)).astype(np.int64)
        found.documents[of_rows] += mine["dropped"]
        found.sources[of_rows] = mine["sources"]
    return found


def won_by(dropped: np.ndarray, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return winner, similarity and stage per document; a kept one is its own winner."""
    rows = (dropped["id"] & np.uint64(ROW_MASK)).astype(np.int64)
    winner, stage = ids.copy(), np.zeros(ids.size, np.uint8)
    similarity = np.full(ids.size, np.nan, np.float32)
    winner[rows], stage[rows] = dropped["winner"], dropped["stage"]
    similarity[rows] = dropped["similarity"]
    return winner, similarity, stage


def save_clusters(
    path: Path,
    ids: np.ndarray,
    winner: np.ndarray,
    similarity: np.ndarray,
    stage: np.ndarray,
    rows: np.ndarray,
) -> None:
    """Save one row per dropped duplicate: its winner, similarity and stage.

    rows: of the duplicates. The other arrays cover all documents.
    """
    measured = similarity[rows]
    table = pa.table(
        {
            "id": ids[rows],
            "winner": winner[rows],
            "similarity": pa.array(measured, pa.float32(), mask=np.isnan(measured)),
            "stage": named(stage[rows], STAGES),
        }
    )
    save_parquet(path, table)
