"""How pairing and grouping grow with the documents: tens of millions of them, without texts.

    python benchmarks/growth.py [--sizes 10e6 20e6 50e6] [--sharers 10000] [--cores 2]

Sketches, digests, verdicts, measures and band files are made up, by keyed hashes of the documents'
numbers, so the same command makes the same bytes. Of every 20 documents

    4  are in groups of 2 to 20 near-duplicates, whose sketches agree in 90 % of the values
    1  is an exact copy of another document, somewhere
    15 are like none; every hundredth document shares a band with 10,000 others (or as many as
       --sharers says) and no more

Then the scripts of the rules `pair`, every bucket in a process of its own, and `group` run on
these files as they are, and what `extract` does to find the edges of its parts. `resolve` needs
texts and is left out. The sketches are 48 values in 8 bands of 6, and not 128 in 21, for the sake
of the disk: 3.6 GB for ten million documents.
"""

import math
import multiprocessing
import os
import shutil
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout, as rules/common.smk does

from benchmarks.measuring import memory_mb, parser
from benchmarks.run_folder import RunFolder
from corpusmill.mill.decide.fate_columns import FateColumn
from corpusmill.mill.dedup.edges import Similarity, edges_from
from corpusmill.mill.dedup.lsh import Banding, sorted_bands, sorted_digests
from corpusmill.mill.dedup.order import Preference
from corpusmill.mill.read.ids import ROW_BITS, keyed_hash, mixed
from corpusmill.mill.storage.arrays import save_array
from corpusmill.mill.storage.buckets import Buckets, bucket_count
from corpusmill.mill.storage.files import load_json, save_json
from corpusmill.mill.storage.tables import save_table
from scripts.group import group
from scripts.pair import pair

BANDS, ROWS = 8, 6
PERMUTATIONS = BANDS * ROWS
THRESHOLD = 0.8
PART_DOCUMENTS = 500_000  # as many as 256 MiB hold of texts of 500 bytes
BLOCK_PARTS = 16  # of one extract job
BUCKET_ENTRIES = 1 << 24  # as corpusmill/run/layout.py says, for parts of 256 MiB
SEED = 0

EVERY, GROUPED, COPY = 20, 4, 19  # of every 20: the first 4 are in groups, the last is a copy
HOT_EVERY, HOT_PLACE = 100, 4
GROUP_SIZES = np.arange(2, 21)
CYCLE = int(GROUP_SIZES.sum())  # documents in groups of all sizes, once each
GROUP_IN_CYCLE = np.repeat(np.arange(GROUP_SIZES.size), GROUP_SIZES)
CYCLE_PAIRS = int((GROUP_SIZES * (GROUP_SIZES - 1) // 2).sum())
OWN_VALUES = 0.05  # of a sketch in a group; two of them agree in 0.95 ** 2 of the values
INCREMENT = 0x9E3779B97F4A7C15


def texts_of(numbers: np.ndarray, documents: int) -> np.ndarray:
    """The number of the document whose text each has: its own, or, of a copy, another's."""
    copies = numbers % EVERY == COPY
    originals = documents - documents // EVERY
    chosen = keyed_hash(numbers[copies], SEED, "copied from") % np.uint64(originals)
    texts = numbers.copy()
    texts[copies] = chosen // np.uint64(COPY) * np.uint64(EVERY) + chosen % np.uint64(COPY)
    return texts


def grouped_documents(documents: int) -> int:
    return documents // EVERY * GROUPED + min(documents % EVERY, GROUPED)


def templates_of(texts: np.ndarray, documents: int) -> tuple[np.ndarray, np.ndarray]:
    """(template, grouped): what a text was made of, its own number or the number of its group,
    and bool, whether it is in a group. Members of a group are far apart."""
    grouped = texts % EVERY < GROUPED
    count = grouped_documents(documents)
    step = next(s for s in range(int(count * 0.618) + 1, 2 * count + 2) if math.gcd(s, count) == 1)
    place = texts[grouped] // EVERY * GROUPED + texts[grouped] % EVERY
    place = place * np.uint64(pow(step, -1, count)) % np.uint64(count)
    template = texts.copy()
    number = place // CYCLE * GROUP_SIZES.size + GROUP_IN_CYCLE[place % CYCLE].astype(np.uint64)
    template[grouped] = number | np.uint64(1 << 63)
    return template, grouped


def sketches(texts: np.ndarray, documents: int, sharers: int) -> np.ndarray:
    """uint32 (texts, PERMUTATIONS). sharers: documents that share one key, and no more."""
    template, grouped = templates_of(texts, documents)
    hot = np.flatnonzero(texts % HOT_EVERY == HOT_PLACE)
    keys = max(1, documents // HOT_EVERY // sharers)
    key = texts[hot] // HOT_EVERY % keys
    base = keyed_hash(template, SEED, "template")
    own = keyed_hash(texts[grouped], SEED, "own")
    shared = keyed_hash(key, SEED, "hot")
    table = np.empty((PERMUTATIONS, texts.size), np.uint32)
    for column in range(PERMUTATIONS):
        move = np.uint64((column + 1) * INCREMENT % (1 << 64))
        table[column] = mixed(base + move)  # its lower half
        mine = mixed(own + move)
        differs = mine >> np.uint64(32) < np.uint64(OWN_VALUES * (1 << 32))
        table[column, np.flatnonzero(grouped)[differs]] = mine[differs]
        in_band = key % BANDS == column // ROWS
        table[column, hot[in_band]] = mixed(shared[in_band] + move)
    return np.ascontiguousarray(table.T)


def digests_of(texts: np.ndarray) -> np.ndarray:
    """uint8 (texts, 32): not SHA-256, but equal where the texts are, and only there."""
    words = [keyed_hash(texts, SEED, f"digest {word}") for word in range(4)]
    return np.column_stack(words).view(np.uint8)


def make_part(folder: Path, part: int, documents: int, sharers: int) -> dict:
    """Write what the steps up to `band` leave of one part; its entry in the listing."""
    start = part * PART_DOCUMENTS
    numbers = np.arange(start, min(start + PART_DOCUMENTS, documents), dtype=np.uint64)
    texts = texts_of(numbers, documents)
    names = ("signatures", "digests", "bands", "texts")
    files = {name: folder / f"{name}/{part:05d}.npy" for name in names}
    tables = ("verdicts", "measures")
    files |= {name: folder / f"{name}/{part:05d}.arrow" for name in tables}
    table, digests = sketches(texts, documents, sharers), digests_of(texts)
    rows = np.arange(numbers.size, dtype=np.uint32)
    save_array(files["signatures"], table)
    save_array(files["digests"], digests)
    sorted_bands(table, rows, BANDS, ROWS, files["bands"])
    sorted_digests(digests, rows, files["texts"])
    source = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows.size, np.int32)), ["made up"])
    sizes = 500 + keyed_hash(texts, SEED, "size") % np.uint64(5000)
    for name in tables:
        files[name].parent.mkdir(exist_ok=True)
    save_table(files["verdicts"], fate=FateColumn(rows.size).array())
    save_table(files["measures"], text_bytes=sizes, source=source)
    return {"documents": rows.size} | {name: str(file) for name, file in files.items()}


def edges_of_blocks(pairs: Path, parts: int) -> int:
    """Look up the edges of every block of parts, as the extract jobs do; how many there are."""
    files = [Path(bucket["file"]) for bucket in load_json(pairs)["parts"]]
    found = 0
    for first in range(0, parts, BLOCK_PARTS):
        last = min(first + BLOCK_PARTS, parts)
        found += len(edges_from(files, first << ROW_BITS, last << ROW_BITS))
    return found


class Measured(NamedTuple):
    """One process that did one thing."""

    result: object
    seconds: float
    peak_memory_mb: float  # with pages of mapped files, which the system can take back
    peak_anonymous_mb: float  # without them, looked at 20 times a second


class Stage(NamedTuple):
    """The processes of one stage, so many at a time."""

    seconds: float
    done: list[Measured]

    def peak(self, field: str) -> float:
        return max(getattr(one, field) for one in self.done)


def measured(work, arguments: dict) -> Measured:
    """Call it in this process, which does nothing else."""
    over, peaks = threading.Event(), [0.0]

    def look() -> None:
        while not over.wait(0.05):
            peaks.append(memory_mb("RssAnon"))

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    started = time.perf_counter()
    result = work(**arguments)
    seconds = time.perf_counter() - started
    over.set()
    watcher.join()
    return Measured(result, seconds, memory_mb("VmHWM"), max(*peaks, memory_mb("RssAnon")))


def run_stage(work, calls: list[dict], cores: int) -> Stage:
    """Each call in a process of its own."""
    started = time.perf_counter()
    with ProcessPoolExecutor(
        cores, multiprocessing.get_context("spawn"), max_tasks_per_child=1
    ) as pool:
        done = list(pool.map(measured, [work] * len(calls), calls))
    return Stage(time.perf_counter() - started, done)


class Growth(NamedTuple):
    """All that is known of one size."""

    documents: int
    stages: dict[str, Stage]
    pairs: int
    identical: int
    disk_bytes: int


def bytes_below(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def grow(folder: Path, documents: int, sharers: int, cores: int) -> Growth:
    """Make the files of so many documents, pair and group them, and remove the files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    parts = -(-documents // PART_DOCUMENTS)
    facts = {"folder": folder, "documents": documents, "sharers": sharers}
    calls = [facts | {"part": part} for part in range(parts)]
    stages = {"make": run_stage(make_part, calls, cores)}
    listing, pairs = folder / "listing.json", folder / "pairs.json"
    save_json(listing, {"parts": [one.result for one in stages["make"].done]})
    disk_bytes = bytes_below(folder)
    buckets = bucket_count(documents, BANDS + 1, BUCKET_ENTRIES)
    preference = Preference({"made up": None}, {"made up": 1}, None, [1] * parts)
    common = {
        "listing": listing,
        "buckets": Buckets(buckets, BUCKET_ENTRIES),
        "banding": Banding("verified", BANDS, ROWS),
        "similarity": Similarity(THRESHOLD, PERMUTATIONS),
        "preference": preference,
    }
    counts = [folder / f"pairs/{bucket:05d}.json" for bucket in range(buckets)]
    calls = [
        common | {"bucket": bucket, "pairs": file.with_suffix(".npy"), "counts": file}
        for bucket, file in enumerate(counts)
    ]
    stages["pair"] = run_stage(pair, calls, cores)
    found = [load_json(file) for file in counts]
    save_json(pairs, {"parts": found})
    grouping = {
        "listing": listing, "pairs": pairs, "similarity": Similarity(THRESHOLD, PERMUTATIONS),
        "bins": -(-parts // 2), "engine": "union_find", "labels": folder / "labels.npy",
        "starts": folder / "starts.npy",
    }  # fmt: skip
    stages["group"] = run_stage(group, [grouping], 1)
    stages["edges"] = run_stage(edges_of_blocks, [{"pairs": pairs, "parts": parts}], 1)
    total = sum(one["pairs"] for one in found)
    identical = sum(one["identical"] for one in found)
    if stages["edges"].done[0].result != total or identical != documents // EVERY:
        raise RuntimeError(f"{total} pairs, {identical} identical: not what was planted")
    disk_bytes += sum(file.with_suffix(".npy").stat().st_size for file in counts)
    shutil.rmtree(folder)
    return Growth(documents, stages, total, identical, disk_bytes)


def exponent(sizes: list[float], values: list[float]) -> float:
    """The slope of log(value) over log(size), by least squares: 1 is linear, 0 constant."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


STAGES = {
    "pair": "`pair`, all buckets",
    "group": "`group`",
    "edges": "edges for `extract`, all blocks",
}
EXTRAPOLATION = (
    "Exponents: slopes of log(value) over log(documents); 1 is linear. Extrapolated: by power law "
    "or straight line, whichever gives more; nobody has measured it, and it holds only while the "
    "sketches fit into the page cache, as here they do."
)
COLUMNS = ["documents", "keys", "pairs", "of planted near", "making s", "pair s", "pairs/s",
           "group s", "edges s", "pair MB, one process", "of it not files", "group MB",
           "of it not files", "group B/document", "disk GB"]  # fmt: skip
HEADER = f"| {' | '.join(COLUMNS)} |\n{'|--:' * len(COLUMNS)}|"


def table_line(one: Growth) -> str:
    stages = one.stages
    planted = grouped_documents(one.documents) // CYCLE * CYCLE_PAIRS
    anonymous = stages["group"].peak("peak_anonymous_mb")
    cells = [
        f"{one.documents:,}", f"{one.documents * (BANDS + 1):,}", f"{one.pairs:,}",
        f"{(one.pairs - one.identical) / max(planted, 1):.4f}", f"{stages['make'].seconds:.0f}",
        f"{stages['pair'].seconds:.1f}", f"{one.pairs / stages['pair'].seconds:,.0f}",
        f"{stages['group'].seconds:.1f}", f"{stages['edges'].seconds:.1f}",
        f"{stages['pair'].peak('peak_memory_mb'):,.0f}",
        f"{stages['pair'].peak('peak_anonymous_mb'):,.0f}",
        f"{stages['group'].peak('peak_memory_mb'):,.0f}", f"{anonymous:,.0f}",
        f"{anonymous * 2**20 / one.documents:.1f}", f"{one.disk_bytes / 1e9:.1f}",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def projected(sizes: list[float], values: list[float], target: float) -> float:
    """What the power law or the straight line through the values makes of it, whichever is more:
    what is fixed hides the growth of small values from the one, the other knows no exponent."""
    power = values[-1] * (target / sizes[-1]) ** exponent(sizes, values)
    return max(power, float(np.polyval(np.polyfit(sizes, values, 1), target)))


def trend(found: list[Growth], target: int) -> str:
    """Exponents, and what this would make of a target size."""
    sizes = [one.documents for one in found]
    rows = [
        (f"{title}, seconds", [one.stages[stage].seconds for one in found])
        for stage, title in STAGES.items()
    ]
    for stage in ("pair", "group"):
        for field, what in (("peak_memory_mb", "MB"), ("peak_anonymous_mb", "MB that is no file")):
            name = f"{STAGES[stage]}, {what} of one process"
            rows.append((name, [one.stages[stage].peak(field) for one in found]))
    rows.append(("disk, GB", [one.disk_bytes / 1e9 for one in found]))
    lines = [f"| what | exponent | EXTRAPOLATED to {target:,} documents |", "|---|--:|--:|"]
    for name, values in rows:
        more = f"{projected(sizes, values, target):,.0f}"
        if name.startswith(STAGES["pair"]) and "MB" in name:
            more = "as many: a bucket's"  # its entries are bounded
        lines.append(f"| {name} | {exponent(sizes, values):.2f} | {more} |")
    return "\n".join([*lines, "", EXTRAPOLATION])


def measure(given) -> None:
    run_folder = RunFolder(given.run_folder)
    folder = given.cache / "growth"
    print("warming up", file=sys.stderr)
    grow(folder, 20_000, given.sharers, given.cores)  # compiles the kernels
    found = []
    for size in sorted([int(size) for size in given.sizes] * given.runs):
        one = grow(folder, size, given.sharers, given.cores)
        found.append(one)
        for stage, title in STAGES.items():
            measured_stage = one.stages[stage]
            run_folder.record(
                "growth", f"{title}, {size:,} documents", group=stage, amount=size,
                unit="documents", seconds=measured_stage.seconds,
                peak_memory_mb=measured_stage.peak("peak_memory_mb"),
                peak_anonymous_mb=measured_stage.peak("peak_anonymous_mb"),
                counts={"processes": len(measured_stage.done)},
                jobs=[job[1:] for job in measured_stage.done], pairs=one.pairs,
            )  # fmt: skip
    tables = ["\n".join([HEADER, *map(table_line, found)])]
    if len(set(given.sizes)) > 1:
        tables.append(trend(found, int(given.target)))
    for table in tables:
        run_folder.note("growth", table)
        print(table, end="\n\n")
    run_folder.close()


if __name__ == "__main__":
    # As the jobs of the workflow, see corpusmill/run/job_environment.py.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    os.environ.setdefault("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")
    arguments = parser(__doc__)
    arguments.set_defaults(runs=1)
    arguments.add_argument("--sizes", type=float, nargs="+", default=[10e6, 20e6, 50e6])
    arguments.add_argument("--sharers", type=int, default=10_000, help="documents of a hot key")
    arguments.add_argument("--target", type=float, default=1e9, help="documents to extrapolate to")
    arguments.add_argument("--cores", type=int, default=2, help="processes at a time")
    measure(arguments.parse_args())
