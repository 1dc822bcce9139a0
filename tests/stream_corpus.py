"""Small corpora as a finished run leaves them, for what reads them."""

import hashlib
import json
import time
from pathlib import Path

import numpy as np

from corpusmill.mill.storage.files import as_json
from corpusmill.mill.tokens.group_files import DTYPE, NAMES, Group, legend_of
from corpusmill.mill.tokens.pack_files import PackFiles
from corpusmill.mill.tokens.packing import packing_of, save_packing

END = 0


def documents(sizes: list[int], first: int, ids: int) -> list[list[int]]:
    """Documents of these sizes, the end of text included; no two neighbours look alike."""
    texts, n = [], first
    for size in sizes:
        texts.append([1 + (n + k) * 7919 % (ids - 1) for k in range(size - 1)] + [END])
        n += size
    return texts


def described(folder: Path, path: Path, **more: int) -> dict:
    data = path.read_bytes()
    name = f"results/{path.relative_to(folder)}"
    return more | {"path": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def write_corpus(
    folder: Path,
    splits: dict[str, list[list[int]]],
    dtype: str = "uint16",
    ids: int = 50_000,
    pack: tuple[int, ...] = (),
    groups: list[tuple[str, tuple[str, ...] | None]] | None = None,
) -> Path:
    """folder/results of shards with documents of these sizes; returns it. pack: lengths of rows.
    groups: source and cell of documents; those of a split have them in turn."""
    results = folder / "results"
    files, n = [], 0
    for split, shards in splits.items():
        for number, sizes in enumerate(shards):
            path = results / f"tokens/{split}/{number:05}.bin"
            path.parent.mkdir(parents=True, exist_ok=True)
            texts = documents(sizes, n, ids)
            n += sum(sizes)
            ids_of_all = [id for text in texts for id in text]
            np.array(ids_of_all, np.dtype(dtype).newbyteorder("<")).tofile(path)
            np.cumsum([0, *sizes], dtype="<u8").tofile(path.with_suffix(".idx"))
            files.append(described(results, path, documents=len(sizes), tokens=sum(sizes)))
            files.append(described(results, path.with_suffix(".idx")))
        files += [one for length in pack for one in packed(results, split, shards, length)]
        files += grouped(results, split, shards, groups) if groups else []
    facts = results / "tokenizer/corpusmill.json"
    facts.parent.mkdir(parents=True, exist_ok=True)
    facts.write_text(json.dumps({"dtype": dtype, "vocabulary": ids, "end_of_text_id": END}))
    files.append(described(results, facts))
    write_manifest(results, {"corpusmill.manifest": 1, "generation": 1, "files": files})
    return results


def packed(results: Path, split: str, shards: list[list[int]], length: int) -> list[dict]:
    """The entries of an index of packed rows, which is written."""
    base = results / f"tokens/{split}/pack-{length}"
    files = PackFiles(
        *(base.with_name(f"{base.name}.{end}") for end in ("npy", "rows.npy", "json"))
    )
    starts = np.cumsum([0, *(size for sizes in shards for size in sizes)])
    save_packing(files, packing_of(starts, length), length, 42, starts.size - 1)
    return [described(results, path) for path in files]


def grouped(results: Path, split: str, shards: list[list[int]], names: list[tuple]) -> list[dict]:
    """The entries of the files with the groups of a split's documents, which are written."""
    sizes = np.array([size for own in shards for size in own], np.int64)
    numbers = (np.arange(sizes.size) % len(names)).astype(DTYPE)
    files = [results / f"tokens/{split}/{name}" for name in NAMES]
    np.save(files[0], numbers)
    groups = [
        Group(*name, int((numbers == k).sum()), int(sizes[numbers == k].sum()))
        for k, name in enumerate(names)
    ]
    files[1].write_text(json.dumps(legend_of(groups, ["source", "topic"], "0" * 64)))
    return [described(results, path) for path in files]


def write_manifest(results: Path, content: dict) -> None:
    """With its own digest, as the rule manifest takes it."""
    chain = {name: value for name, value in content.items() if name != "sha256"}
    own = hashlib.sha256(as_json(chain).encode()).hexdigest()
    (results / "manifest.json").write_text(as_json(chain | {"sha256": own}))


def read_manifest(results: Path) -> dict:
    return json.loads((results / "manifest.json").read_text())


def tokens_of(results: Path, split: str = "train") -> list[int]:
    """All ids of a split, one shard behind the other."""
    facts = json.loads((results / "tokenizer/corpusmill.json").read_text())
    files = sorted((results / f"tokens/{split}").glob("*.bin"))
    return [id for file in files for id in np.fromfile(file, facts["dtype"]).tolist()]


def half_fetched(cache: Path) -> Path:
    """The shard of which something has come, and not all."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        for part in cache.glob("*/*.bin.part"):
            if part.stat().st_size:
                return part
        time.sleep(0.01)
    raise TimeoutError(f"nothing has come to {cache}")
