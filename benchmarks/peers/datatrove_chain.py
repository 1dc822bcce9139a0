"""datatrove's whole chain: read, signatures, buckets, clusters, filter, tokenize, merge.

Offline: words are split by spaCy's blank English model, which needs no data, and the tokenizer is a
file. One task per shard and per bucket, with the given number of workers.
"""

import argparse
import json
import time
from pathlib import Path

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import MinhashDedupSignature
from datatrove.pipeline.dedup.minhash import (
    MinhashConfig,
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
)
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.tokens import DocumentTokenizer, DocumentTokenizerMerger
from datatrove.utils.typeshelper import Languages


def chain(corpus: Path, out: Path, tokenizer: Path, workers: int) -> dict[str, float]:
    """Run the chain; return the seconds of each stage."""
    shards = len(list(corpus.glob("*.jsonl.zst")))
    minhash = MinhashConfig(n_grams=5, num_buckets=14, hashes_per_bucket=8)

    def reader() -> JsonlReader:
        return JsonlReader(str(corpus), glob_pattern="*.jsonl.zst")

    stages = {
        "signatures": (
            [reader(), MinhashDedupSignature(f"{out}/signatures", minhash, Languages.english)],
            shards,
        ),
        "buckets": (
            [MinhashDedupBuckets(f"{out}/signatures", f"{out}/buckets", config=minhash)],
            minhash.num_buckets,
        ),
        "clusters": ([MinhashDedupCluster(f"{out}/buckets", f"{out}/remove", config=minhash)], 1),
        "tokens": (
            [
                reader(),
                MinhashDedupFilter(f"{out}/remove"),
                DocumentTokenizer(
                    f"{out}/tokens",
                    tokenizer_name_or_path=str(tokenizer / "tokenizer.json"),
                    eos_token="<|endoftext|>",
                    seed=1,
                ),
            ],
            shards,
        ),
        "merge": ([DocumentTokenizerMerger(f"{out}/tokens", f"{out}/merged", "corpus", seed=1)], 1),
    }
    seconds = {}
    for name, (pipeline, tasks) in stages.items():
        started = time.perf_counter()
        LocalPipelineExecutor(
            pipeline, tasks=tasks, workers=workers, logging_dir=f"{out}/logs/{name}"
        ).run()
        seconds[name] = round(time.perf_counter() - started, 2)
    return seconds


def counts_of(out: Path) -> dict[str, int]:
    """Return documents and tokens, counted in the files, not taken from logs."""
    index = sum(path.stat().st_size // 8 for path in (out / "merged").glob("*.index"))
    metadata = next((out / "merged").glob("*.metadata")).read_text().splitlines()
    return {"kept": index, "tokens": int(metadata[1])}


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--corpus", type=Path, required=True)
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--tokenizer", type=Path, required=True)
    arguments.add_argument("--workers", type=int, default=2)
    given = arguments.parse_args()
    seconds = chain(given.corpus, given.out, given.tokenizer, given.workers)
    print(json.dumps(counts_of(given.out) | {"stages": seconds}))
