"""Compute the sorted keys of all spans of one part."""

import logging
from pathlib import Path

import numpy as np

from corpusmill.mill.read.ids import ROW_BITS
from corpusmill.mill.read.parts import TextPart
from corpusmill.mill.read.spans import SpanSetting, save_spans, spans_of, units_of
from corpusmill.mill.read.text_column import TextColumn
from corpusmill.mill.storage.files import content_digest, save_json
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


def span(
    text: Path,
    span: SpanSetting,
    cut_spans: dict[str, bool],
    spans: Path,
    counts: Path,
) -> None:
    """cut_spans: by source, whether its spans are cut and count as first occurrences."""
    documents = 0
    keys, places = [], []
    part = TextPart(text, ["text", "file"])
    of_file = np.array([cut_spans[file["source"]] for file in part.files], bool)
    with phase("taking keys", unit="documents") as progress:
        for batch in part.batches():
            column = TextColumn.of(batch.column("text"))
            wanted = of_file[batch.column("file").to_numpy()]
            found, where = spans_of(
                column, units_of(column, span.unit), span.width, span.min_chars, wanted
            )
            keys.append(found)
            places.append(where + np.uint64(documents << ROW_BITS))
            documents += batch.num_rows
            progress.advance(batch.num_rows)
    number = save_spans(spans, keys, places)
    save_json(counts, {"spans": number, "file": str(spans), "digest": content_digest(spans)})
    logging.info("%d documents, %d spans", documents, number)


if __name__ == "__main__":
    run(span)
