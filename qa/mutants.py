"""`python -m qa.mutants`: break the package in one line, and say which test of `make test` notices.

Each mutant is put into a copy of the checkout, where its tests run until the first fails.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
LEFT_OUT = (
    ".git",
    ".venv",
    ".venv-slurm",
    ".torch",
    "results",
    "logs",
    ".hypothesis",
    ".snakemake",
)
FAILED = re.compile(r"^(?:FAILED|ERROR) [^:]+::(\w+)", re.MULTILINE)


class Mutant(NamedTuple):
    """A change of one place, and the tests that are asked about it."""

    name: str
    file: str
    old: str
    new: str
    breaks: str
    tests: str
    """Files below tests/, without `test_` and `.py`."""


MUTANTS = [
    Mutant("filters", "corpusmill/mill/filters/limits.py",
           'values < bound if side == "below"', 'values <= bound if side == "below"',
           "a document exactly at a limit is dropped", "filter_settings rule_filters"),
    Mutant("fates", "corpusmill/mill/decide/fate_columns.py",
           "dropped = self.kept & which", "dropped = which.copy()",
           "the last filter that objects counts, not the first", "decided decisions accounts"),
    Mutant("sketch", "corpusmill/kernels/sketch.py",
           "h ^= h >> np.uint32(13)", "h ^= h >> np.uint32(12)",
           "sketches differ from those of datasketch", "minhash"),
    Mutant("bands", "corpusmill/mill/dedup/lsh.py",
           "rows, band * width, width)", "rows, 0, width)",
           "every band has the values of the first", "lsh candidates"),
    Mutant("order of duplicates", "corpusmill/mill/dedup/order.py",
           "np.uint64(LAST) - sizes", "sizes.astype(np.uint64)",
           "the shorter of two similar documents is kept", "order resolution preferences"),
    Mutant("resolution", "corpusmill/mill/dedup/resolution.py",
           "similar = ~(similarity < setting.threshold)",
           "similar = ~(similarity <= setting.threshold)",
           "a pair exactly at the threshold counts as different", "resolution"),
    Mutant("holdout", "corpusmill/mill/decide/holdout.py",
           'if entry["digest"].tobytes() == digests[row].tobytes():', "if len(entry):",
           "texts count as held out if 8 bytes of their digests agree", "holdout"),
    Mutant("splits", "corpusmill/mill/decide/splits_and_copies.py",
           "copies, np.minimum(copies, 1))", "copies, copies)",
           "held-out documents are repeated", "decisions targets"),
    Mutant("shuffle order", "corpusmill/mill/decide/splits_and_copies.py",
           "copy.astype(np.uint64) * stride", "copy.astype(np.uint64)",
           "the copies of a document stand together", "decisions targets"),
    Mutant("order as found", "corpusmill/mill/shuffle/orders.py",
           "np.where(copies > number, self.sizes, 0)", "self.sizes",
           "documents with fewer copies leave gaps in later passes", "orders"),
    Mutant("order in bands", "corpusmill/mill/shuffle/arranging.py",
           "documents.sizes[chosen] * copies,", "documents.sizes[chosen],",
           "bands of a curriculum count each document once, not its copies", "orders"),
    Mutant("token ids", "corpusmill/mill/tokens/token_shards.py",
           "for part in (ids, last)]", "for part in (last, ids)]",
           "the end-of-text id stands before each document", "token_shards tokenizers"),
    Mutant("losses", "corpusmill/mill/tokens/losses.py",
           "if sizes.max() == UNCERTAIN:", "if not sizes.size:",
           "ids of unknown length count as proof that nothing was lost", "losses"),
    Mutant("manifest digests", "scripts/manifest.py",
           'chain | {"sha256": own_digest(chain)}', 'chain | {"sha256": own_digest({})}',
           "the manifest's digest does not depend on its content", "verification why verify"),
    Mutant("sums", "corpusmill/mill/storage/sums.py",
           "return self._seed + number & _WORD", "return self._seed & _WORD",
           "two blocks of a file can change places unnoticed", "sums"),
    Mutant("recipes", "corpusmill/mill/storage/recipes.py",
           "        digest.update(recipe)\n", "",
           "a file's recipe ignores how its inputs were made", "sums code_digest run_record"),
    Mutant("reader order", "corpusmill/reader/shuffled.py",
           'f"{self._seed}/{epoch}/samples"', 'f"{self._seed}/samples"',
           "every epoch has the same order", "stream_batches stream_corpus"),
    Mutant("resume state", "corpusmill/reader/batches.py",
           "(self._worker - self._waiting) % self._workers", "self._worker % self._workers",
           "a state saved between two workers resumes at the wrong step", "stream_batches"),
    Mutant("publish", "corpusmill/tools/publish/publishing.py",
           "if sizes.get(file.name) != file.bytes:", "if file.name not in sizes:",
           "an object of another size passes the last look", "publication"),
    Mutant("verify", "corpusmill/tools/verify/files.py",
           "if digest == file.sha256:", "if digest:",
           "a changed file of the same size passes", "verify verification"),
    Mutant("why", "corpusmill/tools/why/nearest.py",
           "(part << ROW_BITS) + start + row", "(part << ROW_BITS) + row",
           "the nearest document of a large part is another one", "why"),
    Mutant("config check", "corpusmill/run/config.py",
           "int(self.bands) * int(self.rows)) > permutations",
           "int(self.bands) * int(self.rows)) > permutations + 1",
           "one value more than a sketch has is accepted", "config"),
    Mutant("locks", "corpusmill/run/one_at_a_time.py",
           "if os.path.samestat(os.fstat(file.fileno()), path.stat()):", "if path.stat():",
           "a lock on a file that was removed counts", "one_at_a_time"),
    Mutant("memory of jobs", "corpusmill/run/memory.py",
           "base + held(self._read.of_part(int(wildcards.part)), **amounts)", "base",
           "jobs of large parts ask for too little memory", "layout early_memory memory_asked"),
    Mutant("ledger", "corpusmill/mill/account/ledger_rows.py",
           "np.add.at(pieces, (ids & np.uint64(ROW_MASK)).astype(np.int64), 1)",
           "pieces[(ids & np.uint64(ROW_MASK)).astype(np.int64)] += 1",
           "several cuts of one document count as one", "why spans"),
    Mutant("account", "corpusmill/mill/account/cross_checks.py",
           "if one != other]", "if one < other]",
           "half of all contradictions between reports pass", "cross_checks"),
    Mutant("record", "corpusmill/run/record.py",
           "max(count, earlier or 0)", "count",
           "a shorter run forgets files of a longer one", "run_record"),
]  # fmt: skip


def copied(folder: Path) -> Path:
    """A copy of the checkout, with the same environment."""
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    (folder / ".venv").symlink_to((ROOT / ".venv").resolve())
    return folder


def places(mutant: Mutant, folder: Path = ROOT) -> int:
    """How often the line to change is there: a mutant needs exactly one."""
    return (folder / mutant.file).read_text("utf-8").count(mutant.old)


def who_notices(mutant: Mutant, folder: Path, all_of_them: bool, options: list[str]) -> list[str]:
    """The tests that fail with the mutant; the first alone, unless all are asked for."""
    path = folder / mutant.file
    before = path.read_text("utf-8")
    files = options or [f"tests/test_{name}.py" for name in mutant.tests.split()]
    asked = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-header", *files]
    path.write_text(before.replace(mutant.old, mutant.new), "utf-8")
    try:
        done = subprocess.run(
            asked + ([] if all_of_them else ["-x"]), cwd=folder, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
    finally:
        path.write_text(before, "utf-8")
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{mutant.name}: pytest could not run:\n{done.stdout}{done.stderr}")
    return list(dict.fromkeys(FAILED.findall(done.stdout)))


def table(chosen: list[Mutant], options: argparse.Namespace) -> Iterator[str]:
    """A line of Markdown for each mutant."""
    with tempfile.TemporaryDirectory(prefix="mutants") as base:
        folder = copied(Path(base) / "checkout")
        for mutant in chosen:
            if places(mutant, folder) != 1:
                raise ValueError(
                    f"{mutant.file}: expected {mutant.old!r} once, found it "
                    f"{places(mutant, folder)} times. Correct the mutant in qa/mutants.py."
                )
            found = who_notices(mutant, folder, options.all, options.tests)
            noticed = ", ".join(f"`{name}`" for name in found) or "**nobody**"
            yield f"| {mutant.name} | {mutant.breaks} | {noticed} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="qa.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="of mutants; none named: all")
    parser.add_argument("--all", action="store_true", help="tell every test that fails")
    parser.add_argument("--tests", nargs="*", default=[], help="other files of tests")
    options = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if mutant.name in (options.names or [mutant.name])]
    survivors = 0
    for line in table(chosen, options):
        print(line, flush=True)
        survivors += "**nobody**" in line
    sys.exit(bool(survivors))


if __name__ == "__main__":
    main()
