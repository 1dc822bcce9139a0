"""Compares rule filters with datatrove's classes: differing decisions, and speed.

    python benchmarks/filters.py --data DIR --peer VENV/bin/python

DIR holds folders of .jsonl.zst with a `text`; VENV has benchmarks/peers/datatrove.txt. Up to
--megabytes of documents are read from each source, and --edges generated texts are added. With
--language, documents of another `meta.language` are left out. Both sides run on one core, one after
the other. Seconds are for splitting words and deciding, without reading.

Decisions are compared twice. First both use datatrove's words: each difference is shown with its
cause, and is a failure without one. Then ours uses the words found by the rule --words. Equal words
are those of datatrove that ours finds at the same place.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import zstandard

sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout, as rules/common.smk does

from corpusmill.kernels.c4 import count_sentences
from corpusmill.mill.filters.configured import configured
from corpusmill.mill.filters.documents import Documents
from corpusmill.mill.filters.features.words import given_words
from corpusmill.mill.read.text_column import TextColumn, string_array

PEER = Path(__file__).parent / "peers/datatrove_filters.py"


def entries(words: str) -> list[dict]:
    """Return the filters of FineWeb."""
    return [
        {"name": "gopher_quality", "words": words},
        {"name": "gopher_repetition", "words": words},
        {"name": "c4", "needs_end_mark": False},
        {"name": "fineweb_quality", "words": words},
    ]


PIECES = [
    *("a", "the", "of", "to be", "ab", "c", "word", "\n", "\n\n", "\n\n\n", " ", "\r\n", "\u2028"),
    *("\x85", "\x1c", "...", "....", "…", "#", "-", "•", " - x", ".", "!", "é", "漢字。", "\u0301"),
    *("\t", "{", "12", "x" * 40, "A B C D E F G. ", "lorem ipsum", "JavaScript", "Cookie Policy"),
    *("[1]", "[edit]", "İ", "coo\u212aie policy", "x" * 1001, "word word word.\n"),
]
BATCH_BYTES = 32 << 20


def edge_cases(count: int) -> list[str]:
    """Return unusual texts, the same every time."""
    chance = random.Random(0)
    found = ["", "one", "...", "no newline", "漢字" * 100, "e\u0301" * 100, "word " * 2_000_000]
    for _ in range(count):
        pieces = chance.sample(PIECES, chance.randrange(1, len(PIECES)))
        length = chance.choice([1, 2, 3, 5, 10, 30, 100, 300])
        found.append("".join(chance.choice(pieces) for _ in range(length)))
    return found


def texts_of(folder: Path, most: float, language: str | None) -> list[str]:
    found: list[str] = []
    size = 0
    for path in sorted(folder.glob("*.jsonl.zst")):
        with open(path, "rb") as file:
            data = zstandard.ZstdDecompressor().stream_reader(file).read()
        for line in data.splitlines():
            record = json.loads(line)
            if language and record.get("meta", {}).get("language", language) != language:
                continue
            found.append(record["text"])
            size += len(found[-1].encode())
            if size >= most:
                return found
    return found


def sentences_of(text: str) -> dict[str, int]:
    """Return the number of sentences in every line that C4's rules may keep, with and without
    citations."""
    found = {}
    for line in map(str.strip, text.splitlines()):
        left = re.sub(r"\[\d*]|\[edit]|\[citation needed]", "", line)
        data = np.frombuffer(left.encode(), np.uint8)
        found[left] = int(count_sentences(data, 0, data.size))
    return found


def columns_of(texts: list[str]) -> list[TextColumn]:
    """Return the texts in batches, as in a part."""
    batches: list[list[bytes]] = [[]]
    size = 0
    for text in map(str.encode, texts):
        if size + len(text) > BATCH_BYTES and batches[-1]:
            batches.append([])
            size = 0
        batches[-1].append(text)
        size += len(text)
    return [TextColumn.of(string_array(batch)) for batch in batches]


def decided(documents: Documents, rule: str) -> dict[str, list[str | None]]:
    """Return filter -> the limit that each document violates."""
    found = {}
    for named in configured(entries(rule)):
        filter, measures = named.decider(), named.measurer()
        if named.edits:
            values, _ = measures.measure_and_edit(documents)
        else:
            values = measures.measure_documents(documents)
        beyond = filter.beyond({**values, "text_bytes": documents.texts.sizes()})
        found[named.name] = [
            filter.limits[place - 1].setting if place else None for place in beyond.tolist()
        ]
    return found


def documents_of(column: TextColumn) -> Documents:
    rows = column.offsets.size - 1
    return Documents(column, pa.record_batch({"text": pa.nulls(rows)}), [])


def cause(name: str, text: str, words: list[str], theirs: str | None) -> str | None:
    """Return the known cause of a difference; None if there is none."""
    if text == "":
        return "no text: ours has a filter of its own for it"
    if theirs == "ZeroDivisionError":
        return "theirs divides by no words or lines"
    if name == "gopher_repetition":
        if any(" " in word or "\n" in word for word in words):
            return "words with white space in them: theirs takes a b c for one of two ways"
        return "theirs joins words without a space: ab c is a bc"
    return None


def places(sizes: list[int]) -> set[tuple[int, int]]:
    """Return where words begin and end, not counting white space."""
    ends = np.cumsum(sizes).tolist()
    return set(zip([0, *ends], ends, strict=False))


def compared(name: str, texts: list[str], peer: str, rule: str) -> dict:
    """Return documents, megabytes, seconds of both sides, numbers of words, and differences by
    filter and by cause."""
    with tempfile.TemporaryDirectory() as folder:
        documents, out = Path(folder) / "documents.jsonl", Path(folder) / "out.jsonl"
        with open(documents, "w", encoding="utf-8") as file:
            for text in texts:
                file.write(json.dumps({"text": text, "sentences": sentences_of(text)}) + "\n")
        subprocess.run([peer, PEER, documents, out], check=True, stderr=subprocess.DEVNULL)
        with open(out, encoding="utf-8") as lines:
            *theirs, last = map(json.loads, lines)
    columns = columns_of(texts)
    decided(documents_of(columns[0]), rule)  # compile
    start = time.process_time()
    with_own_words = [decided(documents_of(column), rule) for column in columns]
    seconds, differ, own, done = time.process_time() - start, Counter(), Counter(), 0
    words = equal = 0
    for column, by_own in zip(columns, with_own_words, strict=True):
        rows = column.offsets.size - 1
        mine = theirs[done : done + rows]
        of_column, flat = documents_of(column), [w.encode() for one in mine for w in one["words"]]
        first = np.cumsum([0, *(len(one["words"]) for one in mine)]).astype(np.int64)
        found = of_column.words(rule)
        for row, one in enumerate(mine):
            ours = places(found.chars[found.first[row] : found.first[row + 1]].tolist())
            equal += len(ours & places(list(map(len, one["words"]))))
            words += len(one["words"])
        of_column._split[rule] = given_words(first, TextColumn.of(string_array(flat)))
        for filter, ours in decided(of_column, rule).items():
            for row, (one, our) in enumerate(zip(mine, ours, strict=True), done):
                if (one[filter] is None) != (our is None):
                    why = cause(filter, texts[row], one["words"], one[filter])
                    differ[f"{filter}: {why or f'NO CAUSE KNOWN, document {row} of {name}'}"] += 1
                own[filter] += (one[filter] is None) != (by_own[filter][row - done] is None)
        done += rows
    size = sum(len(text.encode()) for text in texts) / 1e6
    return {"documents": len(texts), "megabytes": size, "ours": seconds, "theirs": last["seconds"],
            "words": words, "equal": equal, "own": own, "differ": differ}  # fmt: skip


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--data", type=Path, required=True, nargs="+")
    arguments.add_argument("--peer", required=True)
    arguments.add_argument("--megabytes", type=float, default=20)
    arguments.add_argument("--edges", type=int, default=5000)
    arguments.add_argument("--language")
    arguments.add_argument("--words", default="english", choices=["english", "unicode"])
    told = arguments.parse_args()
    folders = [folder for data in told.data for folder in sorted(data.iterdir()) if folder.is_dir()]
    print(
        "| source | documents | MB | ours MB/s | datatrove MB/s | ratio | decisions differ, same "
        "words | equal words | decisions differ, own words |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|---|")
    causes: Counter = Counter()
    for folder in [*([None] if told.edges else []), *folders]:
        name = f"{folder.parent.name}/{folder.name}" if folder else "made texts"
        most = told.megabytes * 1e6
        texts = texts_of(folder, most, told.language) if folder else edge_cases(told.edges)
        if not texts:
            continue
        found = compared(name, texts, told.peer, told.words)
        causes.update(found["differ"])
        size, ours, theirs = found["megabytes"], found["ours"], found["theirs"]
        own = ", ".join(f"{filter} {count}" for filter, count in found["own"].items() if count)
        print(
            f"| {name} | {found['documents']:,} | {size:,.1f} | {size / ours:,.1f} | "
            f"{size / theirs:,.2f} | {theirs / ours:,.0f} | {found['differ'].total()} | "
            f"{100 * found['equal'] / max(found['words'], 1):.4f} % of {found['words']:,} | "
            f"{own or 0} |",
            flush=True,
        )
    print()
    for why, count in causes.most_common():
        print(f"- {count}: {why}")
    if any("NO CAUSE KNOWN" in why for why in causes):
        sys.exit(1)


if __name__ == "__main__":
    main()
