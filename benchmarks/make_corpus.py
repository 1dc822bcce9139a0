"""Makes a corpus of any size from local text: new documents, and duplicates of a known share.

    python benchmarks/make_corpus.py --bytes 5e9 --out DIR [--from DIR] [--duplicates 0.3]

A document is assembled from several documents of one input file, a few sentences or lines at a
time, with a unique word every thousand characters. A duplicate repeats an earlier document, every
second one with a stretch rewritten. Document n depends only on (input, seed, n), so any number of
processes gives the same bytes.
"""

import argparse
import hashlib
import json
import math
import multiprocessing
import os
import random
import re
import sys
import tempfile
from pathlib import Path

import msgspec
import zstandard

sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout, as rules/common.smk does

from corpusmill.mill.demo.corpus import make_demo
from corpusmill.mill.read.readers import formats, read_records
from corpusmill.mill.read.records import Record
from corpusmill.mill.storage.files import load_json, replacing, save_json
from corpusmill.mill.storage.sha256 import file_sha256
from corpusmill.run.job_progress import Phase

SHARD_BYTES = 64_000_000
MOST_ORIGINAL_BYTES = 200_000_000  # held in memory, in pieces; more changes little
LONGEST_CHARS = 100_000  # a book becomes documents of this length
CHARS_PER_FRESH_WORD = 1000
REWRITTEN = 0.06  # share of a near-duplicate's pieces, for a Jaccard similarity of about 0.9
LONGEST_PIECE_CHARS = 300
PIECE_END = re.compile(r"(?<=[.!?] )|(?<=[\n。！？])")


def pieces_of(text: str) -> list[str]:
    """Split a text into lines and sentences, and long ones into stretches."""
    return [
        piece[start : start + LONGEST_PIECE_CHARS]
        for piece in PIECE_END.split(text)
        for start in range(0, len(piece), LONGEST_PIECE_CHARS)
    ]


class Originals:
    """Documents of a folder in pieces, by their file."""

    def __init__(self, folder: Path) -> None:
        paths = sorted(p for p in folder.rglob("*") if p.name.endswith(tuple(formats())))
        if not paths:
            raise ValueError(f"{folder}: no file ends in {', '.join(formats())}. Correct --from.")
        self.files: list[list[list[str]]] = []  # file -> document -> pieces
        self.documents: list[tuple[int, int]] = []  # (file, characters) of every document
        bytes = 0
        for path in paths:
            found: list[list[str]] = []
            share, taken = MOST_ORIGINAL_BYTES // len(paths), 0
            for record in read_records(str(path), "text", Phase("", 0, "MB")):
                if taken >= share:
                    break
                if not isinstance(record, Record) or not record.text.strip():
                    continue
                for start in range(0, len(record.text), LONGEST_CHARS):
                    text = record.text[start : start + LONGEST_CHARS]
                    taken += len(text.encode())
                    found.append(pieces_of(text))
                    self.documents.append((len(self.files), len(text)))
            bytes += taken
            if found:
                self.files.append(found)
        self.mean_bytes = bytes / len(self.documents)
        words = {
            w for file in self.files for pieces in file for p in pieces[::50] for w in p.split()
        }
        self.words = sorted(w for w in words if w.isalpha())

    def fresh_word(self, rng: random.Random) -> str:
        first = int(rng.random() * len(self.words))
        second = first + int(rng.random() * 2000)  # close by: mostly of the same script
        one, other = self.words[first], self.words[second % len(self.words)]
        return f"{one[: 1 + len(one) // 2]}{other[len(other) // 2 :]} "


class Corpus:
    """The documents of a corpus; see the top of this file."""

    def __init__(self, originals: Originals, duplicates: float, seed: int) -> None:
        self.originals, self.duplicates, self.seed = originals, duplicates, seed

    def chance(self, number: int, purpose: str) -> random.Random:
        # Only random() is used: Python guarantees its values for a seed, but not those of choice().
        key = hashlib.sha256(f"{self.seed}/{purpose}/{number}".encode()).digest()
        return random.Random(int.from_bytes(key[:8], "little"))

    def earlier(self, number: int) -> tuple[int, str]:
        """Return (number of the document that this one repeats, how); (number, "fresh") if none."""
        rng = self.chance(number, "duplicate")
        if number == 0 or rng.random() >= self.duplicates:
            return number, "fresh"
        how = "exact" if rng.random() < 0.5 else "near"
        return int(rng.random() * number), how

    def new_pieces(self, number: int) -> list[str]:
        """Return pieces of several originals of one file, up to the length of one of them."""
        rng = self.chance(number, "text")
        documents = self.originals.documents
        file, chars = documents[int(rng.random() * len(documents))]
        sources = self.originals.files[file]
        some = [sources[int(rng.random() * len(sources))] for _ in range(5)]
        pieces: list[str] = []
        size, next_fresh = 0, int(rng.random() * CHARS_PER_FRESH_WORD)
        while size < chars:
            of = some[int(rng.random() * len(some))]
            start = int(rng.random() * len(of))
            run = of[start : start + 1 + int(rng.random() * 3)]
            pieces += run
            size += sum(map(len, run))
            if size >= next_fresh:
                pieces.append(self.originals.fresh_word(rng))
                next_fresh = size + CHARS_PER_FRESH_WORD
        return pieces

    def text(self, number: int) -> str:
        return "".join(self.pieces(number))

    def pieces(self, number: int) -> list[str]:
        before, how = self.earlier(number)
        if how == "fresh":
            return self.new_pieces(number)
        pieces = self.pieces(before)
        if how == "near":
            rng = self.chance(number, "rewrite")
            count = max(1, round(len(pieces) * REWRITTEN))
            start = int(rng.random() * (len(pieces) - count + 1))
            pieces[start : start + count] = [self.originals.fresh_word(rng) for _ in range(count)]
        return pieces

    def write_shard(self, path: Path, first: int, stop: int) -> dict:
        facts = {"documents": 0, "text_bytes": 0, "exact": 0, "near": 0}
        zstd = zstandard.ZstdCompressor(level=3)
        with (
            replacing(path) as temporary,
            open(temporary, "wb") as raw,
            zstd.stream_writer(raw, closefd=False) as file,
        ):
            for number in range(first, stop):
                before, how = self.earlier(number)
                text = self.text(number)
                record = {"text": text, "meta": {"number": number, "repeats": before}}
                file.write(msgspec.json.encode(record) + b"\n")
                facts["documents"] += 1
                facts["text_bytes"] += len(text.encode())
                if how != "fresh":
                    facts[how] += 1
        return facts | {"sha256": file_sha256(path)}


_corpus: Corpus  # of the worker processes, which inherit it


def _write_shard(job: tuple[Path, int, int]) -> dict:
    return _corpus.write_shard(*job)


def make_corpus(
    out: Path,
    bytes: int,
    source: Path | None = None,
    duplicates: float = 0.3,
    seed: int = 0,
    shard_bytes: int = SHARD_BYTES,
    processes: int | None = None,
) -> dict:
    """Make the corpus unless `out` contains it already. Return the content of out/corpus.json."""
    global _corpus
    wanted = {"bytes": bytes, "duplicates": duplicates, "seed": seed, "shard_bytes": shard_bytes,
              "from": source.name if source else "demo"}  # fmt: skip
    if (out / "corpus.json").exists():
        facts = load_json(out / "corpus.json")
        if wanted.items() <= facts.items():
            return facts
        raise ValueError(f"{out} holds another corpus. Remove it or choose another --out.")
    with tempfile.TemporaryDirectory() as folder:
        if source is None:
            make_demo(Path(folder))
        originals = Originals(source or Path(folder))
    _corpus = Corpus(originals, duplicates, seed)
    total = max(1, round(bytes / originals.mean_bytes))
    per_shard = math.ceil(total / math.ceil(bytes / shard_bytes))
    out.mkdir(parents=True, exist_ok=True)
    jobs = [
        (out / f"{first // per_shard:05d}.jsonl.zst", first, min(first + per_shard, total))
        for first in range(0, total, per_shard)
    ]
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        shards = pool.map(_write_shard, jobs, chunksize=1)
    sums = {name: sum(shard[name] for shard in shards)
            for name in ("documents", "text_bytes", "exact", "near")}  # fmt: skip
    digest = hashlib.sha256("".join(shard["sha256"] for shard in shards).encode()).hexdigest()
    facts = wanted | sums | {"shards": len(shards), "sha256": digest}
    save_json(out / "corpus.json", facts)
    return facts


def default_source() -> Path | None:
    """Return the folder of real text; None for the demo corpus."""
    data = os.environ.get("CORPUSMILL_DATA")
    return Path(data) / "corpus" if data and (Path(data) / "corpus").is_dir() else None


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--bytes", type=float, required=True, help="of text, about")
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--from", dest="source", type=Path, default=default_source())
    arguments.add_argument("--duplicates", type=float, default=0.3, help="their share")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--shard-bytes", type=float, default=SHARD_BYTES)
    arguments.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    given = vars(arguments.parse_args())
    given["bytes"], given["shard_bytes"] = int(given["bytes"]), int(given["shard_bytes"])
    print(json.dumps(make_corpus(**given)))
