"""Encode one text shard to token ids, after checking the engine on its own documents."""

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
from corpusmill.tokenizers import (
    Encoder,
    Setting,
    encoder_of,
    first_difference,
    load_kept,
)

CHECKED_DOCUMENTS = 24
CHECKED_CHARS = 4_000  # of each, from its start: the reference encodes about 1 MB/s


def check_engine(reference, encode: Encoder, texts: list[str]) -> None:
    """Fail unless a sample of the shard's own documents has the reference's ids."""
    step = max(1, len(texts) // CHECKED_DOCUMENTS)
    sample = [text[:CHECKED_CHARS] for text in texts[::step]][:CHECKED_DOCUMENTS]
    if difference := first_difference(reference, encode, sample):
        raise ValueError(
            f"the tokenization engine differs from the reference on this shard: {difference}. "
            "Set tokenizer.engine to reference."
        )
    logging.info("%d documents checked against the reference: ids equal", len(sample))


def encode(text: Path, folder: Path, bin: Path, idx: Path, facts: Path, placements: Path) -> None:
    setting = Setting.load(folder)
    reference = load_kept(folder, setting)
    encoder = encoder_of(folder, reference, setting)
    ids, copies, sources = [], [], []
    with (
        phase("encoding", text.stat().st_size) as progress,
        TokenShardWriter(bin, idx, facts) as writer,
    ):
        for number, batch in enumerate(in_batches(read_shard(text, progress))):
            texts = [document.text for document in batch]
            if number == 0 and setting.engine != "reference":
                check_engine(reference, encoder, texts)
            offsets, tokens = encoder(texts)
            origins = [document.corpusmill for document in batch]
            ids += [origin.id for origin in origins]
            copies += [origin.copy for origin in origins]
            sources += [origin.source for origin in origins]
            writer.add(
                [origin.source for origin in origins],
                offsets, tokens, setting.end_of_text_id, setting.dtype,
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
