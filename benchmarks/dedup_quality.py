"""Quality of deduplication: what it misses and what it drops wrongly, by exact Jaccard similarity.

    python benchmarks/dedup_quality.py --documents FILE ... [--pairs PAIRS.jsonl] [--threshold 0.8]

A true pair is two documents whose sets of 13-character shingles, of the cleaned texts, have a
Jaccard similarity of at least the threshold. True pairs are found here with Python sets, without
corpusmill's kernels. Then the whole workflow decides, once with each of SETTINGS. No document is
too short for it (empty ones are dropped before any comparison):

    recall     share of the true pairs of which not both documents are kept
    precision  share of the dropped documents that form a true pair with a document that is kept

Use at most a few hundred megabytes of text: all shingles are held in memory.
"""

import functools
import itertools
import json
import math
import re
import shutil
import string
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq
import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout, as rules/common.smk does

from benchmarks.measuring import parser
from benchmarks.run_folder import RunFolder
from benchmarks.watching import MEMORY, Watched, watched
from benchmarks.workflow import snakemake, warm_up
from corpusmill.mill.read.ids import ROW_BITS
from corpusmill.mill.read.parts import TextPart
from corpusmill.mill.read.readers import read_records
from corpusmill.mill.read.records import Record
from corpusmill.run.job_progress import Phase

SHINGLE_CHARS = 13
BY_SKETCH = {"method": "sketch", "resolve": "component", "candidates": "all"}
SETTINGS = {
    "ours, as shipped": {},
    "SlimPajama: 9 x 13, sketch, component, legacy": {
        "minhash": {"scheme": "legacy"},
        "dedup": BY_SKETCH | {"bands": 9, "rows": 13},
    },
    "datatrove's b and r: 14 x 8, sketch, component, affine32": {
        "dedup": BY_SKETCH | {"bands": 14, "rows": 8},
    },
}
TARGET = "results/duplicates.json"  # made when every document is decided
EXAMPLES = 50  # most missed pairs and wrongly dropped documents in raw.jsonl
WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)

Pair = tuple[int, int]


class Document(NamedTuple):
    path: str
    line: int
    name: str  # its id, or file and line
    text: str  # normalized


def read_documents(paths: list[Path], text_field: str) -> list[Document]:
    """Return all well-formed documents, normalized as in the shipped configuration."""
    documents = []
    for path in paths:
        for record in read_records(str(path.resolve()), text_field, Phase("", 0, "MB")):
            if isinstance(record, Record):
                name = json.loads(b"{%s}" % record.rest).get("id") or f"{path.name}:{record.line}"
                text = unicodedata.normalize("NFC", record.text)
                documents.append(Document(str(path.resolve()), record.line, str(name), text))
    return documents


def clean(text: str) -> str:
    return re.sub(r"\s+", " ", text.lower().translate(WITHOUT_PUNCTUATION).strip())


def shingles(text: str) -> frozenset[str]:
    """Return the shingles of a text. A text shorter than a shingle is its own shingle."""
    cleaned = clean(text)
    last = max(len(cleaned) - SHINGLE_CHARS, 0)
    return frozenset(cleaned[i : i + SHINGLE_CHARS] for i in range(last + 1) if cleaned)


def jaccard(one: frozenset, other: frozenset) -> float:
    """Return the Jaccard similarity; 0 for two empty sets."""
    common = len(one & other)
    union = len(one) + len(other) - common
    return common / union if union else 0.0


def candidates(sets: list[np.ndarray], threshold: float) -> Iterator[Pair]:
    """Yield every pair of sets that may reach the threshold, and some others.

    sets: distinct numbers each. Sets with a Jaccard similarity of t share at least t of the larger
    one. So they share one of the rarest (1 - t) of each, and neither is smaller than t of the
    other.
    """
    numbers = np.concatenate([np.zeros(0, np.int64), *sets])
    _, place, often = np.unique(numbers, return_inverse=True, return_counts=True)
    often = often[place]
    sizes = [one.size for one in sets]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    having = defaultdict(list)
    for document, size in enumerate(sizes):
        mine = slice(starts[document], starts[document + 1])
        shared = math.ceil(threshold * size - 1e-9)
        rarest = np.lexsort((place[mine], often[mine]))[: size - shared + 1]
        indexed = place[mine][rarest][often[mine][rarest] > 1].tolist()
        earlier = {other for number in indexed for other in having[number]}
        for other in sorted(earlier):
            if min(size, sizes[other]) >= threshold * max(size, sizes[other]) - 1e-9:
                yield other, document
        for number in indexed:
            having[number].append(document)


def true_pairs(texts: list[str], threshold: float) -> dict[Pair, float]:
    """Return (a, b), a < b -> Jaccard similarity of their shingles, if it reaches the threshold.
    Equal texts have 1, even without shingles. Empty texts are not compared."""
    alike = defaultdict(list)  # cleaned text -> its documents; one of them is compared
    for number, text in enumerate(texts):
        if text:
            alike[clean(text) or text].append(number)
    groups = list(alike.values())
    found = {pair: 1.0 for group in groups for pair in itertools.combinations(group, 2)}
    # Equal shingles get equal numbers. Collisions only add candidates.
    numbered = []
    for group in groups:
        own = shingles(texts[group[0]])
        numbered.append(np.unique(np.fromiter(map(hash, own), np.int64, len(own))))
    shingles_of = functools.lru_cache(maxsize=512)(lambda group: shingles(texts[groups[group][0]]))
    for one, other in candidates(numbered, threshold):
        value = jaccard(shingles_of(one), shingles_of(other))
        if value >= threshold:
            for a, b in itertools.product(groups[one], groups[other]):
                found[min(a, b), max(a, b)] = value
    return found


class Quality(NamedTuple):
    missed: list[Pair]  # true pairs with both documents kept
    wrong: list[int]  # dropped documents without a similar one that is kept
    recall: float
    precision: float


def quality(pairs: Iterable[Pair], dropped: set[int]) -> Quality:
    pairs = list(pairs)
    missed = [pair for pair in pairs if not dropped & set(pair)]
    right = {one for a, b in pairs for one, other in ((a, b), (b, a)) if other not in dropped}
    wrong = sorted(dropped - right)
    return Quality(
        missed,
        wrong,
        1 - len(missed) / len(pairs) if pairs else 1.0,
        1 - len(wrong) / len(dropped) if dropped else 1.0,
    )


def config_of(paths: list[Path], text_field: str, threshold: float, setting: dict) -> dict:
    """Return the shipped configuration with a setting, without guards, and with all documents
    compared."""
    source = {
        "name": "documents",
        "files": [str(path.resolve()) for path in paths],
        "text_field": text_field,
        "max_malformed_fraction": 1,
        "max_duplicate_fraction": 1,
    }
    dedup = {"threshold": threshold, "max_group_texts": None} | setting.get("dedup", {})
    return {
        "sources": [source],
        "filters": [{"name": "empty"}],
        "minhash": {"shingle_chars": SHINGLE_CHARS} | setting.get("minhash", {}),
        "dedup": dedup,
    }


def decide(folder: Path, config: dict, cores: int) -> Watched:
    """Run the workflow in an empty folder up to its decisions."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "benchmark.yaml").write_text(yaml.safe_dump(config))
    return watched(snakemake("--cores", cores, TARGET), folder)


def dropped_for(folder: Path, documents: list[Document]) -> dict[int, int]:
    """Return dropped document -> the document it is dropped for, by number."""
    numbers = {(document.path, document.line): n for n, document in enumerate(documents)}
    of_id = {}
    for file in sorted((folder / "results/text").glob("*.arrow")):
        part = TextPart(file, ["file", "line"])
        rows = zip(part.column("file").tolist(), part.column("line").tolist(), strict=True)
        for row, (of_file, line) in enumerate(rows):
            place = part.files[of_file]["path"], line
            of_id[int(file.stem) << ROW_BITS | row] = numbers.pop(place)
    if numbers:
        raise RuntimeError(f"the workflow did not read {next(iter(numbers))}")
    dropped = {}
    for file in sorted((folder / "results/clusters").glob("*.parquet")):
        table = pq.read_table(file, columns=["id", "winner"]).to_pydict()
        for one, winner in zip(table["id"], table["winner"], strict=True):
            dropped[of_id[one]] = of_id[winner]
    return dropped


def given_pairs(file: Path, documents: list[Document], threshold: float) -> dict[Pair, float]:
    """Return the pairs of a given file, by the documents' ids, at or above the threshold."""
    numbers = {document.name: n for n, document in enumerate(documents)}
    found = {}
    for line in file.read_text("utf-8").splitlines():
        pair = json.loads(line)
        if pair["jaccard"] is not None and pair["jaccard"] >= threshold:
            a, b = sorted((numbers[pair["a"]], numbers[pair["b"]]))
            found[a, b] = pair["jaccard"]
    return found


def comparison(truth: dict[Pair, float], given: dict[Pair, float], name: str) -> str:
    """Say in a sentence how far given pairs agree with the truth."""
    both = truth.keys() & given.keys()
    apart = max((abs(truth[pair] - given[pair]) for pair in both), default=0.0)
    return (
        f"{name}: {len(given):,} pairs; {len(both):,} are found here too, "
        f"{len(given.keys() - both):,} are not, {len(truth.keys() - both):,} only here; greatest "
        f"difference of a similarity {apart:.1e}."
    )


HEADER = (
    "| setting | true pairs | found | recall | dropped | of these right | precision "
    "| largest cluster | seconds |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|"
)


def table_line(name: str, truth: int, dropped: dict[int, int], q: Quality, seconds: float) -> str:
    largest = 1 + max(Counter(dropped.values()).values(), default=0)
    cells = [
        name, f"{truth:,}", f"{truth - len(q.missed):,}", f"{q.recall:.4f}", f"{len(dropped):,}",
        f"{len(dropped) - len(q.wrong):,}", f"{q.precision:.4f}", f"{largest:,}", f"{seconds:.1f}",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def measure(given) -> None:
    run_folder = RunFolder(given.run_folder)
    name = given.name or ", ".join(dict.fromkeys(path.name for path in given.documents))
    table = f"dedup quality: {name}"
    documents = read_documents(given.documents, given.text_field)
    print(f"{len(documents):,} documents; looking for true pairs", file=sys.stderr)
    truth = true_pairs([document.text for document in documents], given.threshold)
    run_folder.note(
        table,
        f"{len(documents):,} documents, {len(truth):,} pairs with a Jaccard similarity of "
        f"{given.threshold} or more, found by Python sets.",
    )
    if given.pairs:
        others = given_pairs(given.pairs, documents, given.threshold)
        run_folder.note(table, comparison(truth, others, given.pairs.name))
    warm_up(given.cores)
    lines = [HEADER]
    for setting, values in SETTINGS.items():
        config = config_of(given.documents, given.text_field, given.threshold, values)
        for number in range(given.runs):
            folder = given.cache / "dedup_quality"
            run = decide(folder, config, given.cores)
            dropped = dropped_for(folder, documents)
            q = quality(truth, set(dropped))
            run_folder.record(
                table, setting, group=setting, run=number, amount=len(documents),
                unit="documents", seconds=run.seconds, peak_memory_mb=run.peak_memory_mb,
                output=sorted(documents[one].name for one in dropped),
                counts={"dropped": len(dropped), "missed": len(q.missed), "wrong": len(q.wrong)},
                missed=[[documents[a].name, documents[b].name, truth[a, b]]
                        for a, b in q.missed[:EXAMPLES]],
                wrong=[[documents[one].name, documents[dropped[one]].name]
                       for one in q.wrong[:EXAMPLES]],
            )  # fmt: skip
        lines.append(table_line(setting, len(truth), dropped, q, run.seconds))
    run_folder.note(table, MEMORY)
    run_folder.note(table, "\n".join(lines))
    print("\n".join(lines))
    run_folder.close()
    shutil.rmtree(folder)


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--documents", type=Path, nargs="+", required=True, help="input files")
    arguments.add_argument("--text-field", default="text")
    arguments.add_argument("--name", help="of the documents, in the tables")
    arguments.add_argument("--pairs", type=Path, help="JSONL of a, b (ids), jaccard: to compare")
    arguments.add_argument("--threshold", type=float, default=0.8)
    arguments.add_argument("--cores", type=int, default=2)
    measure(arguments.parse_args())
