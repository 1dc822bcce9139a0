"""The ledger and the summary, and that they balance."""

import copy
import csv
import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from qa.oracle.compare_parts import cut_counts
from qa.oracle.compare_steps import policy_of, resolved_row
from qa.oracle.document import Document, Outcome, Part
from qa.oracle.finding import columns_differ, read_json, read_parquet, rows_differ, tree_differ
from qa.oracle.plan import splits_in_order

COLUMNS = {
    "id": "uint64", "source": "string", "file": "string", "line": "uint64", "fate": "string",
    "chars": "uint32", "winner": "uint64", "similarity": "float", "stage": "string",
    "held_out_by": "string", "reason": "string", "split": "string", "copies": "uint16",
    "text_bytes": "uint64", "digest": "uint64", "cuts": "uint32", "cut_bytes": "uint64",
    "whole_digest": "uint64",
}  # fmt: skip

CONFIGURATION = Path(__file__).parents[2] / "docs/reference/configuration.md"
UNSHAPING = re.compile(
    r"^\| `(\w+)\.(\w+)` .* This key does not affect the corpus\. \|$", re.MULTILINE
)


def compare_accounts(results: Path, outcome: Outcome) -> Iterator[str]:
    for number, part in enumerate(outcome.parts):
        name = f"{number:05d}"
        yield from compare_ledger(results, name, part, columns_of(outcome.config))
        expected = ledger_figures(part, outcome)
        got = read_json(results / f"ledger/{name}.json")
        yield from tree_differ(f"results/ledger/{name}.json", got, expected)
    yield from compare_summary(results, outcome)


def columns_of(config: dict) -> dict[str, str]:
    """The columns of the ledger; chars is a value of the filter too_short."""
    filters = {entry["name"] for entry in config["filters"]}
    found = {key: COLUMNS[key] for key in COLUMNS if key != "chars" or "too_short" in filters}
    return found | {f"{stage['name']}_copies": "uint16" for stage in config["stages"]}


def first_bytes(text: str) -> int:
    """Of the SHA-256 of a text, as the ledger has it."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def ledger_row(document: Document, columns: dict) -> dict:
    row = {
        "id": document.id,
        "source": document.source,
        "file": document.file,
        "line": document.line,
        "fate": document.fate,
        "text_bytes": document.text_bytes,
        "digest": first_bytes(document.text),
    }
    if document.cuts:
        row |= {
            "cuts": len(document.cuts),
            "cut_bytes": len(document.before.encode()) - document.text_bytes,
            "whole_digest": first_bytes(document.before),
        }
    if document.fate == "too_short":
        row |= {"chars": len(document.cleaned), "reason": document.filter_reason}
    if document.fate == "empty" and document.cuts:
        row["reason"] = "repeated spans were the last of it"
    if document.fate == "duplicate":
        row |= resolved_row(document)
    if document.fate == "contaminated":
        row["held_out_by"] = document.held_out_by
    if document.fate == "kept":
        row |= {"split": document.split, "copies": document.copies}
        of_stages = document.copies_in or {}
        row |= {
            name: of_stages.get(name.removesuffix("_copies"), 0)
            for name in columns
            if name.endswith("_copies")
        }
    return dict.fromkeys(columns) | row


def compare_ledger(results: Path, name: str, part: Part, columns: dict) -> Iterator[str]:
    quarantine = (results / f"quarantine/{name}.jsonl").read_text().split("\n")
    reasons = [json.loads(line)["reason"] for line in quarantine if line]
    reasons += [None] * (len(part.malformed) - len(reasons))
    expected = [ledger_row(document, columns) for document in part.documents]
    for (file, record), reason in zip(part.malformed, reasons, strict=False):
        row = {"source": file.source, "file": file.path, "line": record.line}
        row |= {"fate": "malformed", "reason": reason}
        expected.append(dict.fromkeys(columns) | row)
    path = results / f"ledger/{name}.parquet"
    yield from columns_differ(f"results/ledger/{name}.parquet", path, columns)
    got = read_parquet(path)
    yield from rows_differ(f"results/ledger/{name}.parquet", got, expected)


def ledger_figures(part: Part, outcome: Outcome) -> dict[str, dict[str, int]]:
    found: dict[str, Counter] = defaultdict(Counter)
    for file, _ in part.malformed:
        found[file.source].update({"documents": 1, "malformed": 1})
    for document in part.documents:
        figures = found[document.source]
        figures.update({"documents": 1, "text_bytes": len(document.before.encode())})
        figures.update({document.fate: 1, f"{document.fate}_bytes": document.text_bytes})
        if document.fate == "kept":
            figures["copies"] += document.copies
            for split, copies in outcome.copies_of(document).items():
                figures[f"{split}_copies"] += copies
        if document.cuts:
            cut = cut_counts([document])
            figures.update({"cut_spans": cut["spans"], "cut_bytes": cut["bytes"]})
    return {source: dict(figures) for source, figures in found.items()}


def account(documents: list[Document], malformed: int, outcome: Outcome, cuts: bool) -> dict:
    """`documents`, `bytes`, `tokens`, `tokenization` of the summary, for these documents."""
    tokens = outcome.tokens
    kept = [document for document in documents if document.fate == "kept"]
    dropped = Counter(document.fate for document in documents if document.fate != "kept")
    dropped_bytes: Counter = Counter()
    for document in documents:
        if document.fate != "kept":
            dropped_bytes[document.fate] += document.text_bytes
    ids: Counter = Counter()
    for document in kept:
        for split, copies in outcome.copies_of(document).items():
            ids[split] += copies * (len(tokens.ids(document.text)) + 1)
    bytes_ = {
        "in": sum(len(document.before.encode()) for document in documents),
        "kept": sum(document.text_bytes for document in kept),
        "dropped": dict(dropped_bytes),
        "written": sum(document.text_bytes * document.copies for document in kept),
    }
    if cuts:
        bytes_["cut"] = cut_counts(documents)["bytes"]
    written = sum(document.copies for document in kept)
    return {
        "documents": {
            "in": len(documents) + malformed,
            "kept": len(kept),
            "dropped": {**dropped, "malformed": malformed},
            "written": written,
        },
        "bytes": bytes_,
        "tokens": {split: ids[split] for split in splits_in_order(outcome.config)},
        "tokenization": tokenization(kept, tokens, sum(ids.values()) - written),
    }


def tokenization(kept: list[Document], tokens, ids_of_text: int) -> dict:
    sums = tokens.losses([document for document in kept for _ in range(document.copies)])
    lost = sums["lost_characters"] / sums["characters"] if sums["characters"] else 0
    unknown = sums["unknown_tokens"] / ids_of_text if ids_of_text else 0
    return {**sums, "lost_fraction": round(lost, 6), "unknown_fraction": round(unknown, 6)}


def compare_funnel(results: Path, expected: dict) -> Iterator[str]:
    """expected: the summary."""
    wanted = {}
    for source, figures in {"all sources": expected, **expected["sources"]}.items():
        documents, bytes_ = figures["documents"], figures["bytes"]
        for what in ("kept", *documents["dropped"]):
            of = (
                (documents, bytes_) if what == "kept" else (documents["dropped"], bytes_["dropped"])
            )
            wanted[source, what] = (of[0][what], of[1].get(what, 0))
        wanted[source, "records in"] = (documents["in"], bytes_["in"])
        wanted[source, "copies written"] = (documents["written"], bytes_["written"])
        wanted[source, "spans cut out"] = (0, bytes_.get("cut", 0))
    with open(results / "report/funnel.csv", newline="") as file:
        got = {
            (row["source"], row["what"]): (int(row["documents"] or 0), int(row["text_bytes"] or 0))
            for row in csv.DictReader(file)
        }
    some = [sorted((k, v) for k, v in rows.items() if any(v)) for rows in (got, wanted)]
    yield from rows_differ("results/report/funnel.csv", *some)


def compare_summary(results: Path, outcome: Outcome) -> Iterator[str]:
    documents = list(outcome.documents())
    malformed = Counter(file.source for part in outcome.parts for file, _ in part.malformed)
    cuts = outcome.config["spans"]["unit"] != "none"
    accounts = {
        source: account(
            [d for d in documents if d.source == source], malformed[source], outcome, cuts
        )
        for source in outcome.sources()
    }
    for source in read_json(results / "duplicates.json").get("sources", {}):
        stages = Counter(d.stage for d in documents if d.source == source and d.fate == "duplicate")
        accounts[source]["duplicates"] = {"policy": policy_of(outcome, source), **stages}
    config = copy.deepcopy(outcome.config)
    for section, key in UNSHAPING.findall(CONFIGURATION.read_text()):
        del config[section][key]
    if config["shuffle"]["order"] == "shuffled":
        del config["shuffle"]["order"]
    config = json.loads(json.dumps(config))
    expected = {
        "corpusmill.summary": 1,
        **account(documents, malformed.total(), outcome, cuts),
        "sources": accounts,
        "balanced": True,
        "duplicates": dict(Counter(d.stage for d in documents if d.fate == "duplicate")),
        "config_digest": hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()[
            :16
        ],
        "configuration": config,
    }
    if cuts:
        spans = cut_counts(documents)
        unit = outcome.config["spans"]["unit"]
        expected["spans"] = {"unit": unit, "cut": spans["spans"], "cut_bytes": spans["bytes"]}
    expected["tokenizer"] = {
        name: read_json(results / "tokenizer/corpusmill.json")[name]
        for name in ("source", "end_of_text", "end_of_text_id", "vocabulary")
    }
    yield from compare_funnel(results, expected)
    summary = read_json(results / "summary.json")
    yield from compare_mixture(summary.get("mixture"), outcome)
    yield from compare_order(summary.get("order", {}), outcome)
    got = {key: summary.get(key) for key in expected}
    yield from tree_differ("results/summary.json", got, expected)
    yield from unbalanced("results/summary.json", summary)
    for source, figures in summary.get("sources", {}).items():
        yield from unbalanced(f"results/summary.json: {source}", figures)


def compare_mixture(told: dict | None, outcome: Outcome) -> Iterator[str]:
    """The cells of the summary."""
    names = ("documents", "size", "reached", "documents_by_copies")
    for stage in {**(told or {}), **(outcome.mixture or {})}:
        got = [
            {"cell": tuple(one["cell"])} | {name: one[name] for name in names}
            for one in (told or {}).get(stage, {"cells": []})["cells"]
        ]
        cells = (outcome.mixture or {}).get(stage, {})
        expected = [{"cell": cell} | figures for cell, figures in cells.items()]
        yield from rows_differ(f"results/summary.json: mixture of {stage}", got, expected)


def compare_order(told: dict, outcome: Outcome) -> Iterator[str]:
    """The bands of the summary."""
    for split in {**told, **outcome.order}:
        bands = told.get(split, {"bands": []})["bands"]
        got = [{name: value for name, value in one.items() if name != "band"} for one in bands]
        expected = outcome.order.get(split, [])
        yield from rows_differ(f"results/summary.json: order of {split}", got, expected)


def unbalanced(name: str, figures: dict) -> Iterator[str]:
    """What comes in is what is kept and dropped (and cut), by what the run says itself."""
    for kind in ("documents", "bytes"):
        count = figures.get(kind, {})
        out = count.get("kept", 0) + sum(count.get("dropped", {}).values()) + count.get("cut", 0)
        if count.get("in", 0) != out:
            yield f"{name}: {kind}: {count.get('in')} in, {out} kept, dropped and cut"
