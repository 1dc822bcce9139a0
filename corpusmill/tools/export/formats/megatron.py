"""Megatron-LM: one IndexedDataset per shard, one sequence per document."""

import struct

import numpy as np

from corpusmill.tools.export.declaration import Exported, Format
from corpusmill.tools.export.target import Target

MAGIC = b"MMIDIDX\x00\x00"
VERSION = 1
CODES = {2: 8, 4: 4}
"""Megatron's codes for uint16 and int32. It has no uint32; ids below 2**31 have the same bytes."""


def write(exported: Exported, target: Target) -> None:
    for split in exported.splits:
        prefixes = []
        for shard in split.shards:
            prefix = f"{split.name}/{shard.number:05}"
            prefixes.append(prefix)
            if target.wants(f"{prefix}.bin", shard.bytes):
                target.same(f"{prefix}.bin", shard.path)
            if target.wants(f"{prefix}.idx"):
                with target.file(f"{prefix}.idx") as file:
                    file.write(index(shard.starts(), shard.dtype.itemsize))
        listed = "".join(f"{prefix}\n" for prefix in prefixes).encode()
        target.write(f"{split.name}_prefixes.txt", listed)


def index(starts: np.ndarray, itemsize: int) -> bytes:
    documents = len(starts) - 1
    head = MAGIC + struct.pack("<QBQQ", VERSION, CODES[itemsize], documents, documents + 1)
    lengths = np.diff(starts).astype("<i4")
    offsets = (starts[:-1] * itemsize).astype("<i8")
    ends = np.arange(documents + 1, dtype="<i8")
    return head + lengths.tobytes() + offsets.tobytes() + ends.tobytes()


FORMAT = Format(
    read_by="Megatron-LM, NeMo",
    layout="{split}/00000.bin, .idx; {split}_prefixes.txt: value of --data-path",
    ids="uint16, int32",
    files="linked, plus an index of 20 bytes per document",
    write=write,
    share=0.02,
    most_tokens=2**31 - 1,
)
