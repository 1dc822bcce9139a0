"""Decide which documents of one part the filters drop, from what was measured of them."""

import logging
from pathlib import Path
from typing import Any

from corpusmill.filters.measuring import decided
from corpusmill.run.job import run
from corpusmill.storage.tables import load_all, load_column, load_notes, save_table


def filter(measures: Path, filters: list[dict[str, Any]], verdicts: Path) -> None:
    """filters: with all of their settings."""
    table = load_all(measures)
    fates = decided(filters, table, len(table["text_bytes"]))
    by_field = {"preference": load_column(measures, "preference")} if "preference" in table else {}
    save_table(
        verdicts,
        fate=fates.array(),
        text_bytes=table["text_bytes"],
        source=load_column(measures, "source"),
        notes=load_notes(measures),
        **by_field,
    )
    for name in fates.names:
        logging.info("%s: %d documents", name, fates.has(name).sum())


if __name__ == "__main__":
    run(filter)
