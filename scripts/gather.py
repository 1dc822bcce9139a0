"""Gather the documents of one shard from all parts, in shuffled order."""

import logging
from collections import Counter
from pathlib import Path
from typing import Any

from corpusmill.mill.shuffle.scattering import ShardRows
from corpusmill.mill.shuffle.targets import first_targets
from corpusmill.mill.shuffle.text_shards import write_shard
from corpusmill.mill.storage.files import load_listing, save_json, writing
from corpusmill.mill.storage.tables import load_schema
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


def gather(
    listing: list[Path],
    split: str,
    shard: int,
    shards: dict[str, int],
    columns: list[Path],
    options: dict[str, Any],
    text: Path,
    facts: Path,
) -> None:
    """listing: the scatter files of all parts; columns: for Parquet, its columns; else none.

    options: keyword arguments of `write_shard`.
    """
    schema = load_schema(columns[0]) if columns else None
    parts = load_listing(listing)
    with phase("gathering", len(parts), "parts") as progress:
        mine = ShardRows.read(parts, first_targets(shards)[split] + shard, progress)
    rows, order = mine
    by_source: dict[str, Counter] = {}
    sizes = mine.sizes().tolist()
    for source, size in zip(rows.column("source").to_pylist(), sizes, strict=True):
        count = by_source.setdefault(source, Counter())
        count["documents"] += 1
        count["text_bytes"] += size
    with writing(text, kept=True) as file, phase("writing", rows.num_rows, "documents") as progress:
        written = write_shard(file, schema, rows, order, progress, **options)
    save_json(
        facts,
        {
            "documents": rows.num_rows,
            "by_source": {name: dict(count) for name, count in sorted(by_source.items())},
            **written._asdict(),
        },
        kept=True,
    )
    logging.info("%d documents, %d bytes", rows.num_rows, written.bytes)


if __name__ == "__main__":
    run(gather)
