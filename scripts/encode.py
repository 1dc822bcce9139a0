"""Encode one text shard to token ids."""

import logging
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from corpusmill.files import replacing
from corpusmill.progress import phase
from corpusmill.shards import in_batches, read_shard
from corpusmill.step_log import step_log
from corpusmill.token_shards import TokenShardWriter
from corpusmill.tokenizers import Setting, encoder_of


def encode(text: Path, folder: Path, bin: Path, idx: Path, facts: Path, placements: Path) -> None:
    setting = Setting.load(folder)
    encoder = encoder_of(folder, setting)
    ids, copies, sources = [], [], []
    with (
        phase("encoding", text.stat().st_size) as progress,
        TokenShardWriter(bin, idx, facts) as writer,
    ):
        for batch in in_batches(read_shard(text, progress)):
            tokens = encoder([document.text for document in batch])
            origins = [document.corpusmill for document in batch]
            ids += [origin.id for origin in origins]
            copies += [origin.copy for origin in origins]
            sources += [origin.source for origin in origins]
            writer.add(
                [origin.source for origin in origins],
                tokens, setting.end_of_text_id, setting.dtype,
            )  # fmt: skip
    writer.finish(
        dtype=setting.dtype,
        tokenizer=setting.source,
        vocabulary=setting.vocabulary,
        end_of_text_id=setting.end_of_text_id,
        engine=setting.engine,
    )
    starts = np.fromfile(idx, "<u8")
    with replacing(placements) as temporary:
        pq.write_table(
            pa.table(
                {
                    "id": pa.array(ids, pa.uint64()),
                    "copy": pa.array(copies, pa.uint16()),
                    "source": pa.array(sources, pa.string()),
                    "split": pa.array([bin.parent.name] * len(ids), pa.string()),
                    "shard": pa.array([int(bin.stem)] * len(ids), pa.uint32()),
                    "row": pa.array(range(len(ids)), pa.uint32()),
                    "token_start": pa.array(starts[:-1], pa.uint64()),
                    "token_end": pa.array(starts[1:], pa.uint64()),
                }
            ),
            temporary,
            compression="zstd",
        )
    logging.info("%d documents, %d tokens, engine %s", writer.documents, writer.tokens,
                 setting.engine)  # fmt: skip


if __name__ == "__main__":
    with step_log(snakemake.log[0]):
        encode(
            text=Path(snakemake.input.text),
            folder=Path(snakemake.input.folder),
            bin=Path(snakemake.output.bin),
            idx=Path(snakemake.output.idx),
            facts=Path(snakemake.output.facts),
            placements=Path(snakemake.output.placements),
        )
