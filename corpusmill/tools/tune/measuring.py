"""Measure a sample for filters, batch by batch, as the step `measure` does."""

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
    """A text part for some filters; with the records only if one of them takes records."""
    of_records = any("records" in filter.needs for filter in filters)
    return TextPart(part, SCHEMA.names if of_records else ["text", "file", "line"])


def measured_batches(
    part: Path, filters: list[ConfiguredFilter], progress: Progress
) -> Iterator[tuple[Documents, pa.Table]]:
    """Each batch as filters that cut leave it, and its measures. progress: counts documents."""
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
