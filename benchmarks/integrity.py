"""Cost of checksums, heartbeats and the ledger: runs with and without them, in turn.

    python benchmarks/integrity.py --config mine.yaml [--cores 2] [--runs 5]

The product has no switch for them, so a copy of the checkout is cut down. It computes no checksums,
writes constants instead, verifies nothing, reports no progress and writes an empty ledger. The
number of files and, except for checksums and ledger, their bytes stay the same, which is compared.
Both sides compile their kernels before the first run.
"""

import hashlib
import json
import re
import resource
import shutil
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout, as rules/common.smk does

from benchmarks.measuring import ROOT, parser
from benchmarks.run_folder import RunFolder
from benchmarks.watching import watched
from corpusmill.mill.storage.sha256 import file_sha256

PARTS = ("Snakefile", "rules", "scripts", "corpusmill", "envs", "profiles", "config.yaml")
SUMS = "corpusmill/mill/storage/sums.py"
NOTHING = "1" * 64
CUT = [
    (SUMS, "        return xxhash.xxh3_64_intdigest(block, self.seed(number))", "        return 0"),
    (SUMS, "            self._open.update(piece)\n", ""),
    (SUMS, "self._of_blocks.append(self._open.intdigest())", "self._of_blocks.append(0)"),
    (SUMS, "            self._sha256.update(view)", "            pass"),
    (SUMS, "sha256 = self._sha256.hexdigest() if", f'sha256 = "{NOTHING}" if'),
    (SUMS, "        return self._sha256.hexdigest()", f'        return "{NOTHING}"'),
    (SUMS, "        for number in numbers:\n", "        for number in ():\n"),
    ("corpusmill/mill/storage/sha256.py", 'hashlib.file_digest(file, "sha256").hexdigest()',
     f'"{NOTHING}"'),
    ("corpusmill/mill/read/readers.py", "        self._sha256.update(data)\n", ""),
    ("corpusmill/messages/progress.py", "SAY_EVERY_SECONDS = 1.9", "SAY_EVERY_SECONDS = 1e6"),
    ("scripts/ledger.py", "save_ledger(rows, table)", "save_ledger(rows, table.slice(0, 0))"),
]  # fmt: skip


def cut_down(copy: Path) -> None:
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir(parents=True)
    for name in PARTS:
        part = ROOT / name
        if part.is_dir():
            shutil.copytree(part, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(part, copy / name)
    for name, old, new in CUT:
        code = (copy / name).read_text()
        if code.count(old) != 1:
            raise ValueError(f"{name}: expected {old!r} once, found it {code.count(old)} times")
        (copy / name).write_text(code.replace(old, new))


def kept_digest(folder: Path) -> str:
    """Return a digest of every text and token shard and its index. The files beside them have
    checksums."""
    digest = hashlib.sha256()
    for path in sorted((folder / "results").glob("[ct]o*/*/*")):
        if path.suffix != ".json" and not path.name.startswith("."):
            digest.update(f"{path.relative_to(folder)}\n{file_sha256(path)}\n".encode())
    return digest.hexdigest()[:16]


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(given) -> None:
    run_folder = RunFolder(given.run_folder)
    base = given.cache / "integrity"
    cut_down(base / "bare")
    sides = {"without": base / "bare", "with": ROOT}
    seconds: dict[str, list[float]] = {side: [] for side in sides}
    for number in range(-1, given.runs):  # the first run compiles kernels
        for side, checkout in sides.items():
            folder = base / "run"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            shutil.copy(given.config, folder / "mine.yaml")
            before = cpu_seconds()
            run = watched(
                [sys.executable, "-m", "snakemake", "-s", checkout / "Snakefile", "--configfile",
                 "mine.yaml", "--cores", given.cores], folder,
            )  # fmt: skip
            if not re.search(r"\(100%\) done", run.printed):
                raise RuntimeError(f"the run {side} them failed:\n{run.printed[-3000:]}")
            if number < 0:
                continue
            seconds[side].append(run.seconds)
            # Read without verification: one side has constant checksums.
            summary = json.loads((folder / "results/summary.json").read_text())
            run_folder.record(
                "integrity", f"{side} checksums, heartbeats, ledger", group="run", run=number,
                amount=summary["bytes"]["in"], unit="MB", seconds=run.seconds,
                cpu_seconds=cpu_seconds() - before, peak_memory_mb=run.peak_memory_mb,
                output=kept_digest(folder), counts=summary["tokens"],
            )  # fmt: skip
    with_them, without = (statistics.median(seconds[side]) for side in ("with", "without"))
    run_folder.note("integrity", f"Medians of {given.runs}: {with_them / without - 1:+.1%}.")
    run_folder.close()
    shutil.rmtree(base)


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--config", type=Path, required=True)
    arguments.add_argument("--cores", type=int, default=2)
    arguments.set_defaults(runs=5)
    measure(arguments.parse_args())
