"""Reads an export with the loader that it is made for: `export_readers.py FORMAT FOLDER LENGTH`.

Runs in an environment of benchmarks/peers/exports.txt (olmo and megatron with --no-deps). Prints a
JSON object: the loader, its version, and for each split the digests of its documents or samples.
"""

import glob
import hashlib
import importlib.metadata
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

SPLITS = ("train", "validation", "test")


def megatron(folder: Path, length: int, split: str) -> Iterator[Any]:
    from megatron.core.datasets.indexed_dataset import IndexedDataset

    for prefix in (folder / f"{split}_prefixes.txt").read_text().split():
        dataset = IndexedDataset(str(folder / prefix), mmap=True)
        yield from (dataset[number] for number in range(len(dataset)))


def olmo(folder: Path, length: int, split: str) -> Iterator[Any]:
    from olmo_core.data.utils import iter_document_indices, load_array_slice_into_tensor

    dtype = np.uint16 if os.environ["DTYPE"] == "uint16" else np.uint32
    for path in sorted(glob.glob(f"{folder}/{split}/*.npy")):
        for start, end in iter_document_indices(path):
            yield load_array_slice_into_tensor(path, start, end, dtype)


def datatrove(folder: Path, length: int, split: str) -> Iterator[Any]:
    from datatrove.utils.dataset import DatatroveFolderDataset

    dataset = DatatroveFolderDataset(
        str(folder / split), seq_len=length - 1, shuffle=False,
        token_size=2 if os.environ["DTYPE"] == "uint16" else 4,
    )  # fmt: skip
    # The incomplete end of a file is not a sample.
    yield from (dataset[number]["input_ids"] for number in range(len(dataset)))


def mds(folder: Path, length: int, split: str) -> Iterator[Any]:
    from streaming import StreamingDataset

    dataset = StreamingDataset(local=str(folder / split), shuffle=False, batch_size=1)
    yield from (dataset[number]["tokens"] for number in range(len(dataset)))


def litdata(folder: Path, length: int, split: str) -> Iterator[Any]:
    from litdata import StreamingDataset, TokensLoader

    loader = TokensLoader(block_size=length)
    dataset = StreamingDataset(str(folder / split), item_loader=loader, shuffle=False)
    yield from (dataset[number] for number in range(len(dataset)))


def parquet(folder: Path, length: int, split: str) -> Iterator[Any]:
    from datasets import load_dataset

    files = sorted(glob.glob(f"{folder}/{split}/*.parquet"))
    for row in load_dataset("parquet", data_files={split: files}, split=split):
        yield row["input_ids"]


def webdataset(folder: Path, length: int, split: str) -> Iterator[Any]:
    import webdataset

    files = sorted(glob.glob(f"{folder}/{split}/*.tar"))
    dataset = webdataset.WebDataset(files, shardshuffle=False).decode().to_tuple("npy")
    yield from (ids for (ids,) in dataset)


def hdf5(folder: Path, length: int, split: str) -> Iterator[Any]:
    import h5py

    for path in sorted(glob.glob(f"{folder}/{split}/*.h5")):
        with h5py.File(path) as file:
            data = file["data"]
            assert len(data) == file.attrs["n_examples"]
            for ids, mask, labels in data:
                assert mask.all()
                assert (labels[:-1] == ids[1:]).all()
                yield ids


PACKAGES = {
    "megatron": "megatron-core", "olmo": "ai2-olmo-core", "datatrove": "datatrove",
    "mds": "mosaicml-streaming", "litdata": "litdata", "parquet": "datasets",
    "webdataset": "webdataset", "hdf5": "h5py",
}  # fmt: skip


def digest(pieces: Iterator[Any]) -> tuple[int, str]:
    """Return their number, and a digest of the digests of their ids."""
    count, whole = 0, hashlib.sha256()
    for piece in pieces:
        whole.update(hashlib.sha256(np.asarray(piece).astype("<i8").tobytes()).digest())
        count += 1
    return count, whole.hexdigest()


if __name__ == "__main__":
    name, folder, length = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    package = PACKAGES[name]
    found = {
        split: digest(globals()[name](folder, length, split))
        for split in SPLITS
        if glob.glob(f"{folder}/{split}*")
    }
    print(json.dumps({"loader": f"{package} {importlib.metadata.version(package)}"} | found))
