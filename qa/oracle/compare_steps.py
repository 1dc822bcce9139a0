"""Pairs, duplicates, fates, held-out texts: what steps between text parts and shards decided."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from qa.oracle.compare_parts import first_places, preferred_kinds, read_arrow
from qa.oracle.document import Document, Outcome, Part
from qa.oracle.fate import ORIGINS, digests_of
from qa.oracle.finding import (
    read_json,
    read_parquet,
    reports_of,
    rows_differ,
    some_members,
    tree_differ,
)
from qa.oracle.plan import SPLITS

STAGES = {None: 0, "identical": 1, "sketch": 2, "shingles": 3, "band": 4, "chain": 5}


def compare_steps(results: Path, outcome: Outcome) -> Iterator[str]:
    yield from compare_pairs(results, outcome)
    yield from compare_resolved(results, outcome)
    yield from compare_duplicates(results, outcome)
    for number, part in enumerate(outcome.parts):
        yield from compare_assign(results, f"{number:05d}", part, outcome)
        yield from compare_clusters(results, f"{number:05d}", part)
    yield from compare_held_out(results, outcome)


def single(similarity: float | None) -> float | None:
    """As a 32-bit number holds it."""
    return None if similarity is None else float(np.float32(similarity))


def tables(results: Path, step: str) -> list[np.ndarray]:
    """The `.npy` files that the counts of a step name."""
    return [np.load(results.parent / report["file"]) for report in reports_of(results, step)]


def compare_pairs(results: Path, outcome: Outcome) -> Iterator[str]:
    got = {
        (int(pair["a"]), int(pair["b"]), int(pair["matches"]))
        for table in tables(results, "pairs")
        for pair in table
    }
    expected = outcome.resolution.pairs
    wrong = got ^ expected
    for pair in sorted(wrong)[:3]:
        told = "expected it not" if pair in got else "expected it"
        yield f"results/pairs: {pair[:2]} with {pair[2]} equal values: {told}"
    if len(wrong) > 3:
        yield f"results/pairs: {len(wrong) - 3} more differ"


def resolved_row(document: Document) -> dict:
    return {
        "id": document.id,
        "winner": document.winner,
        "similarity": single(document.similarity),
        "stage": document.stage,
    }


def compare_resolved(results: Path, outcome: Outcome) -> Iterator[str]:
    names = {number: name for name, number in STAGES.items()}
    got = [
        {
            "id": int(row["id"]),
            "winner": int(row["winner"]),
            "similarity": None if np.isnan(row["similarity"]) else float(row["similarity"]),
            "stage": names.get(int(row["stage"]), int(row["stage"])),
        }
        for table in tables(results, "resolved")
        for row in table
    ]
    expected = [resolved_row(d) for d in outcome.documents() if d.winner is not None]
    yield from rows_differ("results/resolved", sorted(got, key=lambda row: row["id"]), expected)
    winners = Counter(d.winner for d in outcome.documents() if d.winner is not None)
    clusters = [
        (d.id, winners[d.id], d.cluster_sources) for d in outcome.documents() if d.id in winners
    ]
    files = [report["winners"] for report in reports_of(results, "resolved")]
    rows = [tuple(map(int, row)) for file in files for row in np.load(results.parent / file)]
    yield from rows_differ("results/resolved: winners", sorted(rows), clusters)


def compare_duplicates(results: Path, outcome: Outcome) -> Iterator[str]:
    duplicates = [d for d in outcome.documents() if d.fate == "duplicate"]
    sources = {}
    for source in outcome.sources():
        kept = sum(d.source == source and d.filter_fate == "kept" for d in outcome.documents())
        sources[source] = {"documents": kept, **duplicates_of(source, duplicates)}
    prefers = outcome.config["dedup"]["prefer"]["field"] is not None
    expected = {
        "dropped": dict(Counter(document.stage for document in duplicates)),
        "pairs": outcome.resolution.edges,
        "measured": outcome.resolution.measured,
        "sources": sources,
        "clusters": cluster_sizes(outcome),
        "prefer": Counter(d.preferred_kind for d in outcome.documents()) if prefers else {},
    }
    got = read_json(results / "duplicates.json")
    got = {key: got.get(key, {}) for key in expected}
    for source, counts in got["sources"].items():
        expected["sources"][source]["policy"] = policy_of(outcome, source)
        share = counts.pop("share", 0)
        right = counts["duplicates"] / counts["documents"] if counts["documents"] else 0
        if abs(share - right) > 1e-4:
            yield f"results/duplicates.json: sources.{source}.share: {share}, expected {right}"
    yield from tree_differ("results/duplicates.json", got, expected)


def duplicates_of(source: str, duplicates: list[Document]) -> dict:
    """How many of them are of a source, in all and by stage."""
    stages = Counter(document.stage for document in duplicates if document.source == source)
    return {"duplicates": stages.total(), "stages": dict(stages)}


def policy_of(outcome: Outcome, source: str) -> str:
    of_source = (s for s in outcome.config["sources"] if s["name"] == source)
    return next(of_source).get("duplicates", "near")


def cluster_sizes(outcome: Outcome) -> list[dict]:
    """How many clusters, kept document and all dropped for it, have 2, 3, 4, 5, 6 to 10, 11 to 20,
    21 to 50 documents and so on."""
    dropped_for = Counter(d.winner for d in outcome.documents() if d.winner is not None)
    bounds = [(1, 2), (2, 3), (3, 4), (4, 5), (5, 10)]
    bounds += [(a * 10**k, b * 10**k) for k in range(1, 5) for a, b in ((1, 2), (2, 5), (5, 10))]
    found = []
    for below, most in bounds:
        sizes = [count + 1 for count in dropped_for.values() if below < count + 1 <= most]
        if sizes:
            found.append(
                {"least": below + 1, "most": most, "clusters": len(sizes), "documents": sum(sizes)}
            )
    return found


def decision(document: Document) -> dict:
    """What `assign` decides of a document; of one that a filter dropped, nothing."""
    return {
        "fate": document.assigned,
        "winner": document.id if document.winner is None else document.winner,
        "similarity": single(document.similarity),
        "stage": STAGES[document.stage],
        "split": SPLITS.index(document.split),
        "copies": document.assigned_copies,
    }


def compare_assign(results: Path, name: str, part: Part, outcome: Outcome) -> Iterator[str]:
    got = read_arrow(results / f"assign/{name}.arrow").to_pylist()
    for row in got:
        row["similarity"] = None if np.isnan(row["similarity"]) else row["similarity"]
    expected = [decision(document) for document in part.documents]
    yield from rows_differ(f"results/assign/{name}.arrow", got, expected)
    duplicates = [document for document in part.documents if document.fate == "duplicate"]
    by_source: dict[str, Counter] = {}
    for document in part.documents:
        if document.filter_fate == "kept":
            counts = by_source.setdefault(document.source, Counter())
            counts.update(documents=1, duplicates=int(document.fate == "duplicate"))
            counts.update([document.stage] if document.fate == "duplicate" else [])
    facts = {
        "winners": sum(document.winner is not None for document in part.documents),
        "stages": dict(Counter(document.stage for document in duplicates)),
        "by_source": by_source,
    }
    prefers = outcome.config["dedup"]["prefer"]["field"] is not None
    facts["prefer"] = preferred_kinds(part.documents) if prefers else {}
    facts["prefer_places"] = first_places(part.documents) if prefers else {}
    told = some_members(read_json(results / f"assign/{name}.json"), facts)
    yield from tree_differ(f"results/assign/{name}.json", told, facts)


def compare_clusters(results: Path, name: str, part: Part) -> Iterator[str]:
    expected = [resolved_row(d) for d in part.documents if d.fate == "duplicate"]
    got = read_parquet(results / f"clusters/{name}.parquet")
    yield from rows_differ(f"results/clusters/{name}.parquet", got, expected)


def compare_held_out(results: Path, outcome: Outcome) -> Iterator[str]:
    expected = {digest: ORIGINS.index(o) + 1 for digest, o in outcome.held_out.items()}
    yield from compare_digests(results, "all", expected)
    path = "evaluation"
    if outcome.evaluation or (results / f"holdout/{path}.npy").exists():
        yield from compare_digests(results, path, dict.fromkeys(outcome.evaluation, 3))
    for number, part in enumerate(outcome.parts):
        own: dict[bytes, int] = {}
        for origin in ("test", "validation"):
            for document in part.documents:
                if document.split == origin and document.fate == "kept":
                    own.update(dict.fromkeys(digests_of(document), ORIGINS.index(origin) + 1))
        yield from compare_digests(results, f"{number:05d}", own)
    blocks = sorted((results / "holdout").glob("*.arrow"))
    got = [row for block in blocks for row in read_arrow(block).to_pylist()]
    marks = [{"held_out_by": mark_of(document, outcome)} for document in outcome.documents()]
    yield from rows_differ("results/holdout", got, marks)


def mark_of(document: Document, outcome: Outcome) -> int:
    """Who holds its text out, as it is or else as it was: 0 for nobody."""
    origins = [outcome.held_out.get(digest) for digest in digests_of(document)]
    return next((ORIGINS.index(origin) + 1 for origin in origins if origin), 0)


def compare_digests(results: Path, name: str, expected: dict[bytes, int]) -> Iterator[str]:
    table = np.load(results / f"holdout/{name}.npy")
    # Each record is 32 bytes of digest and one of origin, whatever the fields are typed as.
    got = [(bytes(row[:32]), int(row[32])) for row in table.view(np.uint8).reshape(-1, 33)]
    yield from rows_differ(f"results/holdout/{name}.npy", got, sorted(expected.items()))
