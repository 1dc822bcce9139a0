"""Measure the values that filters need for every document of one part, in one pass."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from corpusmill.mill.decide.mixture import member_column
from corpusmill.mill.dedup.preferences import Preferences
from corpusmill.mill.filters.configured import configured
from corpusmill.mill.filters.documents import Documents, as_text
from corpusmill.mill.filters.edited_parts import EditedFiles, edited_part
from corpusmill.mill.filters.measuring import Measures
from corpusmill.mill.read.parts import SCHEMA, TextPart
from corpusmill.mill.read.text_column import TextColumn
from corpusmill.mill.storage.tables import save_table
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


def measure(
    text: Path,
    filters: list[dict[str, Any]],
    prefer: dict,
    members: list[str],
    part: int,
    measures: Path,
    made: EditedFiles,
) -> None:
    """filters: with the settings that affect their values. prefer: dedup.prefer. members: of the
    records, whose values divide documents."""
    # Read the rest of the records only if needed: it may be as large as the texts.
    measuring = configured(filters)
    asked = members or prefer["field"] or any("records" in one.needs for one in measuring)
    of_records = asked or made.edited
    texts = TextPart(text, SCHEMA.names if of_records else ["text", "file", "line"])
    of_filters = Measures(measuring)
    preferences = Preferences(texts.files, **prefer) if prefer["field"] else None
    sizes = [np.zeros(0, np.int64)]
    by_member: dict[str, list] = {member: [] for member in members}
    with (
        edited_part(made, texts, part) as edited,
        phase("measuring", unit="documents") as progress,
    ):
        for batch in texts.batches():
            documents = Documents(TextColumn.of(batch.column("text")), batch, texts.files)
            if preferences:
                preferences.add(batch)
            for member, found in by_member.items():
                told = documents.for_filter(frozenset({"records"})).members(member)
                found += map(as_text, told)
            left, edits = of_filters.add(documents)
            edited.add(left, edits)
            sizes.append(left.texts.sizes())
            progress.advance(batch.num_rows)
    sources = texts.sources()
    by_field = {"preference": preferences.column()} if preferences else {}
    for member, found in by_member.items():
        by_field[member_column(member)] = pa.array(found, pa.string())
    save_table(
        measures,
        **of_filters.columns(),
        text_bytes=np.concatenate(sizes).astype(np.uint64),
        source=sources,
        notes=preferences.notes(sources) if preferences else None,
        **by_field,
    )
    logging.info("%d documents", sum(map(len, sizes)))


if __name__ == "__main__":
    run(measure)
