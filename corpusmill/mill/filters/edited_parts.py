"""Write a text part after the filters' cuts, and the record of the cuts."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from corpusmill.mill.account.accounts import whole
from corpusmill.mill.filters.documents import Documents
from corpusmill.mill.filters.measuring import Edit
from corpusmill.mill.read.digests import WHOLE
from corpusmill.mill.read.ids import ids_of_part
from corpusmill.mill.read.parts import SCHEMA, TextPart, new_part
from corpusmill.mill.read.spans import whole_digests
from corpusmill.mill.storage.arrays import save_array
from corpusmill.mill.storage.files import save_json, writing
from corpusmill.mill.storage.tables import parquet_writer

RECORD = pa.schema(
    [
        ("id", pa.uint64()),
        ("start", pa.uint64()),
        ("end", pa.uint64()),
        ("filter", pa.dictionary(pa.int32(), pa.string())),
        ("rule", pa.dictionary(pa.int32(), pa.string())),
    ]
)


class EditedFiles(NamedTuple):
    """Output files of an edited part; empty lists if no filter cuts."""

    edited: list[Path]
    edits: list[Path]
    unedited: list[Path]
    edit_counts: list[Path]


class NoEdits:
    def add(self, documents: Documents, edits: list[Edit]) -> None:
        assert not edits


class EditedPart:
    """A writer of an edited part. Batches of documents come in order, each with its cuts."""

    def __init__(
        self, texts: pa.ipc.RecordBatchFileWriter, record: pq.ParquetWriter, part: int
    ) -> None:
        self._texts, self._record, self._part = texts, record, part
        self._done = 0
        self._digests = [np.zeros(0, WHOLE)]
        self.by_source: dict[str, Counter] = {}
        self.by_rule: dict[str, dict[str, Counter]] = {}
        """`filter.rule` -> source -> spans and bytes."""

    def add(self, documents: Documents, edits: list[Edit]) -> None:
        """Add a batch. documents: after the edits."""
        self._texts.write_batch(documents.batch.select(SCHEMA.names))
        whole: dict[int, np.void] = {}
        for edit in edits:
            # If several filters cut a document, the first one saw the whole text.
            rows = np.array([row for row in np.unique(edit.cuts.rows) if row not in whole], int)
            digests = whole_digests(edit.before.texts, rows, self._done)
            whole.update(zip(rows.tolist(), digests, strict=True))
            self._write(edit)
            self._count(edit)
        if whole:
            self._digests.append(np.array([whole[row] for row in sorted(whole)], WHOLE))
        self._done += len(documents)

    def _write(self, edit: Edit) -> None:
        rows, starts, stops, rules = edit.cuts
        names = edit.filter.edits
        begins = edit.before.texts.offsets[rows]
        ids = ids_of_part(self._part, self._done + len(edit.before))[self._done :]
        rule = pa.DictionaryArray.from_arrays(pa.array(rules.astype(np.int32) - 1), names)
        of_filter = pa.DictionaryArray.from_arrays(
            pa.array(np.zeros(rows.size, np.int32)), [edit.filter.name]
        )
        spans = ids[rows], (starts - begins).astype("u8"), (stops - begins).astype("u8")
        columns = [*map(pa.array, spans), of_filter, rule]
        self._record.write_table(pa.table(columns, schema=RECORD))

    def _count(self, edit: Edit) -> None:
        sources = np.array([file["source"] for file in edit.before.files])
        of_row = edit.before.batch.column("file").to_numpy()
        sizes, names = edit.cuts.stops - edit.cuts.starts, edit.filter.edits
        of_cut = sources[of_row[edit.cuts.rows]]
        for source in dict.fromkeys(sources.tolist()):
            for place, name in enumerate(names, 1):
                chosen = (of_cut == source) & (edit.cuts.rules == place)
                figures = {"spans": int(chosen.sum()), "bytes": int(sizes[chosen].sum())}
                rule = self.by_rule.setdefault(f"{edit.filter.name}.{name}", {})
                rule.setdefault(source, Counter()).update(figures)
                self.by_source.setdefault(source, Counter()).update(figures)

    def digests(self) -> np.ndarray:
        """Return WHOLE digests of the texts that lost something, before the cuts."""
        return np.concatenate(self._digests)


@contextlib.contextmanager
def edited_part(files: EditedFiles, texts: TextPart, part: int) -> Iterator[EditedPart | NoEdits]:
    """Write an edited part and the record of its cuts; nothing if no files are requested."""
    if not files.edited:
        yield NoEdits()
        return
    (edited,), (edits,), (unedited,), (edit_counts,) = files
    with (
        writing(edited) as text_file,
        new_part(text_file, texts.files) as writer,
        parquet_writer(edits, RECORD) as record,
    ):
        written = EditedPart(writer, record, part)
        yield written
    save_array(unedited, written.digests())
    total = whole(written.by_source)
    figures = {name: total[name] for name in ("spans", "bytes")}
    parts = {"by_source": written.by_source, "by_rule": written.by_rule}
    save_json(edit_counts, {**figures, **parts})
