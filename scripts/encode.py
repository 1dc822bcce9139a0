"""Encode one text shard to token ids."""

import logging
from pathlib import Path

import numpy as np
import pyarrow as pa

from corpusmill.mill.shuffle.text_shards import COLUMNS, read_columns
from corpusmill.mill.storage.tables import save_parquet
from corpusmill.mill.tokens.losses import LossCounter
from corpusmill.mill.tokens.token_shards import TokenFiles, TokenShardWriter, with_ends
from corpusmill.mill.tokens.tokenizers import TokenizerFacts, encoder_of, load_kept
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


def encode(text: Path, folder: Path, files: TokenFiles, placements: Path) -> None:
    setting = TokenizerFacts.load(folder)
    # Loaded once for both, if the encoder needs it at all.
    reference = None if setting.engine == "gigatoken" else load_kept(folder, setting)
    encoder = encoder_of(folder, setting, reference)
    losses = LossCounter(folder, setting, reference)
    origins = [COLUMNS.empty_table().drop_columns("text")]
    with (
        phase("encoding", text.stat().st_size) as progress,
        TokenShardWriter(files) as writer,
    ):
        for batch in read_columns(text, progress):
            texts = batch.column("text").cast(pa.large_binary()).to_pylist()
            documents = encoder(texts)
            tokens = with_ends(documents, setting.end_of_text_id, setting.dtype)
            lengths = np.array([ids.size + 1 for ids in documents], np.int64)
            lost = losses.count(batch, tokens, lengths)
            writer.add(batch.column("source"), tokens, lengths, **lost)
            origins.append(batch.drop_columns("text"))
    starts = writer.finish(
        dtype=setting.dtype,
        tokenizer=setting.source,
        vocabulary=setting.vocabulary,
        end_of_text_id=setting.end_of_text_id,
        engine=setting.engine,
        lost=losses.examples,
    )
    origin = pa.concat_tables(origins).combine_chunks()
    rows = origin.num_rows
    save_parquet(
        placements,
        pa.table(
            {
                **dict(zip(origin.column_names, origin.columns, strict=True)),
                "split": pa.array([files.bin.parent.name] * rows, pa.string()),
                "shard": pa.array([int(files.bin.stem)] * rows, pa.uint32()),
                "row": pa.array(range(rows), pa.uint32()),
                "token_start": pa.array(starts[:-1], pa.uint64()),
                "token_end": pa.array(starts[1:], pa.uint64()),
            }
        ),
    )
    logging.info("%d documents, %d tokens, engine %s", writer.documents, writer.tokens,
                 setting.engine)  # fmt: skip


if __name__ == "__main__":
    run(encode)
