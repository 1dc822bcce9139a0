"""The common part of the scripts in this folder: texts, measuring and reporting."""

import argparse
import hashlib
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import zstandard

sys.path.insert(0, str(Path(__file__).parents[2]))  # the checkout; these run in any environment

from benchmarks.measuring import on_cores, timed


class Work(NamedTuple):
    """A prepared piece of work."""

    run: Callable[[], object]
    amount: float
    tell: Callable[[object], dict]
    """Numbers and a digest of the result, as `output` and `counts`. Not timed."""


def texts_of(corpus: Path, limit: int) -> list[str]:
    """Return the first texts of the corpus, up to `limit` bytes."""
    texts, held = [], 0
    for path in sorted(corpus.glob("*.jsonl.zst")):
        with open(path, "rb") as raw:
            reader = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
            for line in io.BufferedReader(reader):
                if held >= limit:
                    return texts
                texts.append(json.loads(line)["text"])
                held += len(texts[-1].encode())
    return texts


def size_of(texts: list[str]) -> int:
    return sum(len(text.encode()) for text in texts)


def digest_of(data) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def main(contestants: dict[str, Callable]) -> None:
    """Measure one contestant on one core, after a run on a little; print the result as JSON."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("name", choices=contestants)
    arguments.add_argument("--corpus", type=Path)
    arguments.add_argument("--bytes", type=float, default=1e6)
    arguments.add_argument("--tokenizer", type=Path)
    arguments.add_argument("--documents", type=int)
    arguments.add_argument("--model", type=Path)
    arguments.add_argument("--probabilities", type=Path)
    given = arguments.parse_args()
    on_cores(1)
    little = argparse.Namespace(**vars(given))
    little.bytes, little.documents = 50_000, 1000
    contestants[given.name](little).run()
    work = contestants[given.name](given)
    figures, result = timed(work.run)
    print(json.dumps(figures | {"amount": work.amount} | work.tell(result)))
