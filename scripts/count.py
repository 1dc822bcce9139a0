"""Encode the documents of one part that the mixture may use, and so count their tokens."""

import logging
from pathlib import Path

import numpy as np
import pyarrow as pa

from corpusmill.mill.decide.decided import load_candidates
from corpusmill.mill.read.parts import TextPart
from corpusmill.mill.read.text_column import TextRows
from corpusmill.mill.storage.arrays import save_array
from corpusmill.mill.storage.files import writing
from corpusmill.mill.tokens.token_shards import with_ends
from corpusmill.mill.tokens.tokenizers import TokenizerFacts, encoder_of
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


def count(
    text: Path,
    verdicts: Path,
    assigned: Path,
    marks: Path,
    part: int,
    folder: Path,
    token_ids: Path,
    token_starts: Path,
) -> None:
    """folder: the tokenizer."""
    setting = TokenizerFacts.load(folder)
    encoder = encoder_of(folder, setting)
    rows = load_candidates(verdicts, assigned, marks, part)
    lengths = [np.zeros(1, np.int64)]
    first = 0
    with writing(token_ids) as file, phase("encoding", rows.size, "documents") as progress:
        for batch in TextPart(text, ["text"]).batches():
            stop = first + batch.num_rows
            mine = rows[slice(*np.searchsorted(rows, [first, stop]))] - first
            documents = encoder(
                [*map(bytes, TextRows(pa.chunked_array([batch.column("text")]))[mine])]
            )
            file.write(with_ends(documents, setting.end_of_text_id, setting.dtype).view(np.uint8))
            of_batch = np.zeros(batch.num_rows, np.int64)
            of_batch[mine] = [ids.size + 1 for ids in documents]
            lengths.append(of_batch)
            progress.advance(mine.size)
            first = stop
    starts = np.cumsum(np.concatenate(lengths)).astype(np.uint64)
    save_array(token_starts, starts)
    logging.info("%d documents, %d tokens", rows.size, starts[-1])


if __name__ == "__main__":
    run(count)
