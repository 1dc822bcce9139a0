"""OLMo and OLMo-core: raw ids in files named .npy, with the document boundaries."""

import csv
import gzip
import io

from corpusmill.tools.export.declaration import Exported, Format, Shard
from corpusmill.tools.export.target import Target


def write(exported: Exported, target: Target) -> None:
    for shard in exported.shards:
        prefix = f"{shard.split}/{shard.number:05}"
        if target.wants(f"{prefix}.npy", shard.bytes):
            target.same(f"{prefix}.npy", shard.path)
        if target.wants(f"{prefix}.csv.gz"):
            with (
                target.file(f"{prefix}.csv.gz") as file,
                gzip.GzipFile("", "wb", 6, file, mtime=0) as packed,
            ):
                packed.write(rows(shard))


def rows(shard: Shard) -> bytes:
    """Return start, end, id, source, row as CSV without a header, as dolma does."""
    starts, placed = shard.starts().tolist(), shard.documents()
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="\n").writerows(
        zip(
            starts[:-1], starts[1:], placed["id"].to_pylist(), placed["source"].to_pylist(),
            range(len(placed)), strict=True,
        )
    )  # fmt: skip
    return written.getvalue().encode()


FORMAT = Format(
    read_by="OLMo, OLMo-core, dolma",
    layout="{split}/00000.npy (raw ids), .csv.gz: start, end, id, source, row of each document",
    ids="uint16, uint32",
    files="linked, plus a `.csv.gz`",
    write=write,
    share=0.02,
)
