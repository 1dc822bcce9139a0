"""MosaicML Streaming: MDS shards of samples with one column, `tokens`."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from corpusmill.tools.export.declaration import Exported, Format, Split
from corpusmill.tools.export.target import Target

SHARD_BYTES = 1 << 26
"""MosaicML's default, which suits its cache."""


def write(exported: Exported, target: Target) -> None:
    for split in exported.splits:
        listed = list(write_split(split, exported.length, target))
        content = {"version": 2, "shards": listed}
        target.write(f"{split.name}/index.json", json.dumps(content, sort_keys=True).encode())


def write_split(split: Split, length: int, target: Target) -> Iterator[dict[str, Any]]:
    sample_bytes = length * split.dtype.itemsize
    config = {
        "version": 2, "format": "mds", "compression": None, "hashes": [],
        "size_limit": SHARD_BYTES, "column_names": ["tokens"],
        "column_encodings": [f"ndarray:{split.dtype.name}:{length}"],
        "column_sizes": [sample_bytes],
    }  # fmt: skip
    beside = json.dumps(config, sort_keys=True).encode()
    most = (SHARD_BYTES - len(beside)) // (sample_bytes + 4)  # each also has an offset
    for number, block in enumerate(split.samples(length, max(most, 1))):
        name = f"shard.{number:05}.mds"
        head = 4 * (len(block) + 2) + len(beside)
        offsets = head + np.arange(len(block) + 1) * sample_bytes
        if target.wants(f"{split.name}/{name}", block.nbytes):
            with target.file(f"{split.name}/{name}") as file:
                file.write(np.array([len(block), *offsets], "<u4").tobytes())
                file.write(beside + block.tobytes())
        raw = {"basename": name, "bytes": int(offsets[-1]), "hashes": {}}
        yield config | {"samples": len(block), "raw_data": raw, "zip_data": None}


FORMAT = Format(
    read_by="MosaicML Streaming, LLM Foundry",
    layout="{split}/index.json, shard.00000.mds: samples with a column `tokens`",
    ids="uint16, uint32",
    files="copied",
    write=write,
    samples=True,
    ahead=0,
)
