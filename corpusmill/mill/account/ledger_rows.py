"""The rows of the ledger: the fate of every input record of one part."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from corpusmill.messages.progress import Silence
from corpusmill.mill.account.ledger_columns import FilterValues, copies_in, schema_of
from corpusmill.mill.decide.decided import DecisionFiles, load_decided
from corpusmill.mill.decide.emptied import emptied_by
from corpusmill.mill.decide.fate_columns import FateColumn
from corpusmill.mill.decide.fates import DUPLICATE, MALFORMED, SPLITS
from corpusmill.mill.decide.holdout import ORIGINS
from corpusmill.mill.dedup.edges import STAGES
from corpusmill.mill.read.digests import digest_words
from corpusmill.mill.read.ids import ROW_MASK, ids_of_part
from corpusmill.mill.read.parts import TextPart
from corpusmill.mill.storage.arrays import load_array
from corpusmill.mill.storage.streams import read_written_lines
from corpusmill.mill.storage.tables import load_column, load_parquet, load_table, named


class About(NamedTuple):
    """The files with a part's measured values, decisions and digests."""

    measures: Path
    verdicts: Path
    assigned: Path
    marks: Path
    mixed: list[Path]
    clusters: Path
    digests: Path

    @property
    def decisions(self) -> DecisionFiles:
        return DecisionFiles(self.verdicts, self.assigned, self.marks, self.mixed)


class Cut(NamedTuple):
    """The files about cuts: repeated spans first, then filters; empty if there are none."""

    cuts: list[Path]
    cut_spans: list[Path]
    whole: list[Path]
    """Digests of texts before they were cut."""


def only(mask: np.ndarray, values: pa.Array) -> pa.Array:
    return pa.compute.if_else(pa.array(mask), values, pa.scalar(None, values.type))


def values_where_they_decided(
    filters: list[FilterValues], measures: Path, fates: FateColumn
) -> dict[str, pa.Array]:
    """Return the values of each filter, only for documents that it dropped."""
    return {
        name: only(fates.has(one.fate), load_column(measures, name))
        for one in filters
        for name, _ in one.values
    }


def cut_columns(cut: Cut, sizes: np.ndarray) -> dict[str, pa.Array]:
    """Return the number of cut pieces, cut bytes and earlier digest of documents that were cut.

    sizes: current bytes of every text.
    """
    pieces = np.zeros(sizes.size, np.uint32)
    for record in cut.cut_spans:
        ids = load_parquet(record, ["id"]).column("id").to_numpy()
        np.add.at(pieces, (ids & np.uint64(ROW_MASK)).astype(np.int64), 1)
    was, digests = sizes.copy(), np.zeros(sizes.size, np.uint64)
    # Spans were cut before filters ran, so apply their earlier values last.
    for file in reversed(cut.whole):
        before = load_array(file)
        was[before["row"]] = before["text_bytes"]
        digests[before["row"]] = digest_words(before["digest"])
    return {
        "cuts": only(pieces > 0, pa.array(pieces)),
        "cut_bytes": only(pieces > 0, pa.array(was - sizes)),
        "whole_digest": only(pieces > 0, pa.array(digests)),
    }


def reasons_of(verdicts: Path, cut: Cut, sizes: np.ndarray) -> pa.Array:
    """Return the filters' reasons; for emptied texts what cut the last piece."""
    own = load_column(verdicts, "reason")
    without = own.is_null().to_numpy(zero_copy_only=False) & (sizes == 0)
    dropped = ~FateColumn.load(verdicts).kept
    return pa.compute.coalesce(own, emptied_by(cut.cut_spans, without & dropped))


def document_rows(
    text: TextPart,
    part: int,
    about: About,
    cut: Cut,
    filters: list[FilterValues],
    stages: list[str],
) -> pa.Table:
    """Return the ledger rows of the part's documents. stages: those in place of train."""
    decided = load_decided(about.decisions, part)
    (sizes,) = load_table(about.measures, "text_bytes")
    similarity, kept = decided.similarity, decided.fates.kept
    duplicate = decided.fates.has(DUPLICATE)
    file = pa.array(text.column("file").astype(np.int64))
    paths = pa.array([file["path"] for file in text.files], pa.string())
    sources = pa.array([file["source"] for file in text.files], pa.string())
    columns = {
        "id": pa.array(ids_of_part(part, kept.size)),
        "source": sources.take(file),
        "file": paths.take(file),
        "line": pa.array(text.column("line")),
        "fate": decided.fates.array().cast(pa.string()),
        "winner": only(duplicate, pa.array(decided.winner)),
        "similarity": only(duplicate & ~np.isnan(similarity), pa.array(similarity)),
        "stage": only(duplicate, named(decided.stage, STAGES)),
        "held_out_by": named(decided.held_out_by, ORIGINS),
        "split": only(kept, pa.array(SPLITS).take(pa.array(decided.split.astype(np.int64)))),
        "copies": only(kept, pa.array(decided.copies_in_total)),
        "text_bytes": pa.array(sizes),
        "digest": pa.array(digest_words(load_array(about.digests))),
        **cut_columns(cut, sizes),
        "reason": reasons_of(about.verdicts, cut, sizes),
        **values_where_they_decided(filters, about.measures, decided.fates),
        **{copies_in(one): only(kept, pa.array(decided.copies[one])) for one in stages},
    }
    return pa.table(columns, schema=schema_of(filters, stages))


def malformed_rows(quarantine: Path, filters: list[FilterValues], stages: list[str]) -> pa.Table:
    records = [json.loads(line) for line in read_written_lines(quarantine, Silence())]
    told = ("source", "file", "line", "reason")
    rows = [{name: record[name] for name in told} | {"fate": MALFORMED} for record in records]
    return pa.Table.from_pylist(rows, schema_of(filters, stages))
