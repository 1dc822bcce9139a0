"""Encode the texts of one shard to token ids."""

import logging
from pathlib import Path

import numpy as np
import pyarrow as pa

from corpusmill.mill.read.text_column import string_array
from corpusmill.mill.shuffle.scattering import ShardRows
from corpusmill.mill.shuffle.targets import first_targets
from corpusmill.mill.storage.files import load_listing
from corpusmill.mill.storage.tables import save_parquet
from corpusmill.mill.tokens.losses import LossCounter
from corpusmill.mill.tokens.token_shards import TokenFiles, TokenShardWriter, with_ends
from corpusmill.mill.tokens.tokenizers import TokenizerFacts, encoder_of, load_kept
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase

BATCH_BYTES = 4 << 20


def encode(
    listing: list[Path],
    split: str,
    shard: int,
    shards: dict[str, int],
    folder: Path,
    files: TokenFiles,
    placements: Path,
) -> None:
    """listing: the scatter files of all parts; folder: the tokenizer."""
    setting = TokenizerFacts.load(folder)
    # Loaded once for both, if the encoder needs it at all.
    reference = None if setting.engine == "gigatoken" else load_kept(folder, setting)
    losses = LossCounter(folder, setting, reference)
    parts = load_listing(listing)
    with phase("gathering", len(parts), "parts") as progress:
        mine = ShardRows.read(parts, first_targets(shards)[split] + shard, progress)
    origins = mine.documents()
    counted = mine.token_ids(setting.dtype)
    encoder = encoder_of(folder, setting, reference) if counted is None else None
    with (
        phase("encoding", int(mine.sizes().sum())) as progress,
        TokenShardWriter(files) as writer,
    ):
        for texts in mine.texts(BATCH_BYTES):
            places = slice(writer.documents, writer.documents + len(texts))
            documents = encoder(texts) if encoder else counted(places)
            tokens = with_ends(documents, setting.end_of_text_id, setting.dtype)
            lengths = np.array([ids.size + 1 for ids in documents], np.int64)
            batch = origins.slice(writer.documents, len(texts))
            batch = batch.append_column("text", string_array(texts))
            lost = losses.count(batch, tokens, lengths)
            writer.add(batch.column("source"), tokens, lengths, **lost)
            progress.advance(sum(map(len, texts)))
    starts = writer.finish(
        dtype=setting.dtype,
        tokenizer=setting.source,
        vocabulary=setting.vocabulary,
        end_of_text_id=setting.end_of_text_id,
        engine=setting.engine,
        lost=losses.examples,
    )
    rows = origins.num_rows
    save_parquet(
        placements,
        pa.table(
            {
                **dict(zip(origins.column_names, origins.columns, strict=True)),
                "split": pa.array([split] * rows, pa.string()),
                "shard": pa.array([shard] * rows, pa.uint32()),
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
