"""The account of one part: count its ledger rows, and compare with counts of earlier steps."""

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from corpusmill.mill.account.accounts import imbalances
from corpusmill.mill.decide.fates import DUPLICATE, TRAIN
from corpusmill.mill.storage.files import load_json
from corpusmill.mill.storage.tables import open_parquet


def account_of(rows: pa.Table) -> dict[str, Counter]:
    """Count documents, bytes and copies per source and fate."""
    account: dict[str, Counter] = {}
    stages = [name for name in rows.column_names if name.endswith("_copies")]
    grouped = rows.group_by(["source", "fate", "split"]).aggregate(
        [(name, "sum") for name in ("text_bytes", "copies", *stages)] + [("fate", "count")]
    )
    for row in grouped.to_pylist():
        figures = account.setdefault(row["source"], Counter())
        figures[row["fate"]] += row["fate_count"]
        figures[f"{row['fate']}_bytes"] += row["text_bytes_sum"] or 0
        figures["copies"] += row["copies_sum"] or 0
        if row["split"] == TRAIN and stages:
            figures.update({name: row[f"{name}_sum"] for name in stages})
        elif row["split"]:
            figures[f"{row['split']}_copies"] += row["copies_sum"]
    return account


def part_account(rows: pa.Table, counts: Path, cuts: list[Path]) -> dict[str, Counter]:
    """Return the account of every source. counts: of `normalize`; cuts: counts of cuts."""
    figures = account_of(rows)
    # The input is what normalize counted, not the rows of the ledger.
    for source, count in load_json(counts)["by_source"].items():
        figures.setdefault(source, Counter())["documents"] = count.get("records", 0)
        figures[source]["text_bytes"] = count.get("text_bytes", 0)
    for file in cuts:
        for source, count in load_json(file)["by_source"].items():
            figures[source]["cut_spans"] += count["spans"]
            figures[source]["cut_bytes"] += count["bytes"]
    return figures


def part_faults(
    figures: dict[str, Counter],
    part: int,
    rows: pa.Table,
    clusters: Path,
    cut_spans: list[Path],
    fates: list[str],
) -> list[str]:
    """Return one fault per sum that does not balance and per table that disagrees.

    fates: all that drop a document.
    """
    return [
        *imbalances(figures, f"part {part:05d}", fates),
        *table_faults(DUPLICATE, figures, [clusters]),
        *table_faults("cut_spans", figures, cut_spans),
        *cut_faults(figures, rows),
    ]


def cut_faults(figures: dict[str, Counter], rows: pa.Table) -> list[str]:
    """Return a fault if the texts lost more or fewer bytes than counted."""
    counted = sum(count["cut_bytes"] for count in figures.values())
    lost = pc.sum(rows.column("cut_bytes")).as_py() or 0
    told = f"{counted} bytes were counted as cut, but the texts lost {lost}"
    return [] if lost == counted else [told]


def table_faults(figure: str, figures: dict[str, Counter], tables: list[Path]) -> list[str]:
    """Return a fault if the rows of tables differ from a figure of the account."""
    counted = sum(count[figure] for count in figures.values())
    rows = sum(open_parquet(table).metadata.num_rows for table in tables)
    if not tables or rows == counted:
        return []
    named = " and ".join(map(str, tables))
    return [f"{named}: {rows} rows, but the account counts {counted} ({figure})"]
