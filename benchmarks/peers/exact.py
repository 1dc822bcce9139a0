"""Exact deduplication: one copy of every text, in a single DuckDB query from shards to Parquet."""

import argparse
import json
from pathlib import Path

import duckdb

if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--corpus", type=Path, required=True)
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--workers", type=int, default=2)
    given = arguments.parse_args()
    connection = duckdb.connect()
    connection.execute(f"set threads = {given.workers}")
    connection.execute(
        "copy (select any_value(text) as text from read_json("
        f"'{given.corpus}/*.jsonl.zst', columns = {{text: 'varchar'}}, format = 'nd', "
        f"maximum_object_size = 100000000) group by sha256(text)) to '{given.out}' (format parquet)"
    )
    (kept,) = connection.execute(f"select count(*) from '{given.out}'").fetchone()
    print(json.dumps({"kept": kept}))
