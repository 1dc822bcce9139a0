"""Speed of `corpusmill why` on generated results of many documents, for each kind of query.

    python benchmarks/why.py --documents 1000000

There are no texts: only look-ups are measured, including the start of Python. Results are written
by the functions that a run uses, so they have the same layout.
"""

import hashlib
import json
import resource
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout, as rules/common.smk does

from benchmarks.measuring import ROOT, parser
from benchmarks.run_folder import RunFolder
from benchmarks.watching import watched
from corpusmill.mill.account.ledger_columns import ledger_schema, save_ledger
from corpusmill.mill.decide.fates import DUPLICATE, KEPT, SPLITS
from corpusmill.mill.decide.splits_and_copies import order_keys, shards_of, splits_of
from corpusmill.mill.dedup.minhash import MinHasher
from corpusmill.mill.read.ids import ids_of_part
from corpusmill.mill.read.text_column import TextColumn, string_array
from corpusmill.mill.storage.arrays import save_array
from corpusmill.mill.storage.files import save_json
from corpusmill.mill.storage.tables import save_parquet

PART_DOCUMENTS = 100_000
"""Documents of about 2.7 kB in a part of 256 MiB."""

FILES_OF_PART = 8
SHARDS = {"train": 12, "validation": 1, "test": 1}
ASKED = "a text that no document has, with a sketch of which half of the values are found"
FRACTIONS = {"validation": 0.005, "test": 0.005}


class Part(NamedTuple):
    """Decisions on the documents of a part, by row."""

    ids: np.ndarray
    dropped: np.ndarray  # bool
    split: np.ndarray  # uint8


def decided(part: int, documents: int, seed: int) -> Part:
    """Make decisions: one document in eight is a duplicate of the previous one."""
    ids = ids_of_part(part, documents)
    return Part(ids, np.arange(documents) % 8 == 7, splits_of(ids, FRACTIONS, seed))


def digests_of(part: Part) -> np.ndarray:
    """Return uint64: digests of the ids in decimal digits, which serve as texts."""
    heads = [hashlib.sha256(str(id).encode()).digest()[:8] for id in part.ids.tolist()]
    return np.frombuffer(b"".join(heads), ">u8").astype(np.uint64)


def ledger_rows(number: int, part: Part) -> pa.Table:
    documents, kept = part.ids.size, ~part.dropped
    per_file = -(-documents // FILES_OF_PART)
    file = np.arange(documents) // per_file
    paths = pa.array([path_of(number, one) for one in range(FILES_OF_PART)])
    columns = {
        "id": pa.array(part.ids),
        "source": pa.array(["web"] * documents),
        "file": paths.take(pa.array(file)),
        "line": pa.array((np.arange(documents) % per_file + 1).astype(np.uint64)),
        "fate": pa.array(np.where(part.dropped, DUPLICATE, KEPT)),
        "chars": pa.nulls(documents, pa.uint32()),
        "winner": pa.array(part.ids - np.uint64(1), mask=kept),
        "similarity": pa.array(np.full(documents, 0.9, np.float32), mask=kept),
        "stage": pa.array(["shingles"] * documents, mask=kept),
        "split": pa.array(np.array(SPLITS)[part.split], mask=part.dropped),
        "copies": pa.array(np.ones(documents, np.uint16), mask=part.dropped),
        "text_bytes": pa.array(2000 + part.ids % np.uint64(1000)),
        "digest": pa.array(digests_of(part)),
    }
    schema = ledger_schema([("chars", pa.uint32())])
    missing = {name: pa.nulls(documents, schema.field(name).type) for name in schema.names}
    return pa.table(missing | columns, schema=schema)


def sketch_of(text: str, hasher: dict) -> np.ndarray:
    return MinHasher(**hasher).sign(TextColumn.of(string_array([text.encode()])))[0]


def path_of(part: int, file: int) -> str:
    return f"data/web/{part * FILES_OF_PART + file:05d}.jsonl.zst"


def save_placements(results: Path, parts: list[Part], seed: int) -> None:
    """Save placements of all kept documents, in shuffled order, with generated token positions."""
    ids = np.concatenate([part.ids[~part.dropped] for part in parts])
    split = np.concatenate([part.split[~part.dropped] for part in parts])
    none = np.zeros(ids.size, np.uint16)
    keys = order_keys(ids, none, none + 1, seed)
    for number, name in enumerate(SPLITS):
        shard = np.where(split == number, shards_of(keys, SHARDS[name]), -1)
        for one in range(SHARDS[name]):
            rows = np.flatnonzero(shard == one)
            rows = rows[np.argsort(keys[rows])]
            ends = np.cumsum(400 + ids[rows] % np.uint64(300))
            starts = np.append(np.uint64(0), ends)
            table = pa.table(
                {
                    "id": ids[rows],
                    "copy": none[rows],
                    "source": ["web"] * rows.size,
                    "split": [name] * rows.size,
                    "shard": np.full(rows.size, one, np.uint32),
                    "row": np.arange(rows.size, dtype=np.uint32),
                    "token_start": starts[:-1],
                    "token_end": starts[1:],
                }
            )
            save_parquet(results / f"placements/{name}/{one:05d}.parquet", table)


def make_results(results: Path, documents: int) -> None:
    shutil.rmtree(results, ignore_errors=True)
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    config["sources"] = [{"name": "web", "files": ["data/web/*.jsonl.zst"]}]
    seed, count = config["shuffle"]["seed"], -(-documents // PART_DOCUMENTS)
    sizes = [min(PART_DOCUMENTS, documents - k * PART_DOCUMENTS) for k in range(count)]
    parts = [decided(number, size, seed) for number, size in enumerate(sizes)]
    lines = [{"corpusmill.plan": 1, "part_bytes": 1 << 28}]
    sketches = np.random.default_rng(0)
    for number, part in enumerate(parts):
        save_ledger(results / f"ledger/{number:05d}.parquet", ledger_rows(number, part))
        account = {KEPT: int((~part.dropped).sum()), DUPLICATE: int(part.dropped.sum())}
        save_json(results / f"ledger/{number:05d}.json", {"web": account})
        shape = (part.ids.size, config["minhash"]["permutations"])
        table = sketches.integers(0, 1 << 32, shape, np.uint32)
        table[part.ids.size // 2, ::2] = sketch_of(ASKED, config["minhash"])[::2]
        save_array(results / f"signatures/{number:05d}.npy", table)
        files = [
            {"source": "web", "path": path_of(number, one), "bytes": 1, "mtime_ns": 1}
            for one in range(FILES_OF_PART)
        ]
        lines.append({"part": number, "generation": 1, "files": files})
    save_placements(results, parts, seed)
    (results / "plan").mkdir()
    (results / "plan/parts.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    save_json(results / "summary.json", {"configuration": config})


def questions(documents: int) -> dict[str, list[str]]:
    """Return every kind of query, for a document in the middle."""
    number, row = divmod(documents // 2 - 1, PART_DOCUMENTS)
    id, near = number << 32 | row - row % 8, number << 32 | row - row % 8 + 7
    return {
        "`--version`, for comparison": ["--version"],
        "kept, by id": ["why", str(id)],
        "duplicate, by id": ["why", str(near)],
        "by file:line": ["why", f"{path_of(number, 3)}:100"],
        "by line of a shard": ["why", "corpus/train/00003.jsonl.zst:1000"],
        "by text, exact": ["why", "--text", str(id)],
        "by text, by sketches": ["why", "--text", ASKED],
        "sample of 20 duplicates": ["why", "--fate", DUPLICATE, "--sample", "20"],
    }


def measure(given) -> None:
    run_folder, folder = RunFolder(given.run_folder), given.cache / "why"
    make_results(folder / "results", given.documents)
    command = [sys.executable, "-m", "corpusmill"]
    for what, asked in questions(given.documents).items():
        for number in range(-1, given.runs):  # the first run, which compiles, is not counted
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            run = watched([*command, *asked], folder, PYTHONPATH=str(ROOT))
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            if number >= 0:
                run_folder.record(
                    "why", what, group=str(given.documents), run=number, amount=given.documents,
                    unit="documents", seconds=run.seconds, cpu_seconds=cpu,
                    peak_memory_mb=run.first_peak_memory_mb, output=len(run.printed) > 0,
                    counts={"documents": given.documents},
                )  # fmt: skip
    run_folder.close()
    shutil.rmtree(folder)


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--documents", type=int, default=1_000_000)
    measure(arguments.parse_args())
