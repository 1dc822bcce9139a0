"""Plan, text parts, quarantine, cuts, filter, sketches: what stands row by row beside a part."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from qa.oracle.document import Document, Outcome, Part
from qa.oracle.finding import (
    forgive_floats,
    input_facts,
    read_json,
    read_parquet,
    rows_differ,
    some_members,
    tree_differ,
)
from qa.oracle.mixture import member_value, members_of_mixtures
from qa.oracle.reading import members_json

FILTER_COLUMNS = {
    "fate": "dictionary<values=string, indices=uint8, ordered=0>", "reason": "string",
}  # fmt: skip
MEASURE_COLUMNS = {
    "text_bytes": "uint64",
    "source": "dictionary<values=string, indices=int32, ordered=0>",
}  # fmt: skip
# What follows these words is not documented.
OPEN_REASONS = ("not JSON: ", "not UTF-8 (")


def read_arrow(path: Path) -> pa.Table:
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all()


def compare_parts(results: Path, outcome: Outcome) -> Iterator[str]:
    yield from compare_plan(results, outcome)
    yield from compare_admitted(results, outcome)
    for number, part in enumerate(outcome.parts):
        name = f"{number:05d}"
        yield from compare_text(results, f"text/{name}", part, "before")
        yield from compare_quarantine(results, name, part)
        if outcome.config["spans"]["unit"] != "none":
            yield from compare_text(results, f"cut/{name}", part, "text")
            yield from compare_cut(results, name, part)
        yield from compare_filter(results, name, part)
        yield from compare_measures(results, name, part, outcome)
        yield from compare_sketches(results, name, part, outcome)


def compare_plan(results: Path, outcome: Outcome) -> Iterator[str]:
    lines = (results / "plan/parts.jsonl").read_text().splitlines()
    heading = {"corpusmill.plan": 1, "part_bytes": outcome.config["input"]["part_bytes"]}
    expected: list[dict] = [heading]
    for number, part in enumerate(outcome.parts):
        files = []
        for file in part.files:
            stat = (results.parent / file.path).stat()
            is_demo = file.path.startswith("results/demo/")
            facts = {"bytes": stat.st_size, "mtime_ns": stat.st_mtime_ns}
            facts = dict.fromkeys(facts) if is_demo else facts
            text_bytes = file.expected_bytes
            files.append(
                {"source": file.source, "path": file.path, "text_bytes": text_bytes, **facts}
            )
        expected.append({"part": number, "generation": part.generation, "files": files})
    yield from rows_differ("results/plan/parts.jsonl", [json.loads(x) for x in lines], expected)
    parts = [
        {"generation": part.generation, "paths": [file.path for file in part.files]}
        for part in outcome.parts
    ]
    finished = {"part_bytes": outcome.config["input"]["part_bytes"], "parts": parts}
    got = read_json(results / "plan/record.json").get("finished")
    manifest = read_json(results / "manifest.json")
    finished["inputs"] = {file["path"]: file["sha256"] for file in manifest["inputs"]}
    yield from tree_differ("results/plan/record.json", {"finished": got}, {"finished": finished})


def text_counts(part: Part) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for file in part.files:
        found.setdefault(file.source, {"records": 0, "malformed": 0, "text_bytes": 0})
    for document in part.documents:
        found[document.source]["records"] += 1
        found[document.source]["text_bytes"] += len(document.before.encode())
    for file, _ in part.malformed:
        found[file.source]["records"] += 1
        found[file.source]["malformed"] += 1
    return found


def compare_admitted(results: Path, outcome: Outcome) -> Iterator[str]:
    expected: dict[str, dict[str, int]] = {}
    for part in outcome.parts:
        for source, counts in text_counts(part).items():
            sums = expected.setdefault(source, dict.fromkeys(counts, 0))
            for key, count in counts.items():
                sums[key] += count
    got = read_json(results / "admitted.json")
    yield from tree_differ("results/admitted.json", got, expected)


def compare_text(results: Path, name: str, part: Part, which: str) -> Iterator[str]:
    table = read_arrow(results / f"{name}.arrow")
    files = json.loads(table.schema.metadata[b"files"])
    got = [
        {**row, "file": files[row["file"]]["path"], "source": files[row["file"]]["source"]}
        for row in table.to_pylist()
    ]
    expected = [
        {
            "text": getattr(document, which),
            "rest": members_json(document.members).encode(),
            "file": document.file,
            "line": document.line,
            "source": document.source,
        }
        for document in part.documents
    ]
    # Of what was written: a float of Parquet may have another spelling of another length here.
    largest = max((len(row["text"].encode()) + len(row["rest"]) for row in got), default=0)
    for ours, row in zip(got, expected, strict=False):
        if row["file"].endswith(".parquet"):
            ours["rest"] = forgive_floats(ours["rest"], row["rest"])
    yield from rows_differ(f"results/{name}.arrow", got, expected)
    if which == "before":
        facts = {
            "documents": len(part.documents),
            "largest": largest,
            "by_source": text_counts(part),
            "files": [input_facts(results.parent, file) for file in part.files],
        }
        yield from tree_differ(f"results/{name}.json", read_json(results / f"{name}.json"), facts)


def compare_quarantine(results: Path, name: str, part: Part) -> Iterator[str]:
    lines = (results / f"quarantine/{name}.jsonl").read_text().split("\n")
    got = [json.loads(line) for line in lines if line]
    expected = [
        {
            "source": file.source,
            "file": file.path,
            "line": record.line,
            "offset": record.offset,
            "reason": record.reason,
            "start": record.start,
        }
        for file, record in part.malformed
    ]
    for ours, row, (_, record) in zip(got, expected, part.malformed, strict=False):
        if ours["reason"] == record.or_reason:
            row["reason"] = record.or_reason
        if any(str(r["reason"]).startswith(OPEN_REASONS) for r in (ours, row)):
            ours["reason"], row["reason"] = map(documented, (ours["reason"], row["reason"]))
    yield from rows_differ(f"results/quarantine/{name}.jsonl", got, expected)


def documented(reason: str) -> str:
    """As much of a reason as is documented."""
    return next((prefix for prefix in OPEN_REASONS if reason.startswith(prefix)), reason)


def cut_counts(documents: list[Document]) -> dict[str, int]:
    return {
        "spans": sum(len(document.cuts) for document in documents),
        "bytes": sum(len(d.before.encode()) - d.text_bytes for d in documents),
    }


def compare_cut(results: Path, name: str, part: Part) -> Iterator[str]:
    expected = [
        {"id": d.id, "start": span.start, "end": span.end, "key": span.key, "first": span.first}
        for d in part.documents
        for span in d.cuts
    ]
    got = read_parquet(results / f"cut/{name}.parquet")
    yield from rows_differ(f"results/cut/{name}.parquet", got, expected)
    before = np.load(results / f"cut/{name}.npy")
    rows = [
        (int(row["row"]), bytes(row["digest"]).ljust(32, b"\0"), int(row["text_bytes"]))
        for row in before
    ]
    texts = [(d.id & 0xFFFFFFFF, d.before.encode()) for d in part.documents if d.cuts]
    wanted = [(row, hashlib.sha256(text).digest(), len(text)) for row, text in texts]
    yield from rows_differ(f"results/cut/{name}.npy", rows, wanted)
    sources = {document.source for document in part.documents}
    by_source = {s: cut_counts([d for d in part.documents if d.source == s]) for s in sources}
    facts = {**cut_counts(part.documents), "by_source": by_source}
    told = read_json(results / f"cut/{name}.json")
    got = {key: told.get(key) for key in facts}
    yield from tree_differ(f"results/cut/{name}.json", got, facts)


def compare_filter(results: Path, name: str, part: Part) -> Iterator[str]:
    table, columns = read_arrow(results / f"filter/{name}.arrow"), FILTER_COLUMNS
    got = {field.name: str(field.type) for field in table.schema}
    if list(got.items()) != list(columns.items()):
        yield f"results/filter/{name}.arrow: columns {got}, expected {columns}"
    expected = [
        {"fate": document.filter_fate, "reason": document.filter_reason}
        for document in part.documents
    ]
    yield from rows_differ(f"results/filter/{name}.arrow", table.to_pylist(), expected)


def compare_measures(results: Path, name: str, part: Part, outcome: Outcome) -> Iterator[str]:
    table, columns = read_arrow(results / f"measures/{name}.arrow"), MEASURE_COLUMNS
    if prefers := outcome.config["dedup"]["prefer"]["field"] is not None:
        columns = columns | {"preference": "large_binary"}
        yield from compare_notes(f"results/measures/{name}.arrow", table, part)
    within = outcome.config["dedup"]["within"]
    member = {} if within is None else {f"member:{within}": "string"}
    columns = columns | member
    measured = [
        {
            "text_bytes": document.text_bytes,
            "source": document.source,
            **({"preference": document.preference} if prefers else {}),
            **dict.fromkeys(member, document.value),
        }
        for document in part.documents
    ]
    if any(entry["name"] == "too_short" for entry in outcome.config["filters"]):
        columns = {"chars": "uint32"} | columns
        for row, document in zip(measured, part.documents, strict=True):
            row["chars"] = len(document.cleaned)
    order = outcome.config["shuffle"]["order"]
    by = order["by"] if isinstance(order, dict) else None
    of_order = [by["member"]] if isinstance(by, dict) else []
    for member in sorted({*members_of_mixtures(outcome.config), *of_order}):
        columns = columns | {f"member:{member}": "string"}
        for row, document in zip(measured, part.documents, strict=True):
            row[f"member:{member}"] = member_value(member, document)
    got = {field.name: str(field.type) for field in table.schema}
    if list(got.items()) != list(columns.items()):
        yield f"results/measures/{name}.arrow: columns {got}, expected {columns}"
    yield from rows_differ(f"results/measures/{name}.arrow", table.to_pylist(), measured)


def first_places(documents: list[Document]) -> dict[str, str]:
    """File and line of the first number and the first text in the preferred field."""
    found: dict[str, str] = {}
    for document in documents:
        found.setdefault(document.preferred_kind, f"{document.file}:{document.line}")
    found.pop("none", None)
    return found


def preferred_kinds(documents: list[Document]) -> dict[str, Counter]:
    """Source -> how many of its documents have a number, a text, or none."""
    found: dict[str, Counter] = {}
    for document in documents:
        found.setdefault(document.source, Counter()).update([document.preferred_kind])
    return found


def compare_notes(name: str, table: pa.Table, part: Part) -> Iterator[str]:
    notes = json.loads((table.schema.metadata or {}).get(b"corpusmill.notes", b"{}"))
    expected = {"places": first_places(part.documents), "kinds": preferred_kinds(part.documents)}
    yield from tree_differ(f"{name}: notes", some_members(notes, expected), expected)


def compare_sketches(results: Path, name: str, part: Part, outcome: Outcome) -> Iterator[str]:
    signatures = np.load(results / f"signatures/{name}.npy")
    exact = outcome.config["dedup"]["method"] == "exact"
    shape = (len(part.documents), 0 if exact else outcome.config["minhash"]["permutations"])
    if signatures.shape != shape:
        yield f"results/signatures/{name}.npy: shape {signatures.shape}, expected {shape}"
    else:
        expected = [list(document.sketch) for document in part.documents]
        yield from rows_differ(f"results/signatures/{name}.npy", signatures.tolist(), expected)
    digests = [row.tobytes() for row in np.load(results / f"digests/{name}.npy")]
    expected = [document.digest for document in part.documents]
    yield from rows_differ(f"results/digests/{name}.npy", digests, expected)
