"""WebDataset: tar files with ids and metadata of each document."""

import io
import json
import tarfile
from typing import IO

import numpy as np

from corpusmill.tools.export.declaration import Exported, Format, Shard
from corpusmill.tools.export.target import Target


def write(exported: Exported, target: Target) -> None:
    for shard in exported.shards:
        name = f"{shard.split}/{shard.number:06}.tar"
        if target.wants(name, shard.bytes):
            with target.file(name) as file:
                write_shard(shard, file)


def write_shard(shard: Shard, file: IO[bytes]) -> None:
    starts, ids = shard.starts(), shard.ids()
    placed = shard.documents().to_pylist()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for row, facts in enumerate(placed):
            array = io.BytesIO()
            np.save(array, ids[starts[row] : starts[row + 1]])
            add(tar, f"{row:09}.json", json.dumps(facts, sort_keys=True).encode())
            add(tar, f"{row:09}.npy", array.getvalue())


def add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)  # no time or owner, for the same bytes every time
    entry.size = len(content)
    tar.addfile(entry, io.BytesIO(content))


FORMAT = Format(
    read_by="WebDataset",
    layout="{split}/000000.tar: 000000000.npy (ids), .json (id, source) of each document",
    ids="uint16, uint32",
    files="copied to tar",
    write=write,
    share=1.2,
)
