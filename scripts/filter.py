"""Decide which documents of one part the filters drop, from what was measured of them."""

import logging
from pathlib import Path
from typing import Any

import pyarrow as pa

from corpusmill.filters.measuring import decided
from corpusmill.run.job import run
from corpusmill.storage.tables import in_one_piece, load_arrow, load_notes, save_table


def filter(measures: Path, filters: list[dict[str, Any]], verdicts: Path) -> None:
    """filters: with all of their settings."""
    table = load_arrow(measures)
    decision = decided(filters, table)
    passed_on = ["text_bytes", "source", "preference"]
    save_table(
        verdicts,
        fate=decision.fates.array(),
        reason=pa.array(decision.reasons, pa.string()),
        notes=load_notes(measures),
        **{name: in_one_piece(table[name]) for name in passed_on if name in table.column_names},
    )
    for name in decision.fates.names:
        logging.info("%s: %d documents", name, decision.fates.has(name).sum())


if __name__ == "__main__":
    run(filter)
