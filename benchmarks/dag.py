"""Dry run of an artificial plan of thousands of parts: the time until Snakemake knows all jobs.

    python benchmarks/dag.py --parts 5000 --shards 2000

Each input file is a record and a hole. part_bytes and shard_bytes are chosen to give exactly as
many parts and shards.
"""

import re
import shutil
import sys
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout, as rules/common.smk does

from benchmarks.measuring import parser
from benchmarks.run_folder import RunFolder
from benchmarks.watching import watched
from benchmarks.workflow import snakemake
from corpusmill.run.config import Splits
from corpusmill.run.plan import InputFile, Part, shard_counts, split_bytes

LEAST_BYTES = 65536  # least part_bytes and shard_bytes that the schema allows
SPLITS = {"splits": {"validation": 0.005, "test": 0.005}}


def sizes(parts: int, shards: int) -> tuple[int, int]:
    """Return (part_bytes, shard_bytes) that give exactly these numbers of parts and shards."""
    part_bytes = LEAST_BYTES * (1 + 2 * shards // parts)
    whole = [Part(0, [InputFile("empty", "", parts * part_bytes)])]

    def found(shard_bytes: int) -> int:
        counts = shard_counts(
            split_bytes(whole, {"empty": 1}, Splits(**SPLITS["splits"]).fractions), shard_bytes
        )
        return sum(counts.values())

    low, high = 1, parts * part_bytes  # found() falls from many to one per split
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if found(middle) > shards else (low, middle)
    if found(low) != shards or low < LEAST_BYTES:
        raise ValueError(f"{shards} shards of {parts} parts cannot be had; try {found(low)}.")
    return part_bytes, low


def make_plan(folder: Path, parts: int, shards: int) -> None:
    part_bytes, shard_bytes = sizes(parts, shards)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "empty").mkdir(parents=True)
    for part in range(parts):
        with open(folder / f"empty/{part:05d}.jsonl", "wb") as file:
            file.write(b'{"text": ""}\n')  # a run refuses files without a record
            file.truncate(part_bytes)
    config = {
        "sources": [{"name": "empty", "files": ["empty/*.jsonl"]}],
        "input": {"part_bytes": part_bytes},
        "output": {"shard_bytes": shard_bytes},
        **SPLITS,
    }
    (folder / "benchmark.yaml").write_text(yaml.safe_dump(config))


def jobs_listed(printed: str) -> dict[str, int]:
    """Return rule -> jobs, from the table of a dry run."""
    rows = re.findall(r"^(\w+) +(\d+)$", printed, re.MULTILINE)
    return {rule: int(count) for rule, count in rows}


def measure(given) -> None:
    run_folder = RunFolder(given.run_folder)
    folder = given.cache / "dag"
    make_plan(folder, given.parts, given.shards)
    for number in range(given.runs):
        run = watched(snakemake("-n", "--quiet", "rules"), folder)
        jobs = jobs_listed(run.printed)
        if (jobs["sign"], jobs["gather"]) != (given.parts, given.shards):
            raise RuntimeError(f"planned {jobs['sign']} parts, {jobs['gather']} shards")
        run_folder.record(
            "dag", f"`snakemake -n`, {given.parts:,} parts, {given.shards:,} shards",
            group=f"{given.parts} {given.shards}", run=number, amount=jobs["total"], unit="jobs",
            seconds=run.seconds, peak_memory_mb=run.first_peak_memory_mb, output=jobs,
            counts={"jobs": jobs["total"]},
        )  # fmt: skip
    run_folder.close()
    shutil.rmtree(folder)


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--parts", type=int, default=5000)
    arguments.add_argument("--shards", type=int, default=2000)
    measure(arguments.parse_args())
