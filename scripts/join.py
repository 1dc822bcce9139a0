"""Join the token shards of one split to one file for nanoGPT-style trainers."""

import itertools
import logging
from pathlib import Path

from corpusmill.mill.storage.files import load_json, save_json, writing
from corpusmill.mill.storage.sums import checked_blocks
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


def join(bins: list[Path], shard_facts: list[Path], joined_bin: Path, facts: Path) -> None:
    """bins, shard_facts: of every shard of the split, in shard order."""
    expected = sum(load_json(file)["bytes"] for file in shard_facts)
    with (
        writing(joined_bin, kept=True) as out,
        phase("joining", expected) as progress,
    ):
        for block in itertools.chain.from_iterable(map(checked_blocks, bins)):
            out.write(block)
            progress.advance(len(block))
        if out.bytes != expected:
            raise ValueError(f"{joined_bin}: {out.bytes} bytes joined, expected {expected}")
    save_json(facts, {"bytes": out.bytes, "sha256": out.sha256, "shards": len(bins)}, kept=True)
    logging.info("%d shards, %d bytes", len(bins), out.bytes)


if __name__ == "__main__":
    run(join)
