"""datatrove's tokenized shards, which nanotron's Nanosets read."""

from corpusmill.tools.export.declaration import Exported, Format
from corpusmill.tools.export.target import Target


def write(exported: Exported, target: Target) -> None:
    for shard in exported.shards:
        name = f"{shard.split}/{shard.number:05}.ds"
        if target.wants(name, shard.bytes):
            target.same(name, shard.path)
        if target.wants(f"{name}.index"):
            with target.file(f"{name}.index") as file:
                file.write(shard.starts()[1:].astype("<u8").tobytes())


FORMAT = Format(
    read_by="datatrove, nanotron",
    layout="{split}/00000.ds (raw ids), .ds.index: end of each document",
    ids="uint16, uint32",
    files="linked, plus an index of 8 bytes per document",
    write=write,
    share=0.02,
)
