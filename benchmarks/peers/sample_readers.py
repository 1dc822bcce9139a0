"""Shuffled samples of one corpus by another library, in stacked batches.

    sample_readers.py LIBRARY --tokens FOLDER --out FOLDER --length N --batch N --samples N

The shards are first written in the library's format, with its own writer if it has one for ids.
Libraries shuffle differently: Megatron also shuffles documents. Only Megatron gives a token to two
samples, the last of one. Documents in the first samples are looked up in the shards, outside the
timing.
"""

import argparse
import importlib.metadata
import itertools
import json
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import torch

BLOCK = 1 << 20
LOOKED_AT = 1000
"""Samples whose documents are looked up."""


def shards(given) -> list[Path]:
    return sorted(given.tokens.glob("*.bin"))


def tokens_of(shard: str) -> Iterator[torch.Tensor]:
    ids = np.fromfile(shard, "<u2").astype(np.int32)
    for start in range(0, ids.size, BLOCK):
        yield torch.from_numpy(ids[start : start + BLOCK])


def litdata(given) -> Iterable[torch.Tensor]:
    from litdata import StreamingDataset, TokensLoader, optimize

    loader = TokensLoader(block_size=given.length + 1)
    if not given.out.exists():
        optimize(tokens_of, list(map(str, shards(given))), str(given.out), chunk_bytes="64MB",
                 item_loader=loader, num_workers=1)  # fmt: skip
    return StreamingDataset(str(given.out), item_loader=loader, shuffle=True, seed=1)


def mosaicml(given) -> Iterator[torch.Tensor]:
    from streaming import MDSWriter, StreamingDataset

    if not given.out.exists():
        stream = np.concatenate([np.fromfile(shard, "<u2") for shard in shards(given)])
        with MDSWriter(out=str(given.out), columns={"tokens": "ndarray:uint16"}) as writer:
            for row in rows(stream, given.length + 1, given.length + 1):
                writer.write({"tokens": row})
    dataset = StreamingDataset(local=str(given.out), shuffle=True, shuffle_seed=1, batch_size=512)
    return (torch.from_numpy(sample["tokens"]) for sample in dataset)


def datatrove(given) -> Iterator[torch.Tensor]:
    """Yield datatrove's rows in a shuffled order, which it leaves to the caller."""
    from datatrove.utils.dataset import DatatroveFolderDataset

    if not given.out.exists():
        given.out.mkdir(parents=True)
        for shard in shards(given):
            shutil.copy(shard, given.out / f"{shard.stem}.ds")
    dataset = DatatroveFolderDataset(str(given.out), seq_len=given.length, shuffle=False)
    order = np.random.default_rng(1).permutation(len(dataset)).tolist()
    return (dataset[number]["input_ids"] for number in order)


def megatron(given) -> Iterator[torch.Tensor]:
    from megatron.core.datasets.gpt_dataset import GPTDataset, GPTDatasetConfig
    from megatron.core.datasets.indexed_dataset import IndexedDataset, IndexedDatasetBuilder
    from megatron.core.datasets.utils import Split

    prefix = given.out / "train"
    if not given.out.exists():
        given.out.mkdir(parents=True)
        builder = IndexedDatasetBuilder(f"{prefix}.bin", dtype=np.uint16)
        for shard in shards(given):
            ids = torch.from_numpy(np.fromfile(shard, "<u2"))
            starts = np.fromfile(shard.with_suffix(".idx"), "<u8").astype(np.int64)
            builder.add_document(ids, np.diff(starts).tolist())
        builder.finalize(f"{prefix}.idx")

    class Tokenizer:
        eod, pad, vocab_size, unique_identifiers = 0, None, 50_000, {"class": "none"}

    config = GPTDatasetConfig(
        random_seed=1, sequence_length=given.length, split="1,0,0", reset_position_ids=False,
        reset_attention_mask=False, eod_mask_loss=False, create_attention_mask=False,
        tokenizer=Tokenizer(), path_to_cache=str(given.out / "cache"),
    )  # fmt: skip
    documents = IndexedDataset(str(prefix), mmap=True)
    dataset = GPTDataset(
        documents, str(prefix), np.arange(len(documents)), given.samples, Split.train, config
    )
    for number in range(len(dataset)):
        sample = dataset[number]
        yield torch.cat([sample["tokens"], sample["labels"][-1:]])


PACKAGES = {
    "litdata": "litdata", "mosaicml": "mosaicml-streaming", "datatrove": "datatrove",
    "megatron": "megatron-core",
}  # fmt: skip


def rows(stream: np.ndarray, step: int, size: int) -> Iterator[np.ndarray]:
    return (stream[at : at + size] for at in range(0, stream.size - size + 1, step))


def documents_found(given, samples: list[np.ndarray]) -> tuple[int, int]:
    """Return how many whole documents in samples are in the shards, and their total. Every document
    ends in the id 0."""
    known = set()
    for shard in shards(given):
        ids, starts = np.fromfile(shard, "<u2"), np.fromfile(shard.with_suffix(".idx"), "<u8")
        known |= {hash(ids[a:b].tobytes()) for a, b in itertools.pairwise(starts.tolist())}
    whole = [
        sample[a + 1 : b + 1].astype("<u2").tobytes()
        for sample in samples
        for a, b in itertools.pairwise(np.flatnonzero(sample == 0))
    ]
    return sum(hash(one) in known for one in whole), len(whole)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("library", choices=PACKAGES)
    arguments.add_argument("--tokens", type=Path, required=True)
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--length", type=int, required=True)
    arguments.add_argument("--batch", type=int, required=True)
    arguments.add_argument("--samples", type=int, required=True)
    given = arguments.parse_args()
    looked_at: list[torch.Tensor] = []
    for is_measured in (False, True):  # the first run warms the page cache
        dataset = globals()[given.library](given)
        began, started, waiting, samples = time.process_time(), time.perf_counter(), [], 0
        for row in dataset:
            waiting.append(row)
            samples += 1
            if len(waiting) == given.batch:
                torch.stack(waiting)
                looked_at += [] if is_measured or len(looked_at) >= LOOKED_AT else waiting
                waiting = []
            if samples == given.samples:
                break
    seconds, wall = time.process_time() - began, time.perf_counter() - started
    found, whole = documents_found(given, [np.asarray(one) for one in looked_at])
    package = PACKAGES[given.library]
    print(json.dumps({
        "samples": samples, "seconds": seconds, "wall_seconds": wall,
        "library": f"{package} {importlib.metadata.version(package)}",
        "documents": whole, "documents_found": found,
    }))  # fmt: skip


if __name__ == "__main__":
    main()
