"""Cut every later occurrence of a span out of the texts of one part, and record the cuts."""

import logging
from pathlib import Path

import numpy as np
import pyarrow as pa

from corpusmill.mill.read.digests import WHOLE
from corpusmill.mill.read.ids import ROW_MASK
from corpusmill.mill.read.parts import SCHEMA, TextPart, new_part
from corpusmill.mill.read.spans import SpanSetting, cut_out, repeats_of_part, whole_digests
from corpusmill.mill.read.text_column import TextColumn
from corpusmill.mill.storage.arrays import save_array
from corpusmill.mill.storage.files import load_listing, save_json, writing
from corpusmill.mill.storage.tables import parquet_writer
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase

RECORD = pa.schema([(name, pa.uint64()) for name in ("id", "start", "end", "key", "first")])


def cut_of_sources(
    sources: pa.DictionaryArray, rows: np.ndarray, cut_bytes: np.ndarray
) -> dict[str, dict[str, int]]:
    """Count cut spans and bytes per source. rows: of each span; cut_bytes: of each document."""
    names, of_row = sources.dictionary.to_pylist(), sources.indices.to_numpy()
    return {
        name: {
            "spans": int((of_row[rows] == source).sum()),
            "bytes": int(cut_bytes[of_row == source].sum()),
        }
        for source, name in enumerate(names)
    }


def cut(
    text: Path,
    listing: list[Path],
    part: int,
    span: SpanSetting,
    cut_text: Path,
    record: Path,
    whole: Path,
    counts: Path,
) -> None:
    """listing: the repeats of all buckets."""
    tables = [Path(bucket["file"]) for bucket in load_listing(listing)]
    ids, heads, keys, first = repeats_of_part(tables, part)
    rows = (ids & np.uint64(ROW_MASK)).astype(np.int64)
    texts = TextPart(text, SCHEMA.names)
    sources = texts.sources()
    digests, lost, done = [np.zeros(0, WHOLE)], [np.zeros(0, np.int64)], 0
    with (
        writing(cut_text) as cut_file,
        new_part(cut_file, texts.files) as writer,
        parquet_writer(record, RECORD) as records,
        phase("cutting", len(sources), "documents") as progress,
    ):
        for batch in texts.batches():
            column = TextColumn.of(batch.column("text"))
            mine = slice(*np.searchsorted(rows, [done, done + batch.num_rows]))
            of_batch = rows[mine] - done
            rest, starts, ends = cut_out(
                column, span.unit, span.width, of_batch, heads[mine].astype(np.int64)
            )
            writer.write_batch(batch.set_column(0, SCHEMA.field("text"), rest.array()))
            if of_batch.size:
                spans = ids[mine], starts.astype("u8"), ends.astype("u8"), keys[mine], first[mine]
                records.write_table(pa.table(list(map(pa.array, spans)), schema=RECORD))
            digests.append(whole_digests(column, np.unique(of_batch), done))
            lost.append(column.sizes() - rest.sizes())
            done += batch.num_rows
            progress.advance(batch.num_rows)
    save_array(whole, np.concatenate(digests))
    cut_bytes = np.concatenate(lost)
    by_source = cut_of_sources(sources, rows, cut_bytes)
    save_json(counts, {"spans": ids.size, "bytes": int(cut_bytes.sum()), "by_source": by_source})
    logging.info("%d spans cut, %d bytes", ids.size, cut_bytes.sum())


if __name__ == "__main__":
    run(cut)
