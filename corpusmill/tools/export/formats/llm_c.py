"""llm.c and modded-nanogpt: shards with a header, the end-of-text id before each document.

Our shards have it after each document. So the one of the last document is moved to the front, and
the number of tokens is the same.
"""

from typing import IO

import numpy as np

from corpusmill.mill.storage.files import READ_BYTES
from corpusmill.tools.export.declaration import Exported, Format, Shard
from corpusmill.tools.export.formats.nanogpt import NAMES
from corpusmill.tools.export.target import Target

HEADERS = {2: (20240520, 1), 4: (20240801, 7)}
"""Magic and version by bytes per id: GPT-2 shards and Llama 3 shards."""


def write(exported: Exported, target: Target) -> None:
    for shard in exported.shards:
        name = f"{NAMES.get(shard.split, shard.split)}_{shard.number:06}.bin"
        if target.wants(name, shard.bytes):
            with target.file(name) as file:
                write_shard(shard, exported.vocabulary.end_of_text, file)


def write_shard(shard: Shard, end_of_text: int, file: IO[bytes]) -> None:
    itemsize = shard.dtype.itemsize
    header = np.zeros(256, "<i4")
    header[:3] = *HEADERS[itemsize], shard.tokens
    file.write(header.tobytes())
    if not shard.tokens:
        return
    file.write(np.array([end_of_text], shard.dtype).tobytes())
    left = shard.bytes - itemsize
    with open(shard.path, "rb") as ids:
        while left:
            block = ids.read(min(left, READ_BYTES))
            file.write(block)
            left -= len(block)


FORMAT = Format(
    read_by="llm.c; modded-nanogpt, if ids are uint16",
    layout="train_000000.bin, val_000000.bin, ...: a header of 1,024 bytes, then ids",
    ids="uint16, uint32",
    files="copied, with the end-of-text id first in each document",
    write=write,
    most_tokens=2**31 - 1,
)
