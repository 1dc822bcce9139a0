"""Runs every benchmark, one after the other, into one run folder.

    python benchmarks/all.py [--bytes 2e9] [--peer-bytes 1e8] [--tokenizer DIR] [--runs 3]
                             [--growth]

The corpora and the peers' environments stay in the cache folder for the next time.
"""

import math
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout, as rules/common.smk does

from benchmarks.make_corpus import default_source, make_corpus
from benchmarks.measuring import ROOT, parser
from benchmarks.run_folder import RunFolder
from corpusmill.mill.demo.corpus import make_demo
from corpusmill.mill.demo.files import FILES
from corpusmill.mill.read.readers import read_records
from corpusmill.mill.read.records import Record
from corpusmill.mill.tokens.tokenizer_folder import train_tokenizer
from corpusmill.run.job_progress import Phase

PEER_SHARDS = 8  # datatrove works on one task per shard
TRAINED_VOCABULARY = 16384


def tokenizer_folder(corpus: Path, cache: Path) -> Path:
    """Return a real tokenizer if there is one, else train one on the corpus."""
    data = os.environ.get("CORPUSMILL_DATA")
    if data and (Path(data) / "tokenizers/qwen3").is_dir():
        return Path(data) / "tokenizers/qwen3"
    folder = cache / f"tokenizer-{corpus.name}"
    if not (folder / "tokenizer.json").exists():
        records = read_records(str(min(corpus.glob("*.jsonl.zst"))), "text", Phase("", 0, "MB"))
        texts = (record.text for record in records if isinstance(record, Record))
        train_tokenizer(folder, texts, TRAINED_VOCABULARY)
    return folder


def real_texts() -> list[Path]:
    """Return the folders of text that does not repeat, if there are some."""
    data = Path(os.environ.get("CORPUSMILL_DATA", "nowhere"))
    return [data / name for name in ("corpus", "corpus_large") if (data / name).is_dir()]


def benchmark(name: str, *arguments: object) -> None:
    command = [sys.executable, ROOT / f"benchmarks/{name}.py", *arguments]
    subprocess.run([str(word) for word in command], check=True)


def measure_all(given) -> None:
    # Name the folder once: a run may go on past midnight.
    run_folder = RunFolder(given.run_folder).path
    size, peer_size = int(given.bytes), int(given.peer_bytes)
    corpus = given.cache / f"corpus-{size // 1_000_000}MB"
    peer_corpus = given.cache / f"peers-{peer_size // 1_000_000}MB"
    make_corpus(corpus, size, default_source())
    make_corpus(
        peer_corpus, peer_size, default_source(), shard_bytes=math.ceil(peer_size / PEER_SHARDS)
    )
    tokenizer = given.tokenizer or tokenizer_folder(corpus, given.cache)
    common = ["--run-folder", run_folder, "--cache", given.cache, "--runs", given.runs]
    with_corpus = [*common, "--corpus", corpus, "--tokenizer", tokenizer]
    benchmark("kernels", *with_corpus)
    benchmark("workflow", *with_corpus, "--cores", given.cores)
    benchmark("dag", *common, "--parts", given.parts, "--shards", given.shards)
    benchmark("peers", *common, "--corpus", peer_corpus, "--tokenizer", tokenizer,
              "--cores", given.cores)  # fmt: skip
    if data := real_texts():
        benchmark("yardstick", *common, "--data", *data, "--tokenizer", tokenizer,
                  "--cores", given.cores)  # fmt: skip
    benchmark("stream", *common)
    demo = given.cache / "demo"
    make_demo(demo)
    benchmark("dedup_quality", *common, "--cores", given.cores, "--name", "demo corpus",
              "--documents", *(demo / name for name in FILES))  # fmt: skip
    if given.growth:
        benchmark("growth", *common, "--runs", 1, "--cores", given.cores)


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--bytes", type=float, default=2e9, help="of text, for the workflow")
    arguments.add_argument("--peer-bytes", type=float, default=1e8, help="for the whole chains")
    arguments.add_argument("--tokenizer", type=Path, help="a folder with tokenizer.json")
    arguments.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    arguments.add_argument("--parts", type=int, default=5000, help="of the dry run")
    arguments.add_argument("--shards", type=int, default=2000, help="of the dry run")
    arguments.add_argument(
        "--growth", action="store_true", help="also growth.py: 20 minutes and 18 GB of disk more"
    )
    measure_all(arguments.parse_args())
