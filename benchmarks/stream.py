"""Compares the reader with np.memmap, from the page cache.

    python benchmarks/stream.py [--shards 8] [--shard-tokens 2e7] [--length 2048]
                                [--samples 100000] [--many 10000] [--peer VENV/bin/python]

The corpus is generated: equally likely uint16 ids in documents of 500. Both sides read the same
samples in the same order, and digests of them are compared outside the timing. np.memmap reads as
nanoGPT does: a map per shard, a slice per sample, np.stack per batch; its order is computed
beforehand. Also measured: the time to open a corpus of many shards, of which only the manifest
exists; and the memory of reading everything, with maps limited to a quarter of the corpus. With
--peer, other libraries read the same documents from their own formats, in their own order. Seconds
are CPU time, because nothing waits for a disk and others may use the machine. `raw.jsonl` also has
wall time.
"""

import hashlib
import json
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout, as rules/common.smk does

from benchmarks.measuring import ROOT, child, memory_mb, parser, timed
from benchmarks.run_folder import RunFolder
from corpusmill.reader import Batches, Corpus, InOrder, Shuffled
from corpusmill.reader.permutation import Permutation

DOCUMENT = 500
VOCABULARY = 50_000
SEED = 1
BLOCK = 1 << 20


def described(results: Path, path: Path, **more: int) -> dict:
    with open(path, "rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    name = f"results/{path.relative_to(results)}"
    return more | {"path": name, "bytes": path.stat().st_size, "sha256": sha256}


def make(results: Path, shards: int, tokens: int) -> None:
    """Make the parts of a corpus that are read here."""
    if (results / "manifest.json").exists():
        return
    folder, facts = results / "tokens/train", results / "tokenizer/corpusmill.json"
    folder.mkdir(parents=True, exist_ok=True)
    facts.parent.mkdir(exist_ok=True)
    files = []
    for number in range(shards):
        path = folder / f"{number:05}.bin"
        ids = np.random.default_rng(number).integers(1, VOCABULARY, tokens).astype("<u2")
        starts = np.append(np.arange(0, tokens, DOCUMENT), tokens)
        ids[starts[1:] - 1] = 0
        ids.tofile(path)
        starts.astype("<u8").tofile(path.with_suffix(".idx"))
        files.append(described(results, path, documents=starts.size - 1, tokens=tokens))
        files.append(described(results, path.with_suffix(".idx")))
    facts.write_text(json.dumps({"dtype": "uint16", "vocabulary": VOCABULARY, "end_of_text_id": 0}))
    files.append(described(results, facts))
    listing = {"corpusmill.manifest": 1, "files": files}
    (results / "manifest.json").write_text(json.dumps(listing, indent=1))


def make_many(results: Path, one: Path, shards: int) -> None:
    """Write the manifest of so many shards, with text shards and indexes, but no files."""
    listing = json.loads((one / "manifest.json").read_text())
    bin, idx = listing["files"][:2]
    text = bin | {"path": "results/corpus/train/00000.jsonl.zst"}
    listing["files"] = [
        file | {"path": file["path"].replace("00000", f"{number:05}")}
        for file in (text, bin, idx)
        for number in range(shards)
    ] + listing["files"][-1:]
    (results / "tokenizer").mkdir(parents=True, exist_ok=True)
    shutil.copy(one / "tokenizer/corpusmill.json", results / "tokenizer")
    (results / "manifest.json").write_text(json.dumps(listing, indent=1))


def straight(results: Path, numbers: np.ndarray, length: int, batch: int) -> Iterator[np.ndarray]:
    """Yield samples by number with np.memmap. Samples that cross shards are assembled."""
    maps = [
        np.memmap(path, "<u2", "r") for path in sorted((results / "tokens/train").glob("*.bin"))
    ]
    tokens = maps[0].size
    for first in range(0, numbers.size, batch):
        rows = []
        for number in numbers[first : first + batch].tolist():
            shard, at = divmod(number * length, tokens)
            row = maps[shard][at : at + length + 1]
            missing = length + 1 - row.size
            rows.append(np.append(row, maps[shard + 1][:missing]) if missing else row)
        yield np.stack(rows)


def digest_of(batches: Iterator[np.ndarray]) -> str:
    digest = hashlib.sha256()
    for batch in batches:
        digest.update(batch)
    return digest.hexdigest()


def consume(batches: Iterator[np.ndarray]) -> int:
    return sum(batch.nbytes for batch in batches)


def blocks(read, tokens: int) -> Iterator[np.ndarray]:
    for start in range(0, tokens, BLOCK):
        yield read(start, min(start + BLOCK, tokens))


def random_samples(run: RunFolder, results: Path, given) -> None:
    split = Corpus(results).split("train")
    order = Shuffled(split, given.length, SEED)
    wanted = min(int(given.samples), len(order.samples))
    numbers = Permutation(len(order.samples), f"{SEED}/0/samples")(np.arange(wanted))
    for batch in (8, 512):

        def ours(batch=batch) -> Iterator[np.ndarray]:
            batches = Batches(order, batch)
            return (next(batches) for _ in range(wanted // batch))

        def theirs(batch=batch) -> Iterator[np.ndarray]:
            return straight(results, numbers[: wanted // batch * batch], given.length, batch)

        for what, read in (("np.memmap, told the order", theirs), ("Batches(Shuffled)", ours)):
            measure(
                run, f"random samples, batches of {batch}", what, read, wanted, given, "samples"
            )


def peers(run: RunFolder, results: Path, given) -> None:
    """Run other libraries, each with its own format and order."""
    wanted = min(int(given.samples), given.shards * int(given.shard_tokens) // (given.length + 1))
    for library in ("litdata", "mosaicml", "datatrove", "megatron"):
        for _ in range(given.runs):
            told = child(
                [given.peer, ROOT / "benchmarks/peers/sample_readers.py", library,
                 "--tokens", results / "tokens/train", "--out", results / library,
                 "--length", given.length, "--batch", 512, "--samples", wanted]
            )  # fmt: skip
            found, documents = told.pop("documents_found"), told.pop("documents")
            if not found == documents > 0:
                raise ValueError(f"{library}: {documents} documents, {found} are of the corpus")
            run.record("stream", f"random samples, batches of 512: {told.pop('library')}",
                       amount=told.pop("samples"), group="random samples, batches of 512",
                       unit="samples", not_equal="another order", **told)  # fmt: skip


def sequential(run: RunFolder, results: Path, given) -> None:
    split = Corpus(results).split("train")
    maps = [
        np.memmap(path, "<u2", "r") for path in sorted((results / "tokens/train").glob("*.bin"))
    ]
    samples = np.arange((split.tokens - 1) // given.length)

    def mapped() -> Iterator[np.ndarray]:
        return (np.array(one[a : a + BLOCK]) for one in maps for a in range(0, one.size, BLOCK))

    amount = split.tokens * 2
    for what, read in (
        ("np.memmap, blocks of 1 Mi tokens", mapped),
        ("Split.read, blocks of 1 Mi tokens", lambda: blocks(split.read, split.tokens)),
    ):
        measure(run, "sequential, tokens", what, read, amount, given, "MB")
    for what, read in (
        ("np.memmap, batches of 512", lambda: straight(results, samples, given.length, 512)),
        ("Batches(InOrder), of 512", lambda: Batches(InOrder(split, given.length), 512, epochs=1)),
    ):
        measure(run, "sequential, samples", what, read, amount, given, "MB")


def measure(run: RunFolder, group: str, what: str, read, amount: int, given, unit: str) -> None:
    output = digest_of(read())  # also warms the page cache
    for _ in range(given.runs):
        began = time.process_time()
        facts, _ = timed(lambda: consume(read()))
        facts |= {"wall_seconds": facts["seconds"], "seconds": time.process_time() - began}
        run.record("stream", f"{group}: {what}", group=group, amount=amount, unit=unit,
                   output=output, **facts)  # fmt: skip


def opening(run: RunFolder, results: Path, shards: int, runs: int) -> None:
    for _ in range(runs):
        began, started = time.process_time(), time.perf_counter()
        Corpus(results).split("train")
        run.record("stream", f"Corpus(...) of {shards:,} shards", group="opening", amount=shards,
                   unit="shards", seconds=time.process_time() - began,
                   wall_seconds=time.perf_counter() - started)  # fmt: skip


def memory(run: RunFolder, results: Path, given) -> None:
    size = sum(path.stat().st_size for path in (results / "tokens/train").glob("*.bin"))
    split = Corpus(results, mapped_bytes=size // 4).split("train")
    seen = []
    batches = Batches(Shuffled(split, given.length, SEED), 512, epochs=1)
    for step, _ in enumerate(batches):
        if step % 20 == 0:
            seen.append(memory_mb("VmRSS"))
    quarters = [max(part) for part in np.array_split(np.array(seen), 4)]
    told = ", ".join(f"{mb:,.0f}" for mb in quarters)
    run.note("stream", f"Memory over an epoch of {size / 1e6:,.0f} MB in random order, at most in "
             f"each quarter of it: {told} MB, maps of {size / 4e6:,.0f} MB allowed.")  # fmt: skip


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--shards", type=int, default=8)
    arguments.add_argument("--shard-tokens", type=float, default=2e7)
    arguments.add_argument("--length", type=int, default=2048)
    arguments.add_argument("--samples", type=float, default=1e5)
    arguments.add_argument("--many", type=int, default=10_000, help="shards that are opened")
    arguments.add_argument("--peer", type=Path, help="python with peers/exports.txt")
    given = arguments.parse_args()
    tokens = int(given.shard_tokens)
    one = given.cache / f"stream-{given.shards}-{tokens}/results"
    many = given.cache / f"stream-{given.many}/results"
    make(one, given.shards, tokens)
    make_many(many, one, given.many)
    run = RunFolder(given.run_folder)
    random_samples(run, one, given)
    if given.peer:
        peers(run, one, given)
    sequential(run, one, given)
    opening(run, many, given.many, given.runs)
    memory(run, one, given)
    run.close()


if __name__ == "__main__":
    main()
