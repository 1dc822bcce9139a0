"""litdata: chunks of tokens for its TokensLoader, whose `block_size` is the length of a sample."""

import json
from typing import Any

import numpy as np

from corpusmill.tools.export.declaration import Exported, Format, Split
from corpusmill.tools.export.target import Target

CHUNK_BYTES = 1 << 26
CODES = {2: 20, 4: 15}
"""litdata's codes for torch's uint16 and int32. Ids below 2**31 are equal in int32 and uint32."""
A_TENSOR = '[1, {"type": null, "context": null, "children_spec": []}]'
"""torch's description of an item that is a single tensor."""
HEADER_BYTES = 12


def write(exported: Exported, target: Target) -> None:
    code = CODES[exported.vocabulary.dtype.itemsize]
    config = {
        "chunk_bytes": CHUNK_BYTES, "chunk_size": None, "compression": None, "encryption": None,
        "data_format": [f"no_header_tensor:{code}"], "data_spec": A_TENSOR,
        "item_loader": "TokensLoader",
    }  # fmt: skip
    for split in exported.splits:
        content = {"chunks": write_split(split, exported.length, target), "config": config}
        listed = json.dumps(content, sort_keys=True).encode()
        target.write(f"{split.name}/index.json", listed)


def write_split(split: Split, length: int, target: Target) -> list[dict[str, Any]]:
    """Write a split. Each chunk is one item of whole samples, as samples cannot cross chunks."""
    itemsize = split.dtype.itemsize
    chunks = []
    for number, block in enumerate(
        split.samples(length, max(CHUNK_BYTES // (length * itemsize), 1))
    ):
        name, size = f"chunk-0-{number}.bin", HEADER_BYTES + block.nbytes
        if target.wants(f"{split.name}/{name}", block.nbytes):
            with target.file(f"{split.name}/{name}") as file:
                file.write(np.array([1, HEADER_BYTES, size], "<u4").tobytes())
                file.write(block.tobytes())
        chunks.append({"chunk_bytes": size, "chunk_size": 1, "dim": block.size, "filename": name})
    return chunks


FORMAT = Format(
    read_by="litdata's StreamingDataset with TokensLoader(block_size=length)",
    layout="{split}/index.json, chunk-0-0.bin, ...",
    ids="uint16, int32",
    files="copied",
    write=write,
    samples=True,
    ahead=0,
)
