"""Decide which documents of one part the filters drop, from their measured values."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from corpusmill.mill.decide.fates import KEPT
from corpusmill.mill.filters.configured import configured
from corpusmill.mill.filters.measuring import Decision, decided
from corpusmill.mill.storage.files import save_json
from corpusmill.mill.storage.tables import in_one_piece, load_arrow, save_table
from corpusmill.run.job import run

SHOWN = 3
"""Number of documents to show per source and filter if a filter drops too many."""


def filter(measures: Path, filters: list[dict[str, Any]], verdicts: Path, counts: Path) -> None:
    """filters: with all settings."""
    table = load_arrow(measures)
    decision = decided(configured(filters), table)
    save_table(
        verdicts,
        fate=decision.fates.array(),
        reason=pa.array(decision.reasons, pa.string()),
    )
    save_json(counts, {"by_source": by_source(decision, in_one_piece(table["source"]))})
    for name in decision.fates.names:
        logging.info("%s: %d documents", name, decision.fates.has(name).sum())


def by_source(decision: Decision, sources: pa.DictionaryArray) -> dict[str, dict]:
    """Return per source: its documents, drops by filter, and rows of the first drops."""
    of_row, found = sources.indices.to_numpy(), {}
    for number, source in enumerate(sources.dictionary.to_pylist()):
        mine = of_row == number
        dropped = {
            name: np.flatnonzero(mine & decision.fates.has(name))
            for name in decision.fates.names
            if name != KEPT
        }
        found[source] = {
            "documents": int(mine.sum()),
            "dropped": {name: rows.size for name, rows in dropped.items()},
            "first": {name: rows[:SHOWN].tolist() for name, rows in dropped.items()},
        }
    return found


if __name__ == "__main__":
    run(filter)
