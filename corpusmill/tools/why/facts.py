"""All facts of a document, collected from the files of the results."""

import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from corpusmill.mill.account.ledger_columns import OWN_COLUMNS
from corpusmill.mill.decide.fates import (
    CONTAMINATED,
    DUPLICATE,
    FATES,
    KEPT,
    LEFT_OVER,
    MALFORMED,
    TRAIN,
    fate_of,
)
from corpusmill.mill.read.ids import ROW_BITS, ROW_MASK
from corpusmill.mill.storage.regular_files import open_regular, regular_state
from corpusmill.mill.storage.untrusted import json_of
from corpusmill.run.layout import block_parts
from corpusmill.tools.why.copies_in_shards import Copy, copies_of
from corpusmill.tools.why.in_mixture import InMixture, in_mixtures
from corpusmill.tools.why.ledger import Ledger
from corpusmill.tools.why.parquet_rows import Row, Rows
from corpusmill.tools.why.results import Results
from corpusmill.tools.why.texts import SPANS_CUT, Text, text_in_part, text_of, whole_text_of

NOT_MEASURED = ("text_bytes", "source", "preference")
"""Columns of results/measures that are not values of filters."""

LONGEST_LINE = 1 << 20
"""Maximum length in bytes of a line of quarantine, which has the first 80 characters of a
record."""

MOST_PIECES = 100_000
"""Maximum number of pieces cut from one document."""

RECORDS = ("cut", "edited")
"""Folders with records of cuts, in the order in which they are made."""


class Piece(NamedTuple):
    """A piece cut from a text. start and end: bytes in the text before that step."""

    by: str
    rule: str | None
    start: int
    end: int
    first: int | None
    """For a repeated span, the document that still has it."""
    text: str | None


class Facts:
    """Facts of one document, each looked up when needed."""

    def __init__(self, results: Results, ledger: Ledger, row: Row) -> None:
        self.results, self.ledger, self.row = results, ledger, row

    @property
    def id(self) -> int:
        return int(self.row["id"])

    @property
    def fate(self) -> str:
        return str(self.row["fate"])

    @property
    def is_document(self) -> bool:
        return self.fate != MALFORMED

    @property
    def by_filter(self) -> bool:
        """Say whether a filter dropped it."""
        return self.fate not in FATES

    @property
    def policy(self) -> str:
        """Return `duplicates` of its source."""
        return str(self.results.sources[self.row["source"]].duplicates)

    @property
    def comes_last(self) -> bool:
        """Say whether it ranks after all documents that are compared and have a weight."""
        return (
            not fate_of(self.fate).is_compared
            or self.results.sources[self.row["source"]].weight == 0
        )

    @property
    def part(self) -> int:
        if self.is_document:
            return self.id >> ROW_BITS
        return self.results.files[self.row["file"]][0].number

    @functools.cached_property
    def copies(self) -> list[Copy]:
        return copies_of(self.results, self.row) if self.fate == KEPT else []

    @functools.cached_property
    def winner(self) -> "Facts | None":
        """Return the document kept in place of this duplicate."""
        if self.fate != DUPLICATE:
            return None
        return Facts(self.results, self.ledger, self.ledger.of_id(self.row["winner"]))

    @functools.cached_property
    def dropped_for_it(self) -> tuple[list[int], int]:
        """Return the first documents dropped as its duplicates, and their number."""
        return self.ledger.dropped_for(self.id) if self.is_document else ([], 0)

    @functools.cached_property
    def equals(self) -> "Facts | None":
        """Return a held-out document with the same text, if this one is contaminated."""
        if self.fate != CONTAMINATED or self.row["held_out_by"] == "evaluation":
            return None
        for digest in {self.row["digest"], self.row.get("whole_digest", self.row["digest"])}:
            for found in self.ledger.with_digest(digest)[0]:
                if found["fate"] == KEPT and found["split"] == self.row["held_out_by"]:
                    return Facts(self.results, self.ledger, found)
        return None

    @functools.cached_property
    def measured(self) -> dict[str, Any]:
        """Return all filter values from results/measures, or only the deciding ones if it is
        gone."""
        path = self.results.path("measures/{}.arrow", self.part)
        if not self.is_document:
            return {}
        if not path.exists():
            return {k: v for k, v in self.row.items() if k not in OWN_COLUMNS}
        values = row_of_table(path, self.id & ROW_MASK)
        return {k: v for k, v in values.items() if k not in NOT_MEASURED}

    @functools.cached_property
    def preference(self) -> bytes | None:
        """Return the key of the preferred field, where smaller is better; None without one."""
        path = self.results.path("measures/{}.arrow", self.part)
        return row_of_table(path, self.id & ROW_MASK).get("preference") if path.exists() else None

    @functools.cached_property
    def in_mixtures(self) -> list[InMixture]:
        """Return its cell in train or each stage; [] without a mixture, or if the document could
        not be in train."""
        results = self.results
        in_train = self.fate == LEFT_OVER or self.row.get("split") == TRAIN
        if not in_train:
            return []
        block = self.part // block_parts(results.parts)
        candidates = results.path("candidates/{}.arrow", block)
        # No answer needs the wanted shares, and their file may be on another machine.
        stages = {
            split: dataclasses.replace(keys, shares="proportional").settings(results.config, split)
            for split, keys in results.config.mixtures.items()
        }
        return in_mixtures(stages, results.folder / "mixture", candidates, self.id)

    @functools.cached_property
    def generation(self) -> int:
        return self.results.files[self.row["file"]][0].generation

    @functools.cached_property
    def text(self) -> Text:
        return text_of(self.results, self.row)

    @functools.cached_property
    def quarantined(self) -> dict[str, Any]:
        """Return the quarantine entry of a malformed record; {} if it is gone."""
        path = self.results.path("quarantine/{}.jsonl", self.part)
        if self.is_document or not path.exists():
            return {}
        with open_regular(path) as file:
            for line in iter(lambda: file.readline(LONGEST_LINE), b""):
                record = json_of(line, path)
                if (record["file"], record["line"]) == (self.row["file"], self.row["line"]):
                    return dict(record)
        return {}

    @functools.cached_property
    def pieces(self) -> list[Piece]:
        """Return the pieces cut from it, as far as records exist."""
        if "cuts" not in self.row:
            return []
        found: list[Piece] = []
        for folder in RECORDS:
            path = self.results.path(f"{folder}/{{}}.parquet", self.part)
            if not path.exists():
                continue
            data = self._text_before(folder)
            record = Rows(path)
            rows = record.at(self._cuts_in(record))
            by = [row.get("filter", "spans") for row in rows]
            for name in dict.fromkeys(by):
                mine = [row for row, its in zip(rows, by, strict=True) if its == name]
                found += [piece_of(row, name, data) for row in mine]
                data = None if data is None else without(data, mine)
        return found

    def _cuts_in(self, record: Rows) -> np.ndarray:
        """Return int64: its rows in a record; the ledger counts those of all records."""
        places = record.places_with({"id": self.id})
        if places.size > min(self.row["cuts"], MOST_PIECES):
            raise ValueError(
                f"{record.path}: expected {self.row['cuts']:,} pieces of document {self.id}, as "
                f"counted in the ledger, and at most {MOST_PIECES:,}, found {places.size:,}. Copy "
                "the file again."
            )
        return places

    def _text_before(self, folder: str) -> bytes | None:
        """Return the text before the cuts that a folder records."""
        whole = whole_text_of(self.results, self.row)
        if folder == "edited" and self.results.config.spans.unit != "none":
            path = self.results.path(SPANS_CUT, self.part)
            text = text_in_part(path, self.id & ROW_MASK) if path.exists() else None
        else:
            text = whole.text
        return None if text is None else text.encode("utf-8")

    def comes_first_because(self, other: "Facts") -> str:
        """Say why this document is kept and a similar one is not, by the order of duplicates in
        docs/reference/definitions.md."""
        mine, its = (
            self.results.sources[self.row["source"]],
            other.results.sources[other.row["source"]],
        )
        dedup = self.results.config.dedup
        # The other is a duplicate, so filters kept it: only its weight can rank it last.
        if other.comes_last and not self.comes_last:
            return f"the source {its.name} has weight 0"
        if dedup.earlier_first and self.generation < other.generation:
            return "its file was added earlier than the other's (dedup.earlier_first)"
        rank, its_rank = mine.priority, its.priority
        if rank is not None and (its_rank is None or rank < its_rank):
            theirs = "none" if its_rank is None else its_rank
            return f"its source {mine.name} has priority {rank}, {its.name} has {theirs}"
        if dedup.prefer.field and self.preference != other.preference:
            return f"its field {dedup.prefer.field} is preferred (dedup.prefer)"
        size, its_size = self.row["text_bytes"], other.row["text_bytes"]
        if size > its_size:
            return f"its text is longer: {size:,} bytes, the other has {its_size:,}"
        return "its id is lower, and all other criteria are equal"


def row_of_table(path: Any, row: int) -> dict[str, Any]:
    """Return a row of a decision table, without null values."""
    regular_state(path)
    with pa.memory_map(str(path)) as source:
        file, before = pa.ipc.open_file(source), 0
        for number in range(file.num_record_batches):
            batch = file.get_batch(number)
            if row < before + batch.num_rows:
                values = batch.slice(row - before, 1).to_pylist()[0]
                return {k: v for k, v in values.items() if v is not None}
            before += batch.num_rows
    raise ValueError(
        f"{path} has {before} rows, but the ledger has more. Run again: corpusmill run"
    )


def piece_of(row: dict[str, Any], by: str, text: bytes | None) -> Piece:
    start, end = row["start"], row["end"]
    cut = None if text is None else text[start:end].decode("utf-8", "replace")
    return Piece(by, row.get("rule"), start, end, row.get("first"), cut)


def without(text: bytes, pieces: list[dict[str, Any]]) -> bytes:
    """Return a text without some pieces, which are in order and do not overlap."""
    kept, at = [], 0
    for piece in pieces:
        kept.append(text[at : piece["start"]])
        at = piece["end"]
    return b"".join([*kept, text[at:]])
