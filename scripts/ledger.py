"""Write down what became of every input record of one part."""

import json
import logging
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from corpusmill.messages.progress import Silence
from corpusmill.mill.account.accounts import imbalances
from corpusmill.mill.account.ledger_columns import ledger_schema, save_ledger
from corpusmill.mill.decide.decided import load_decided
from corpusmill.mill.decide.emptied import emptied_by
from corpusmill.mill.decide.fates import DUPLICATE, KEPT, MALFORMED, SPLITS, dropping_fates
from corpusmill.mill.decide.holdout import ORIGINS
from corpusmill.mill.dedup.edges import STAGES
from corpusmill.mill.filters.measuring import arrow_type
from corpusmill.mill.read.digests import digest_words
from corpusmill.mill.read.ids import ROW_MASK, ids_of_part
from corpusmill.mill.read.parts import TextPart
from corpusmill.mill.storage.arrays import load_array
from corpusmill.mill.storage.files import load_json, save_json
from corpusmill.mill.storage.streams import read_written_lines
from corpusmill.mill.storage.tables import load_column, load_parquet, load_table, parquet_rows
from corpusmill.run.job import run


class FilterValues(NamedTuple):
    """The fate of a filter, column and dtype of each of its values."""

    fate: str
    values: list[list[str]]


def schema_of(filters: list[FilterValues]) -> pa.Schema:
    values = [
        (name, arrow_type(dtype)) for of_filter in filters for name, dtype in of_filter.values
    ]
    return ledger_schema(values)


class Read(NamedTuple):
    """What normalize found."""

    quarantine: Path
    counts: Path


class Decided(NamedTuple):
    """What was measured of documents, and what was decided of them."""

    measures: Path
    verdicts: Path
    decided: Path
    clusters: Path
    digests: Path


class Cut(NamedTuple):
    """What was cut of texts, repeated spans first and then by filters: nothing if neither is."""

    cuts: list[Path]
    cut_spans: list[Path]
    whole: list[Path]
    """The texts that lost something, as they were before it."""


def only(mask: np.ndarray, values: pa.Array) -> pa.Array:
    return pa.compute.if_else(pa.array(mask), values, pa.scalar(None, values.type))


def named(numbers: np.ndarray, names: dict[int, str]) -> pa.Array:
    """What numbers from 1 on stand for; null for 0."""
    labels = pa.array([None, *(names[value] for value in sorted(names))], pa.string())
    return labels.take(pa.array(numbers.astype(np.int64)))


def values_where_they_decided(
    filters: list[FilterValues], measures: Path, fate: np.ndarray
) -> dict[str, pa.Array]:
    """The values of each filter, of the documents that it dropped."""
    return {
        name: only(fate == one.fate, load_column(measures, name))
        for one in filters
        for name, _ in one.values
    }


def cut_columns(cut: Cut, sizes: np.ndarray) -> dict[str, pa.Array]:
    """Pieces, bytes, and the digest before: of the documents that lost something.

    sizes: bytes of every text as it is now.
    """
    pieces = np.zeros(sizes.size, np.uint32)
    for record in cut.cut_spans:
        ids = load_parquet(record, ["id"]).column("id").to_numpy()
        np.add.at(pieces, (ids & np.uint64(ROW_MASK)).astype(np.int64), 1)
    was, digests = sizes.copy(), np.zeros(sizes.size, np.uint64)
    # What the filters cut of had lost its spans before: these tell last how it began.
    for file in reversed(cut.whole):
        before = load_array(file)
        was[before["row"]] = before["text_bytes"]
        digests[before["row"]] = digest_words(before["digest"])
    return {
        "cuts": only(pieces > 0, pa.array(pieces)),
        "cut_bytes": only(pieces > 0, pa.array(was - sizes)),
        "whole_digest": only(pieces > 0, pa.array(digests)),
    }


def reasons_of(about: Decided, cut: Cut, sizes: np.ndarray) -> pa.Array:
    """The filters' own; of a text of which nothing is left, what cut the last of it."""
    own = load_column(about.verdicts, "reason")
    by_filter = load_column(about.verdicts, "fate").cast(pa.string())
    without = own.is_null().to_numpy(zero_copy_only=False) & (sizes == 0)
    dropped = by_filter.to_numpy(zero_copy_only=False) != KEPT
    return pa.compute.coalesce(own, emptied_by(cut.cut_spans, without & dropped))


def document_rows(
    text: TextPart, part: int, about: Decided, cut: Cut, filters: list[FilterValues]
) -> pa.Table:
    """The ledger rows of the part's documents; values only where they decided."""
    decided = load_decided(about.decided, part)
    (sizes,) = load_table(about.measures, "text_bytes")
    winner, similarity, stage, origin, split = (
        decided.column(name).to_numpy()
        for name in ("winner", "similarity", "stage", "held_out_by", "split")
    )
    fates = decided.column("fate").cast(pa.string())
    fate = fates.to_numpy(zero_copy_only=False)
    kept, duplicate = fate == KEPT, fate == DUPLICATE
    file = pa.array(text.column("file").astype(np.int64))
    paths = pa.array([file["path"] for file in text.files], pa.string())
    sources = pa.array([file["source"] for file in text.files], pa.string())
    columns = {
        "id": pa.array(ids_of_part(part, fate.size)),
        "source": sources.take(file),
        "file": paths.take(file),
        "line": pa.array(text.column("line")),
        "fate": fates,
        "winner": only(duplicate, pa.array(winner)),
        "similarity": only(duplicate & ~np.isnan(similarity), pa.array(similarity)),
        "stage": only(duplicate, named(stage, STAGES)),
        "held_out_by": named(origin, ORIGINS),
        "split": only(kept, pa.array(SPLITS).take(pa.array(split.astype(np.int64)))),
        "copies": only(kept, decided.column("copies")),
        "text_bytes": pa.array(sizes),
        "digest": pa.array(digest_words(load_array(about.digests))),
        **cut_columns(cut, sizes),
        "reason": reasons_of(about, cut, sizes),
        **values_where_they_decided(filters, about.measures, fate),
    }
    return pa.table(columns, schema=schema_of(filters))


def malformed_rows(quarantine: Path, filters: list[FilterValues]) -> pa.Table:
    records = [json.loads(line) for line in read_written_lines(quarantine, Silence())]
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
    return pa.Table.from_pylist(rows, schema_of(filters))


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


def cut_faults(figures: dict[str, Counter], rows: pa.Table) -> list[str]:
    """Where the texts became shorter by more or less than was counted as they were cut."""
    counted = sum(count["cut_bytes"] for count in figures.values())
    lost = pa.compute.sum(rows.column("cut_bytes")).as_py() or 0
    return [] if lost == counted else [f"{counted} bytes were cut, the texts have {lost} less"]


def table_faults(figure: str, figures: dict[str, Counter], tables: list[Path]) -> list[str]:
    """Where tables have other rows than the account has of a figure, in words."""
    counted = sum(count[figure] for count in figures.values())
    rows = sum(parquet_rows(table) for table in tables)
    if not tables or rows == counted:
        return []
    named = " and ".join(map(str, tables))
    return [f"{named}: {rows} rows, the account has {counted} ({figure})"]


def ledger(
    text: Path,
    read: Read,
    about: Decided,
    cut: Cut,
    filters: list[FilterValues],
    part: int,
    rows: Path,
    account: Path,
) -> None:
    """Every file is of the part, but for those that are of its block."""
    table = pa.concat_tables(
        [
            document_rows(TextPart(text, ["file", "line"]), part, about, cut, filters),
            malformed_rows(read.quarantine, filters),
        ]
    )
    figures = account_of(table)
    # What came in is what normalize counted as it read, not what the ledger has rows for.
    for source, count in load_json(read.counts)["by_source"].items():
        figures.setdefault(source, Counter())["documents"] = count.get("records", 0)
        figures[source]["text_bytes"] = count.get("text_bytes", 0)
    for file in cut.cuts:
        for source, count in load_json(file)["by_source"].items():
            figures[source]["cut_spans"] += count["spans"]
            figures[source]["cut_bytes"] += count["bytes"]
    faults = imbalances(figures, f"part {part:05d}", dropping_fates([one.fate for one in filters]))
    faults += table_faults("duplicate", figures, [about.clusters])
    faults += table_faults("cut_spans", figures, cut.cut_spans)
    faults += cut_faults(figures, table)
    if faults:
        raise ValueError("the account does not balance: " + "; ".join(faults))
    save_ledger(rows, table)
    save_json(account, {source: dict(sorted(c.items())) for source, c in sorted(figures.items())})
    logging.info("%d records accounted for", table.num_rows)


if __name__ == "__main__":
    run(ledger)
