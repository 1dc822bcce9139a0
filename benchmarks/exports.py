"""Reads each format of `corpusmill export` back with the loader that it is made for.

    python benchmarks/exports.py RESULTS --peer VENV/bin/python --peer VENV2/bin/python

RESULTS is of a finished run. The environments have benchmarks/peers/exports.txt; a format is read
by the first that can. Exports are equal if they give the same ids, document by document or sample
by sample. Bytes and seconds are of the export, with a warm page cache.
"""

import argparse
import hashlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout, as rules/common.smk does
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import naive_exports

from corpusmill.messages.progress import Silence
from corpusmill.tools.export.declaration import Exported, Split
from corpusmill.tools.export.exporting import Exporting, faults, known_formats, opened

READER = Path(__file__).parent / "peers/export_readers.py"
OF_FILES = {"datatrove"}
"""Formats whose loader gives samples of each file."""
WITHOUT_LOADER = {
    "nanogpt": "np.memmap, as its train.py", "llm-c": "its header and np.fromfile, as it does",
    "numpy-shards": "np.memmap",
}  # fmt: skip


def digest(pieces: Iterator[np.ndarray]) -> list:
    count, whole = 0, hashlib.sha256()
    for piece in pieces:
        whole.update(hashlib.sha256(piece.astype("<i8").tobytes()).digest())
        count += 1
    return [count, whole.hexdigest()]


def documents(split: Split) -> Iterator[np.ndarray]:
    for shard in split.shards:
        ids, starts = shard.ids(), shard.starts()
        yield from (ids[a:b] for a, b in itertools.pairwise(starts))


def samples(split: Split, length: int, of_files: bool, ahead: int) -> Iterator[np.ndarray]:
    parts = [Split("", [s], s.tokens, 0) for s in split.shards] if of_files else [split]
    for part in parts:
        for block in part.samples(length, 1024, ahead):
            yield from block[:, :length]


def expected(name: str, exported: Exported, samples_of: bool) -> dict:
    found = {}
    for split in exported.splits:
        if samples_of or name in OF_FILES:
            ahead = int(name == "hdf5")
            pieces = samples(split, exported.length, name in OF_FILES, ahead)
        else:
            pieces = documents(split)
        found[split.name] = digest(pieces)
    return found


def read_by_loader(name: str, folder: Path, exported: Exported, peers: list[str]) -> dict:
    said = ""
    for python in peers:
        done = subprocess.run(
            [python, READER, name, folder, str(exported.length)], capture_output=True, text=True,
            env=os.environ | {"DTYPE": exported.vocabulary.dtype.name}, check=False,
        )  # fmt: skip
        if done.returncode == 0:
            return json.loads(done.stdout.splitlines()[-1])
        said = done.stderr.strip().splitlines()[-1]
    return {"loader": f"none here: {said}"}


def read_plainly(name: str, folder: Path, exported: Exported) -> bool:
    """Read a format without its own loader. Say whether a reader of its description finds the
    split's ids."""
    for split in exported.splits:
        read = getattr(naive_exports, name.replace("-", "_"))
        found = read(folder, split.name, exported.vocabulary.dtype.name)
        ids = [id for shard in split.shards for id in shard.ids().tolist()]
        if name == "llm-c":
            end = exported.vocabulary.end_of_text
            ids = [id for s in split.shards if s.tokens for id in (end, *s.ids()[:-1].tolist())]
        if found != ids:
            return False
    return True


def row(name: str, results: Path, folder: Path, length: int, peers: list[str]) -> str:
    exported = opened(results, length)
    if found := faults(name, exported):
        return f"| {name} | cannot hold it: {found[0]} | | | |"
    exporting = Exporting(name, results, folder, length)
    start = time.perf_counter()
    record = exporting.write(Silence())
    seconds = time.perf_counter() - start
    size = sum(file["bytes"] for file in record["files"])
    if name in WITHOUT_LOADER:
        loader, equal = WITHOUT_LOADER[name], read_plainly(name, folder, exported)
    else:
        told = read_by_loader(name, folder, exported, peers)
        loader = told.pop("loader")
        equal = told == expected(name, exported, exporting.format.samples)
    return f"| {name} | {loader} | {'yes' if equal else 'NO'} | {size / 1e6:,.1f} | {seconds:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--peer", action="append", default=[], help="a Python that has loaders")
    parser.add_argument("--length", type=int, default=2048)
    given = parser.parse_args()
    print("| format | read by | ids equal | MB | export, seconds |\n|---|---|---|--:|--:|")
    with tempfile.TemporaryDirectory(dir=given.results) as folder:
        for name in known_formats():
            print(
                row(name, given.results, Path(folder) / name, given.length, given.peer), flush=True
            )


if __name__ == "__main__":
    main()
