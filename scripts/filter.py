"""Decide which documents of one part are empty or too short."""

import logging
from pathlib import Path

import numpy as np

from corpusmill.dedup.preferences import Preferences
from corpusmill.documents.fates import EMPTY, KEPT, TOO_SHORT
from corpusmill.kernels.clean import count_cleaned
from corpusmill.run.job import run
from corpusmill.run.progress import phase
from corpusmill.storage.tables import save_table
from corpusmill.text.columns import TextColumn
from corpusmill.text.parts import TextPart
from corpusmill.text.unicode_tables import character_table


def filter(text: Path, min_chars: int, prefer: dict, verdicts: Path) -> None:
    """`chars` is len(clean(text)), counted no further than min_chars. prefer: dedup.prefer."""
    chars, sizes = [np.zeros(0, np.uint32)], [np.zeros(0, np.int64)]
    part = TextPart(text, ["text", "rest", "file", "line"] if prefer["field"] else ["text"])
    preferences = Preferences(part.files, **prefer) if prefer["field"] else None
    with phase("counting characters", unit="documents") as progress:
        for batch in part.batches():
            column = TextColumn.of(batch.column("text"))
            counts = np.empty(batch.num_rows, np.uint32)
            count_cleaned(column.data, column.offsets, character_table(), min_chars, counts)
            chars.append(counts)
            sizes.append(column.sizes())
            if preferences:
                preferences.add(batch)
            progress.advance(batch.num_rows)
    all_chars, all_sizes = np.concatenate(chars), np.concatenate(sizes)
    fate = np.full(all_chars.size, KEPT, np.uint8)
    fate[all_chars < min_chars] = TOO_SHORT
    fate[all_sizes == 0] = EMPTY
    by_field = {"preference": preferences.column()} if preferences else {}
    save_table(
        verdicts,
        fate=fate,
        chars=all_chars,
        text_bytes=all_sizes.astype(np.uint64),
        source=TextPart(text, ["file"]).sources(),
        notes={"places": preferences.places} if preferences else None,
        **by_field,
    )
    logging.info("%d documents, %d empty, %d too short", fate.size,
                 (fate == EMPTY).sum(), (fate == TOO_SHORT).sum())  # fmt: skip


if __name__ == "__main__":
    run(filter)
