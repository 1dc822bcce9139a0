"""Slow readers of exports, from the formats' own descriptions: lists of ids and no more."""

import csv
import gzip
import io
import itertools
import json
import struct
import tarfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq


def ids_of(data: bytes, dtype: str) -> list[int]:
    code = {"uint16": "H", "uint32": "I", "int32": "i"}[dtype]
    return list(struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data))


def megatron(folder: Path, split: str, dtype: str) -> list[list[int]]:
    documents = []
    for prefix in (folder / f"{split}_prefixes.txt").read_text().split():
        data, index = ((folder / f"{prefix}.{ending}").read_bytes() for ending in ("bin", "idx"))
        assert index[:9] == b"MMIDIDX\x00\x00"
        version, code, sequences, ends = struct.unpack_from("<QBQQ", index, 9)
        assert (version, code, ends) == (1, {"uint16": 8, "uint32": 4}[dtype], sequences + 1)
        lengths = struct.unpack_from(f"<{sequences}i", index, 34)
        starts = struct.unpack_from(f"<{sequences}q", index, 34 + 4 * sequences)
        assert struct.unpack_from(f"<{ends}q", index, 34 + 12 * sequences) == tuple(range(ends))
        assert len(index) == 34 + 12 * sequences + 8 * ends
        size = {8: 2, 4: 4}[code]
        documents += [
            ids_of(data[start : start + length * size], dtype)
            for start, length in zip(starts, lengths, strict=True)
        ]
    return documents


def olmo(folder: Path, split: str, dtype: str) -> list[list[int]]:
    documents = []
    for path in sorted((folder / split).glob("*.npy")):
        ids = ids_of(path.read_bytes(), dtype)
        rows = gzip.decompress(path.with_suffix(".csv.gz").read_bytes()).decode().splitlines()
        for number, (start, end, _, source, line) in enumerate(csv.reader(rows)):
            assert source == "web, and more"
            assert int(line) == number
            documents.append(ids[int(start) : int(end)])
    return documents


def datatrove(folder: Path, split: str, dtype: str) -> list[list[int]]:
    documents = []
    for path in sorted((folder / split).glob("*.ds")):
        ids, index = ids_of(path.read_bytes(), dtype), Path(f"{path}.index").read_bytes()
        ends = struct.unpack(f"<{len(index) // 8}Q", index)
        documents += [ids[a:b] for a, b in itertools.pairwise((0, *ends))]
    return documents


def parquet(folder: Path, split: str, dtype: str) -> list[list[int]]:
    return [
        row["input_ids"]
        for path in sorted((folder / split).glob("*.parquet"))
        for row in pq.read_table(path).to_pylist()
    ]


def webdataset(folder: Path, split: str, dtype: str) -> list[list[int]]:
    documents = []
    for path in sorted((folder / split).glob("*.tar")):
        with tarfile.open(path) as tar:
            entries = {entry.name: tar.extractfile(entry).read() for entry in tar}
        assert [name.split(".")[1] for name in entries] == ["json", "npy"] * (len(entries) // 2)
        for name, data in entries.items():
            if name.endswith(".npy"):
                documents.append(np.load(io.BytesIO(data)).tolist())
            else:
                assert json.loads(data).keys() == {"id", "source"}
    return documents


def nanogpt(folder: Path, split: str, dtype: str) -> list[int]:
    name = {"validation": "val"}.get(split, split)
    return ids_of((folder / f"{name}.bin").read_bytes(), dtype)


def llm_c(folder: Path, split: str, dtype: str) -> list[int]:
    stream = []
    for path in sorted(folder.glob({"validation": "val"}.get(split, split) + "_*.bin")):
        data = path.read_bytes()
        header = struct.unpack_from("<256i", data)
        ids = ids_of(data[1024:], dtype)
        magic = {"uint16": (20240520, 1), "uint32": (20240801, 7)}[dtype]
        assert header == (*magic, len(ids), *[0] * 253)
        stream += ids
    return stream


def mds(folder: Path, split: str, dtype: str) -> list[list[int]]:
    samples = []
    for shard in json.loads((folder / split / "index.json").read_text())["shards"]:
        data = (folder / split / shard["raw_data"]["basename"]).read_bytes()
        assert len(data) == shard["raw_data"]["bytes"]
        (count,) = struct.unpack_from("<I", data)
        assert count == shard["samples"]
        offsets = struct.unpack_from(f"<{count + 1}I", data, 4)
        config = json.loads(data[4 * (count + 2) : offsets[0]])
        assert config.items() <= shard.items()
        samples += [ids_of(data[a:b], dtype) for a, b in itertools.pairwise(offsets)]
    return samples


def litdata(folder: Path, split: str, dtype: str) -> list[int]:
    stream = []
    for chunk in json.loads((folder / split / "index.json").read_text())["chunks"]:
        data = (folder / split / chunk["filename"]).read_bytes()
        assert struct.unpack_from("<3I", data) == (1, 12, len(data))
        assert len(data) == chunk["chunk_bytes"]
        ids = ids_of(data[12:], dtype)
        assert len(ids) == chunk["dim"]
        stream += ids
    return stream


def numpy_shards(folder: Path, split: str, dtype: str) -> list[int]:
    return [
        id
        for path in sorted(folder.glob(f"{split}_[0-9]*.npy"))
        for id in ids_of(path.read_bytes(), dtype)
    ]
