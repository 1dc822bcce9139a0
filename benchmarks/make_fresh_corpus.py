"""Makes a corpus of any size from invented words, without repeated text.

    python benchmarks/make_fresh_corpus.py --bytes 4e9 --out DIR

Words are as frequent as in a language (Zipf), and every tenth is almost unique. So a tokenizer that
caches words has to work, and produces more tokens than for a language. Shard n depends only on
(bytes, seed, n), so any number of processes gives the same bytes.
"""

import argparse
import functools
import json
import math
import multiprocessing
import sys
from pathlib import Path

import numpy as np
import zstandard

sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout, as rules/common.smk does

from corpusmill.mill.storage.files import load_json, replacing, save_json
from corpusmill.mill.storage.sha256 import file_sha256

SHARD_BYTES = 64_000_000
WORDS = 300_000
MEAN_WORDS = 600  # mean of the log-normal lengths, as of web pages
FRESH_SHARE = 0.1
ENDS = [b" "] * 14 + [b", ", b". ", b".\\n"]  # in JSON escapes
SYLLABLES = [
    onset + vowel + coda
    for onset in ("", *"bdfghklmnprstv", "br", "st")
    for vowel in (*"aeiou", "ei", "ou")
    for coda in ("", "", *"nrst", "ld")
]  # fmt: skip


USUAL, LONG = (1, 2, 2, 3, 3, 4), (4, 5)
"""Syllables of common words, and of long words, which are almost unique."""


def invented(rng: np.random.Generator, count: int, syllables: tuple[int, ...]) -> list[bytes]:
    """Return words, each with the separator after it."""
    numbers = rng.integers(0, len(SYLLABLES), (count, max(syllables)))
    lengths = rng.choice(syllables, count)
    ends = rng.integers(0, len(ENDS), count)
    return [
        "".join([SYLLABLES[k] for k in row[:length]]).encode() + ENDS[end]
        for row, length, end in zip(numbers.tolist(), lengths.tolist(), ends.tolist(), strict=True)
    ]


def write_shard(out: Path, seed: int, wanted: int, number: int) -> dict:
    """Write about `wanted` bytes of text."""
    words = invented(np.random.default_rng([seed]), WORDS, USUAL)
    rng = np.random.default_rng([seed, 1 + number])
    frequency = 1 / np.arange(1, WORDS + 1)
    upto = np.cumsum(frequency / frequency.sum())
    documents = text_bytes = 0
    path = out / f"{number:05d}.jsonl.zst"
    with (
        replacing(path) as temporary,
        open(temporary, "wb") as raw,
        zstandard.ZstdCompressor(level=3).stream_writer(raw, closefd=False) as file,
    ):
        while text_bytes < wanted:
            length = 20 + int(rng.lognormal(math.log(MEAN_WORDS) - 0.5, 1))
            chosen = np.searchsorted(upto, rng.random(length)).tolist()
            text = [words[min(k, WORDS - 1)] for k in chosen]
            places = rng.integers(0, length, int(length * FRESH_SHARE))
            for place, word in zip(places.tolist(), invented(rng, len(places), LONG), strict=True):
                text[place] = word
            body = b"".join(text)
            file.write(b'{"text":"%s","meta":{"number":%d}}\n' % (body, documents))
            documents += 1
            text_bytes += len(body) - body.count(b"\\n")
    return {"documents": documents, "text_bytes": text_bytes, "sha256": file_sha256(path)}


def make_fresh_corpus(out: Path, bytes: int, seed: int = 0, processes: int | None = None) -> dict:
    """Make the corpus unless `out` contains it already. Return the content of out/corpus.json."""
    wanted = {"bytes": bytes, "seed": seed}
    if (out / "corpus.json").exists():
        facts = load_json(out / "corpus.json")
        if wanted.items() <= facts.items():
            return facts
        raise ValueError(f"{out} holds another corpus. Remove it or choose another --out.")
    out.mkdir(parents=True, exist_ok=True)
    count = math.ceil(bytes / SHARD_BYTES)
    write = functools.partial(write_shard, out, seed, math.ceil(bytes / count))
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        shards = pool.map(write, range(count), chunksize=1)
    sums = {name: sum(shard[name] for shard in shards) for name in ("documents", "text_bytes")}
    facts = wanted | sums | {"shards": [shard["sha256"] for shard in shards]}
    save_json(out / "corpus.json", facts)
    return facts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="a folder, made if need be")
    parser.add_argument("--bytes", type=float, default=4e9, help="of text (default 4e9)")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    facts = make_fresh_corpus(given.out, int(given.bytes), given.seed)
    print(json.dumps(facts | {"shards": len(facts["shards"])}))


if __name__ == "__main__":
    main()
