"""Parquet of ids, one row per document, which Hugging Face datasets loads directly."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from corpusmill.tools.export.declaration import Exported, Format, Shard
from corpusmill.tools.export.target import Target

ROW_GROUP_TOKENS = 4 << 20


def write(exported: Exported, target: Target) -> None:
    for shard in exported.shards:
        name = f"{shard.split}/{shard.number:05}.parquet"
        if target.wants(name, shard.bytes):
            with target.path(name) as path:
                write_shard(shard, path)


def write_shard(shard: Shard, path: object) -> None:
    starts, ids = shard.starts(), shard.ids()
    placed = shard.documents()
    kind = pa.from_numpy_dtype(shard.dtype)
    schema = pa.schema(
        [("id", pa.uint64()), ("source", pa.string()), ("input_ids", pa.list_(kind))]
    )
    with pq.ParquetWriter(
        path, schema, compression="zstd", use_dictionary=["source"], write_statistics=["id"]
    ) as writer:
        row = 0
        while row < len(starts) - 1:
            # A document is a row, whatever its length.
            end = int(np.searchsorted(starts, starts[row] + ROW_GROUP_TOKENS, "right")) - 1
            end = max(end, row + 1)
            lists = pa.ListArray.from_arrays(
                pa.array((starts[row : end + 1] - starts[row]).astype("<i4")),
                pa.array(ids[starts[row] : starts[end]]),
            )
            rows = placed.slice(row, end - row)
            columns = [rows["id"], rows["source"].cast(pa.string()), lists]
            writer.write_table(pa.table(columns, schema=schema))
            row = end


FORMAT = Format(
    read_by="Hugging Face datasets, DuckDB, pandas, any program that reads Parquet",
    layout="{split}/00000.parquet: id, source, input_ids",
    ids="uint16, uint32",
    files="copied, zstd",
    write=write,
    share=0.5,
    most_tokens=2**31 - 1,
)
