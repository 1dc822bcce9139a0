"""Measures of a sample, batch by batch, as in the step `measure`."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from corpusmill.messages.progress import Progress
from corpusmill.mill.filters.configured import ConfiguredFilter
from corpusmill.mill.filters.documents import Documents
from corpusmill.mill.filters.measuring import Measures
from corpusmill.mill.read.parts import SCHEMA, TextPart
from corpusmill.mill.read.text_column import TextColumn


def part_for(filters: list[ConfiguredFilter], part: Path) -> TextPart:
    """Return a text part for some filters, with records only if one of them uses records."""
    of_records = any("records" in filter.needs for filter in filters)
    return TextPart(part, SCHEMA.names if of_records else ["text", "file", "line"])


def measured_batches(
    part: Path, filters: list[ConfiguredFilter], progress: Progress
) -> Iterator[tuple[Documents, pa.Table]]:
    """Yield each batch, after the filters that cut, with its measures. progress: counts
    documents."""
    text_part = part_for(filters, part)
    sources, before = text_part.sources(), 0
    measures = Measures(filters)
    for batch in text_part.batches():
        texts = TextColumn.of(batch.column("text"))
        left, _ = measures.add(Documents(texts, batch, text_part.files))
        columns = measures.last() | {
            "text_bytes": pa.array(left.texts.sizes().astype(np.uint64)),
            "source": sources.slice(before, batch.num_rows),
        }
        yield left, pa.table(columns)
        before += batch.num_rows
        progress.advance(batch.num_rows)
