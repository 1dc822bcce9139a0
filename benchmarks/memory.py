"""Memory of jobs compared with the limits of their rules, for large and for very many documents.

    python benchmarks/memory.py [--cases ordinary,300MB] [--tokenizer FOLDER] [--keep FOLDER]

The text is generated and does not repeat. The memory of a job is at the end of its log. The limit
of its rule comes from Snakemake when all sizes are known.
"""

import argparse
import itertools
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml
import zstandard

sys.path.insert(0, str(Path(__file__).parents[1]))  # also when run as a file

from benchmarks.make_fresh_corpus import USUAL, WORDS, invented
from benchmarks.measuring import ROOT

PIECE_WORDS = 1_000_000
END_OF_TEXT = "<|endoftext|>"


class Case(NamedTuple):
    documents: int
    chars: int
    max_record_bytes: int = 1 << 26


CASES = {
    "ordinary": Case(60_000, 3_500),
    "1 MB": Case(200, 1_000_000),
    "50 MB": Case(5, 50_000_000),
    "300 MB": Case(2, 300_000_000, 400_000_000),
    "10 characters": Case(1_000_000, 10),
}

FINISHED = re.compile(r"finished: .*, memory ([\d,]+) ", re.MULTILINE)
ALLOWED = re.compile(r"^ +log: (\S+)$.*?mem_mb=(\d+)", re.MULTILINE | re.DOTALL)


def texts(case: Case, rng: np.random.Generator) -> Iterator[Iterator[bytes]]:
    """Yield the pieces of each document, in JSON escapes."""
    words = np.array(invented(rng, WORDS, USUAL), object)
    frequency = 1 / np.arange(1, WORDS + 1)
    upto = np.cumsum(frequency / frequency.sum())

    def of_words(count: int) -> bytes:
        return b"".join(words[np.minimum(np.searchsorted(upto, rng.random(count)), WORDS - 1)])

    def long(left: int) -> Iterator[bytes]:
        while left > 0:
            piece = of_words(min(PIECE_WORDS, left // 4 + 1))[:left].rpartition(b" ")[0] + b" "
            yield piece
            left -= len(piece)

    for number in range(case.documents):
        rng = np.random.default_rng([1, number])
        yield iter([b"%010d" % number]) if case.chars == 10 else long(case.chars)
    if case.chars > 10:  # a near copy of the first, so that documents are compared
        rng = np.random.default_rng([1, 0])
        yield itertools.chain([b"another beginning "], long(case.chars))


def write(case: Case, path: Path) -> None:
    packing = zstandard.ZstdCompressor(level=3)
    with open(path, "wb") as raw, packing.stream_writer(raw, closefd=False) as file:
        for text in texts(case, np.random.default_rng(1)):
            file.write(b'{"text":"')
            for piece in text:
                file.write(piece)
            file.write(b'"}\n')


def config(case: Case, given: argparse.Namespace) -> dict:
    chosen = yaml.safe_load(given.preset.read_text("utf-8")) if given.preset else {}
    return {
        "sources": [{"name": "made", "files": ["raw.jsonl.zst"], "max_duplicate_fraction": 1}],
        "input": {"max_record_bytes": case.max_record_bytes},
        "filters": chosen.get("filters", [{"name": "empty"}]),
        "spans": {"unit": given.spans},
        "tokenizer": {"source": given.tokenizer, "end_of_text": END_OF_TEXT},
    }


def snakemake(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "snakemake", "-s", ROOT / "Snakefile",
               "--configfile", "mine.yaml", "--cores", "1", *arguments]  # fmt: skip
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{done.stdout[-3000:]}\n{done.stderr[-6000:]}")
    return done.stdout + done.stderr


def measured(case: Case, folder: Path, given: argparse.Namespace) -> dict[str, tuple[int, int]]:
    """Return rule -> peak and allowed megabytes of the job closest to its limit."""
    folder.mkdir(parents=True)
    write(case, folder / "raw.jsonl.zst")
    (folder / "mine.yaml").write_text(yaml.safe_dump(config(case, given)))
    snakemake(folder)
    found: dict[str, tuple[int, int]] = {}
    for log, allowed in ALLOWED.findall(snakemake(folder, "--dry-run", "--forceall")):
        peak = int(FINISHED.findall((folder / log).read_text())[-1].replace(",", ""))
        rule = Path(log).parts[1]
        nearest = found.get(rule, (0, 1))
        if peak / int(allowed) > nearest[0] / nearest[1]:
            found[rule] = peak, int(allowed)
    return found


def table(found: dict[str, dict[str, tuple[int, int]]]) -> Iterator[str]:
    """Yield a table of rules that reach half of their limit in some case."""
    rules = sorted({rule for rows in found.values() for rule in rows})
    yield f"| rule | {' | '.join(found)} |"
    yield f"|---|{'--:|' * len(found)}"
    for rule in rules:
        pairs = [rows.get(rule, (0, 1)) for rows in found.values()]
        if any(2 * peak >= allowed for peak, allowed in pairs):
            cells = (f"{peak:,} of {allowed:,}" for peak, allowed in pairs)
            yield f"| `{rule}` | {' | '.join(cells)} |"
    jobs = [(rule, *pair) for rows in found.values() for rule, pair in rows.items()]
    over = [rule for rule, peak, allowed in jobs if peak > allowed]
    yield f"\n{len(jobs)} rules and cases, {len(over)} above their bound: {', '.join(over) or '-'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--tokenizer", default="train", help="a folder; else one is trained")
    parser.add_argument("--preset", type=Path, help="filters; else none but empty")
    parser.add_argument("--spans", default="none", help="what repeated spans are cut")
    parser.add_argument("--keep", type=Path, help="where the runs stay; else nowhere")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        found = {}
        for name in given.cases.split(","):
            found[name] = measured(CASES[name], folder / name.replace(" ", "-"), given)
            print(json.dumps({"case": name, **found[name]}), file=sys.stderr)
    print("\n".join(table(found)))


if __name__ == "__main__":
    main()
