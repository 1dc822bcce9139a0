"""Join the token shards of one split to one file, as nanoGPT-style trainers read it."""

import logging
from pathlib import Path

from corpusmill.run.job import run
from corpusmill.run.progress import phase
from corpusmill.storage.files import READ_BYTES, DigestingFile, load_json, replacing, save_json


def join(bins: list[Path], shard_facts: list[Path], joined_bin: Path, facts: Path) -> None:
    """bins, shard_facts: of every shard of the split, in shard order."""
    expected = sum(load_json(file)["bytes"] for file in shard_facts)
    with (
        replacing(joined_bin) as temporary,
        open(temporary, "wb") as raw,
        phase("joining", expected) as progress,
    ):
        out = DigestingFile(raw)
        for bin in bins:
            with open(bin, "rb") as shard:
                while block := shard.read(READ_BYTES):
                    out.write(block)
                    progress.advance(len(block))
        if out.bytes != expected:
            raise ValueError(f"{joined_bin}: {out.bytes} bytes joined, expected {expected}")
    save_json(facts, {"bytes": out.bytes, "sha256": out.sha256, "shards": len(bins)})
    logging.info("%d shards, %d bytes", len(bins), out.bytes)


if __name__ == "__main__":
    run(join)
