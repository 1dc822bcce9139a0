"""For whom documents of one part were dropped: as the bins tell it, and as it is kept."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from corpusmill.mill.dedup.edges import DROPPED, STAGES, place_of
from corpusmill.mill.read.ids import ROW_BITS, ROW_MASK
from corpusmill.mill.storage.arrays import StoredArray
from corpusmill.mill.storage.files import load_json
from corpusmill.mill.storage.tables import save_parquet


def dropped_of_part(resolved: Path, part: int) -> np.ndarray:
    """DROPPED: the part's documents that are like another, from every bin."""
    bounds = part << ROW_BITS, part + 1 << ROW_BITS
    found = [np.empty(0, DROPPED)]
    for bin in load_json(resolved)["parts"]:
        table = StoredArray.open(bin["file"])
        start, stop = (place_of(table, "id", bound) for bound in bounds)
        found.append(np.array(table[start:stop]))
    return np.concatenate(found)


def won_by(dropped: np.ndarray, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """winner, similarity and stage of every document; its own winner is who was not dropped."""
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
    """One row per dropped duplicate: for whom, how similar, and what decided.

    rows: of the duplicates; all others are of every document.
    """
    names = pa.array([None, *(STAGES[value] for value in sorted(STAGES))], pa.string())
    measured = similarity[rows]
    table = pa.table(
        {
            "id": ids[rows],
            "winner": winner[rows],
            "similarity": pa.array(measured, pa.float32(), mask=np.isnan(measured)),
            "stage": names.take(pa.array(stage[rows].astype(np.int64))),
        }
    )
    save_parquet(path, table)
