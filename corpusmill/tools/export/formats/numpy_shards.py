"""NumPy shards with an id for each sample, for trainers that distribute samples by id."""

import numpy as np
import xxhash

from corpusmill.tools.export.declaration import Exported, Format
from corpusmill.tools.export.target import Target

BLOCK = 1024
"""Samples written at a time."""


def write(exported: Exported, target: Target) -> None:
    length = exported.length
    for shard in exported.shards:
        tokens = f"{shard.split}_{shard.number:06}.npy"
        sample_ids = f"{shard.split}_sample_ids_{shard.number:06}.bin"
        if target.wants(tokens, shard.bytes):
            target.same(tokens, shard.path)
        if target.wants(sample_ids):
            ids = shard.ids()
            samples = ids[: len(ids) // length * length].reshape(-1, length)
            with target.file(sample_ids) as file:
                for at in range(0, len(samples), BLOCK):
                    block = [xxhash.xxh3_64_intdigest(row) for row in samples[at : at + BLOCK]]
                    file.write(np.array(block, "<u8").tobytes())


FORMAT = Format(
    read_by="NumPy, and loaders that pick samples by id",
    layout="{split}_000000.npy (raw ids), {split}_sample_ids_000000.bin: uint64 XXH3 per sample",
    ids="uint16, uint32",
    files="linked, plus 8 bytes per sample",
    write=write,
    share=0.02,
    samples=True,
)
