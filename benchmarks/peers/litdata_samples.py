"""Shuffled samples by litdata's StreamingDataset with TokensLoader, in batches that are stacked.

Its chunks of 64 MB are written first, by its own `optimize`; they hold int32. It shuffles chunks
and the samples of a chunk, and sample i begins where sample i - 1 ended.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from litdata import StreamingDataset, TokensLoader, optimize

BLOCK = 1 << 20


def tokens_of(shard: str):
    ids = np.fromfile(shard, "<u2").astype(np.int32)
    for start in range(0, ids.size, BLOCK):
        yield torch.from_numpy(ids[start : start + BLOCK])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--tokens", type=Path, required=True)
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--length", type=int, required=True)
    arguments.add_argument("--batch", type=int, required=True)
    arguments.add_argument("--samples", type=int, required=True)
    given = arguments.parse_args()
    loader = TokensLoader(block_size=given.length + 1)
    if not given.out.exists():
        shards = sorted(map(str, given.tokens.glob("*.bin")))
        optimize(tokens_of, shards, str(given.out), chunk_bytes="64MB", item_loader=loader,
                 num_workers=1)  # fmt: skip
    dataset = StreamingDataset(str(given.out), item_loader=loader, shuffle=True, seed=1)
    for _ in range(2):  # the first one warms the page cache
        began, started, rows, samples = time.process_time(), time.perf_counter(), [], 0
        for row in dataset:
            rows.append(row)
            samples += 1
            if len(rows) == given.batch:
                torch.stack(rows)
                rows = []
            if samples == given.samples:
                break
    print(json.dumps({"samples": samples, "seconds": time.process_time() - began,
                      "wall_seconds": time.perf_counter() - started}))  # fmt: skip


if __name__ == "__main__":
    main()
