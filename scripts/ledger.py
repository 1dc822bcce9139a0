"""Write down what became of every input record of one part."""

import json
import logging
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from corpusmill.dedup.edges import STAGES
from corpusmill.documents.accounts import imbalances
from corpusmill.documents.fates import (
    CONTAMINATED,
    DUPLICATE,
    KEPT,
    MALFORMED,
    NAMES,
    SPLITS,
    TOO_SHORT,
)
from corpusmill.documents.ids import ids_of_part
from corpusmill.run.job import run
from corpusmill.storage.arrays import load_array
from corpusmill.storage.files import load_json, replacing, save_json
from corpusmill.storage.tables import load_table
from corpusmill.text.holdout import ORIGINS, marks_of_part
from corpusmill.text.parts import TextPart

SCHEMA = pa.schema(
    [
        ("id", pa.uint64()),
        ("source", pa.string()),
        ("file", pa.string()),
        ("line", pa.uint64()),
        ("fate", pa.string()),
        ("chars", pa.uint32()),
        ("winner", pa.uint64()),
        ("similarity", pa.float32()),
        ("stage", pa.string()),
        ("held_out_by", pa.string()),
        ("reason", pa.string()),
        ("split", pa.string()),
        ("copies", pa.uint16()),
        ("text_bytes", pa.uint64()),
    ]
)


class Read(NamedTuple):
    """What normalize found."""

    quarantine: Path
    counts: Path


class Decided(NamedTuple):
    """What was decided of documents, step by step."""

    verdicts: Path
    decisions: Path
    marks: Path
    clusters: Path


class Cut(NamedTuple):
    """What was cut of texts: nothing if spans are not cut."""

    cuts: list[Path]
    cut_spans: list[Path]


def document_rows(text: TextPart, part: int, decided: Decided) -> pa.Table:
    """The ledger rows of the part's documents; measured values only where they decided."""
    chars, sizes = load_table(decided.verdicts, "chars", "text_bytes")
    fate, winner, similarity, stage, split, copies = load_table(
        decided.decisions, "fate", "winner", "similarity", "stage", "split", "copies"
    )
    marks = marks_of_part(load_array(decided.marks), part, fate.size)
    fate = np.where(marks > 0, np.uint8(CONTAMINATED), fate)
    kept = fate == KEPT

    def only(mask: np.ndarray, values: pa.Array) -> pa.Array:
        return pa.compute.if_else(pa.array(mask), values, pa.scalar(None, values.type))

    paths = pa.array([file["path"] for file in text.files], pa.string())
    sources = pa.array([file["source"] for file in text.files], pa.string())
    file = pa.array(text.column("file").astype(np.int64))
    fates = pa.array([NAMES[value] for value in sorted(NAMES)])
    stages = pa.array([None, *(STAGES[value] for value in sorted(STAGES))], pa.string())
    origins = pa.array([None, *(ORIGINS[value] for value in sorted(ORIGINS))], pa.string())
    columns = {
        "id": pa.array(ids_of_part(part, fate.size)),
        "source": sources.take(file),
        "file": paths.take(file),
        "line": pa.array(text.column("line")),
        "fate": fates.take(pa.array(fate.astype(np.int64))),
        "chars": only(fate == TOO_SHORT, pa.array(chars)),
        "winner": only(fate == DUPLICATE, pa.array(winner)),
        "similarity": only((fate == DUPLICATE) & ~np.isnan(similarity), pa.array(similarity)),
        "stage": only(fate == DUPLICATE, stages.take(pa.array(stage.astype(np.int64)))),
        "held_out_by": origins.take(pa.array(marks.astype(np.int64))),
        "reason": pa.nulls(fate.size, pa.string()),
        "split": only(kept, pa.array(SPLITS).take(pa.array(split.astype(np.int64)))),
        "copies": only(kept, pa.array(copies)),
        "text_bytes": pa.array(sizes),
    }
    return pa.table(columns, schema=SCHEMA)


def malformed_rows(quarantine: Path) -> pa.Table:
    with open(quarantine, encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    rows = [
        {
            "source": record["source"],
            "file": record["file"],
            "line": record["line"],
            "fate": MALFORMED,
            "reason": record["reason"],
        }
        for record in records
    ]
    return pa.Table.from_pylist(rows, SCHEMA)


def account_of(rows: pa.Table) -> dict[str, Counter]:
    """Documents and bytes per source and fate."""
    account: dict[str, Counter] = {}
    grouped = rows.group_by(["source", "fate", "split"]).aggregate(
        [("fate", "count"), ("text_bytes", "sum"), ("copies", "sum")]
    )
    for row in grouped.to_pylist():
        figures = account.setdefault(row["source"], Counter())
        figures[row["fate"]] += row["fate_count"]
        figures[f"{row['fate']}_bytes"] += row["text_bytes_sum"] or 0
        figures["copies"] += row["copies_sum"] or 0
        if row["split"]:
            figures[f"{row['split']}_copies"] += row["copies_sum"]
    return account


def table_faults(figure: str, figures: dict[str, Counter], tables: list[Path]) -> list[str]:
    """Where a table has other rows than the account has of a figure, in words."""
    counted = sum(count[figure] for count in figures.values())
    return [
        f"{table}: {rows} rows, the account has {counted} ({figure})"
        for table in tables
        if (rows := pq.read_metadata(table).num_rows) != counted
    ]


def ledger(
    text: Path,
    read: Read,
    decided: Decided,
    cut: Cut,
    part: int,
    rows: Path,
    account: Path,
) -> None:
    """Every file is of the part, but for those that are of its block."""
    table = pa.concat_tables(
        [
            document_rows(TextPart(text, ["file", "line"]), part, decided),
            malformed_rows(read.quarantine),
        ]
    )
    figures = account_of(table)
    # What came in is what normalize counted as it read, not what the ledger has rows for.
    for source, count in load_json(read.counts)["by_source"].items():
        figures.setdefault(source, Counter())["documents"] = count.get("records", 0)
        figures[source]["text_bytes"] = count.get("text_bytes", 0)
    for file in cut.cuts:
        for source, count in load_json(file)["by_source"].items():
            figures[source]["cut_spans"] = count["spans"]
            figures[source]["cut_bytes"] = count["bytes"]
    faults = imbalances(figures, f"part {part:05d}")
    faults += table_faults("duplicate", figures, [decided.clusters])
    faults += table_faults("cut_spans", figures, cut.cut_spans)
    if faults:
        raise ValueError("the account does not balance: " + "; ".join(faults))
    with replacing(rows) as temporary:
        pq.write_table(table, temporary, compression="zstd")
    save_json(account, {source: dict(sorted(c.items())) for source, c in sorted(figures.items())})
    logging.info("%d records accounted for", table.num_rows)


if __name__ == "__main__":
    run(ledger)
