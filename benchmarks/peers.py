"""Compares corpusmill with its peers: the same texts in the same run, in turn.

    python benchmarks/peers.py --corpus DIR --tokenizer DIR [--runs 3] [--only sketching]

Each peer has its own environment, made from peers/*.txt at the first use. In single stages a
contestant is one process on one core. Slow ones get only the first texts of the corpus; rates are
per byte processed. The whole chain processes the whole folder, and a corpus of 1 MB, which shows
the start-up time.
"""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout, as rules/common.smk does

from benchmarks.make_corpus import make_corpus
from benchmarks.measuring import ROOT, child, parser, shown
from benchmarks.run_folder import RunFolder
from benchmarks.watching import EVERY_SECONDS, MEMORY, watched
from benchmarks.workflow import config_of, counts_of, mill, outputs_digest, warm_up
from corpusmill.mill.storage.files import load_json

SCRIPTS = ROOT / "benchmarks/peers"
SLOW_BYTES, SLOWEST_BYTES = 8e6, 2e6  # equal within a group, so that counts can be compared
TINY_BYTES = 1_000_000
SHARD_BYTES = 1e8  # for comparison with a sample in which most words are new
PAIRING_DOCUMENTS = 1_000_000


class Contestant(NamedTuple):
    """A line of a table. The first of a group is corpusmill."""

    script: str
    name: str
    environment: str
    bytes: float
    group: str
    says: str
    not_equal: str = ""


HASHES = "other hash functions of the same shingles"
CONTESTANTS = [
    Contestant("sketching", "corpusmill_affine32", "", SLOW_BYTES, "affine32",
               "corpusmill, affine32"),
    Contestant("sketching", "rensa", "libraries", SLOW_BYTES, "affine32",
               "rensa, shingles made in Python", HASHES),
    Contestant("sketching", "rensa_given_shingles", "libraries", SLOW_BYTES, "affine32",
               "rensa, shingles given", f"{HASHES}; text to shingles is not timed"),
    Contestant("sketching", "datasketch_affine32", "libraries", SLOW_BYTES, "affine32",
               "datasketch 2, affine32, `update_batch`", f"{HASHES}: SHA-1, not rolling"),
    Contestant("sketching", "corpusmill_legacy", "", SLOWEST_BYTES, "legacy",
               "corpusmill, legacy"),
    Contestant("sketching", "datasketch_update", "libraries", SLOWEST_BYTES, "legacy",
               "datasketch, legacy, `update` per shingle, as SlimPajama"),
    Contestant("sketching", "datasketch_update_batch", "libraries", SLOWEST_BYTES, "legacy",
               "datasketch, legacy, `update_batch`"),
    *(
        Contestant("tokenizing", name, environment, size, f"tokens, {size:.0g}", says)
        for size in (SLOW_BYTES, SHARD_BYTES)
        for name, environment, says in (
            ("corpusmill", "", "corpusmill (gigatoken)"),
            ("tokenizers", "libraries", "tokenizers, `encode_batch`"),
            ("tiktoken", "libraries", "tiktoken, the same vocabulary"),
        )
    ),
    Contestant("pairing", "corpusmill", "", 0, "pairs", "corpusmill, band and pair"),
    Contestant("pairing", "duckdb", "libraries", 0, "pairs", "DuckDB, one query"),
    Contestant("pairing", "polars", "libraries", 0, "pairs", "polars, one query"),
]  # fmt: skip

OTHER_CHAIN = (
    "word 5-grams, 14 bands of 8, no NFC, length filter, splits, decontamination, ledger or checks"
)


def python_of(environment: str, cache: Path) -> str:
    """Return the interpreter of a peer's environment, which is made unless it matches its list."""
    if not environment:
        return sys.executable
    wanted = SCRIPTS / f"{environment}.txt"
    digest = hashlib.sha256(wanted.read_bytes()).hexdigest()[:8]
    folder = cache.resolve() / "environments" / f"{environment}-{digest}"
    if not (folder / "complete").exists():
        print(f"installing {wanted.name}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        install = [folder / "bin/python", "-m", "pip", "install", "--quiet",
                   "--disable-pip-version-check", "-r", wanted]  # fmt: skip
        subprocess.run(install, check=True)
        (folder / "complete").touch()
    return str(folder / "bin/python")


def single_stage(script: str, given, run_folder: RunFolder) -> None:
    """Run the contestants of one script in turn, `runs` times."""
    for run in range(given.runs):
        for one in (one for one in CONTESTANTS if one.script == script):
            command = [python_of(one.environment, given.cache), SCRIPTS / f"{script}.py", one.name,
                       "--corpus", given.corpus, "--bytes", one.bytes,
                       "--tokenizer", given.tokenizer,
                       "--documents", given.documents]  # fmt: skip
            found = child(command, TOKENIZERS_PARALLELISM="false", POLARS_MAX_THREADS="1")
            megabytes = f", {found['amount'] / 1e6:.1f} MB" if one.bytes else ""
            unit = "MB" if one.bytes else "band keys"
            differs = {"not_equal": one.not_equal} if one.not_equal else {}
            run_folder.record(
                f"peers: {script}", f"{one.says}{megabytes}", group=one.group, run=run, unit=unit,
                command=shown(["python", *command[1:]]), **found, **differs,
            )  # fmt: skip


def offline(command: list, folder: Path, every_seconds: float = EVERY_SECONDS) -> dict:
    """Run a peer's chain in an empty folder. Return seconds, memory, and the last line of its
    output. every_seconds: as in `watched`."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run = watched(
        command, folder, every_seconds, HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false"
    )
    said = json.loads(run.printed.splitlines()[-1])
    return {
        "seconds": run.seconds,
        "peak_memory_mb": run.peak_memory_mb,
        "counts": {name: said[name] for name in ("kept", "tokens") if name in said},
        "stages": said.get("stages"),
    }


def chain(corpus: Path, given, run_folder: RunFolder) -> None:
    """Run the whole chain of corpusmill, of datatrove, and of a tool that does a part in one
    pass."""
    corpus, tokenizer = corpus.resolve(), given.tokenizer.resolve()
    folder = given.cache.resolve() / "chain"
    facts = load_json(corpus / "corpus.json")
    # One part and shard per core, with a margin of a quarter: parts are planned from estimated file
    # sizes.
    share = max(65536, 5 * facts["text_bytes"] // (4 * given.cores))
    config = config_of(
        corpus, str(tokenizer), input={"part_bytes": share}, output={"shard_bytes": share}
    )
    workers = ["--corpus", corpus, "--workers", given.cores]
    datatrove = [python_of("datatrove", given.cache), SCRIPTS / "datatrove_chain.py", *workers,
                 "--tokenizer", tokenizer, "--out", folder / "out"]  # fmt: skip
    one_pass = [python_of("libraries", given.cache), SCRIPTS / "exact.py", *workers,
                "--out", folder / "out.parquet"]  # fmt: skip
    peers = [
        (f"datatrove 0.10.1, {given.cores} workers", datatrove, OTHER_CHAIN),
        (f"DuckDB, exact duplicates only, {given.cores} threads", one_pass,
         "one query; no near duplicates, shuffle, tokens"),
    ]  # fmt: skip
    size = facts["text_bytes"]
    table = f"peers: whole chain, {size / 1e6:.1f} MB in {facts['shards']} shards"
    common = {"group": "chain", "amount": size, "unit": "MB"}
    for run in range(given.runs):
        own = mill(folder, config, given.cores)
        run_folder.record(
            table, f"corpusmill, `snakemake --cores {given.cores}`", run=run, seconds=own.seconds,
            peak_memory_mb=own.peak_memory_mb, output=outputs_digest(folder),
            counts=counts_of(folder), **common,
        )  # fmt: skip
        for says, command, not_equal in peers:
            found = offline(command, folder)
            found["counts"] = {"documents in": facts["documents"]} | found["counts"]
            run_folder.record(
                table, says, run=run, not_equal=not_equal,
                command=shown(["python", *command[1:]]), **found, **common,
            )  # fmt: skip
    run_folder.note(table, MEMORY)
    shutil.rmtree(folder)


def measure(given) -> None:
    run_folder = RunFolder(given.run_folder)
    for script in ("sketching", "tokenizing", "pairing"):
        if script in given.only:
            single_stage(script, given, run_folder)
            run_folder.note(f"peers: {script}", "One process on one core each, in turn.")
    if "chain" in given.only:
        warm_up(given.cores)
        tiny = given.cache / "tiny"
        make_corpus(tiny, TINY_BYTES, shard_bytes=TINY_BYTES // 2)
        for corpus in (given.corpus, tiny):
            chain(corpus, given, run_folder)
    run_folder.close()


PARTS = ["sketching", "tokenizing", "pairing", "chain"]

if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--corpus", type=Path, required=True, help="made by make_corpus.py")
    arguments.add_argument("--tokenizer", type=Path, required=True, help="with tokenizer.json")
    arguments.add_argument("--cores", type=int, default=2, help="of the whole chains")
    arguments.add_argument("--documents", type=int, default=PAIRING_DOCUMENTS, help="to pair")
    arguments.add_argument("--only", action="append", choices=PARTS)
    given = arguments.parse_args()
    given.only = given.only or PARTS
    measure(given)
