"""Tables that steps hand to one another: bands, spans, scatter files, barriers, samples."""

import hashlib
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from qa.oracle import fate
from qa.oracle.dedup import compares_texts, is_banded
from qa.oracle.document import Document, Outcome, Part
from qa.oracle.finding import (
    content_digest,
    read_json,
    reports_of,
    rows_differ,
    some_members,
    tree_differ,
)
from qa.oracle.plan import splits_in_order
from qa.oracle.sketches import bands_and_rows, bands_of
from qa.oracle.spans import spans_of

KEY_START = 0x9E3779B97F4A7C15
# What the counts of a step say of files: members with paths, the one with their digests in a row.
NAMED = {
    "spans": [("file", "digest")],
    "repeats": [("file", "digest")],
    "pairs": [("file", "digest")],
    "extracts": [("data", "digest"), ("edges", "edges_digest")],
    "resolved": [("file", "digest"), ("winners", "winners_digest")],
    "assign": [("file", "digest")],
    "scatter": [("data", "digest")],
}


def compare_tables(results: Path, outcome: Outcome) -> Iterator[str]:
    cuts = outcome.config["spans"]["unit"] != "none"
    for number, part in enumerate(outcome.parts):
        name = f"{number:05d}"
        yield from compare_bands(results, name, part, outcome)
        yield from compare_scatter(results, name, part, outcome)
        if cuts:
            yield from compare_spans(results, name, part, outcome)
    if cuts:
        yield from compare_repeats(results, outcome)
    for step, named in NAMED.items():
        if cuts or step not in ("spans", "repeats"):
            yield from compare_named(results, step, named)
    yield from compare_tokenizer(results, outcome)
    yield from compare_samples(results, outcome)
    yield from compare_groups(results, outcome)


def band_key(values: tuple[int, ...]) -> int:
    key = KEY_START
    for value in values:
        key = fate.mix((key + KEY_START + value) % 2**64)
    return key


def salted(key: int, document: Document, outcome: Outcome) -> int:
    """A key that no document with another value of dedup.within has."""
    if outcome.config["dedup"]["within"] is None:
        return key
    digest = hashlib.sha256((document.value or "").encode()).digest()
    salt = 0 if document.value is None else int.from_bytes(digest[:8], "big")
    return fate.mix((key + salt) % 2**64)


def compare_bands(results: Path, name: str, part: Part, outcome: Outcome) -> Iterator[str]:
    exact = outcome.config["dedup"]["method"] == "exact"
    bands, rows = bands_and_rows(outcome.config)
    with open(results / f"bands/{name}.npy", "rb") as file:
        keys, places = np.load(file), np.load(file)
    banded = [d for d in part.documents if is_banded(d, outcome.config)]
    entries = [(d.id & 0xFFFFFFFF, d) for d in banded]
    split = [
        (row, [salted(band_key(b), d, outcome) for b in bands_of(d.sketch, bands, rows)])
        for row, d in entries
    ]
    expected = [sorted((of_row[band], row) for row, of_row in split) for band in range(bands)]
    if not exact:
        for band in range(bands):
            got = list(zip(keys[band].tolist(), places[band].tolist(), strict=True))
            yield from rows_differ(f"results/bands/{name}.npy: band {band}", got, expected[band])
    yield from compare_text_keys(results, name, part, outcome)
    taking_part = sum(d.takes_part and d.policy == "near" for d in part.documents)
    facts = {"documents": len(part.documents), "banded": taking_part if exact else len(entries)}
    told = some_members(read_json(results / f"bands/{name}.json"), facts)
    yield from tree_differ(f"results/bands/{name}.json", told, facts)


def compare_text_keys(results: Path, name: str, part: Part, outcome: Outcome) -> Iterator[str]:
    """The keys by which equal texts meet."""
    expected = sorted(
        (salted(int.from_bytes(d.digest[:8], "big"), d, outcome), d.id & 0xFFFFFFFF)
        for d in part.documents
        if d.takes_part and d.policy != "none" and compares_texts(d, outcome.config)
    )
    with open(results / f"bands/{name}.texts.npy", "rb") as file:
        keys, rows = np.load(file), np.load(file)
    got = list(zip(keys.ravel().tolist(), rows.ravel().tolist(), strict=True))
    yield from rows_differ(f"results/bands/{name}.texts.npy", got, expected)


def compare_spans(results: Path, name: str, part: Part, outcome: Outcome) -> Iterator[str]:
    settings = outcome.config["spans"]
    whole = {s["name"] for s in outcome.config["sources"] if not s.get("cut_spans", True)}
    expected = sorted(
        (key, (document.id & 0xFFFFFFFF) << 32 | first)
        for document in part.documents
        if document.source not in whole
        for first, key in spans_of(
            document.before, settings["unit"], settings["width"], settings["min_chars"]
        )
    )
    keys, places = np.load(results / f"spans/{name}.npy").tolist()
    got = list(zip(keys, places, strict=True))
    yield from rows_differ(f"results/spans/{name}.npy", got, expected)


def compare_repeats(results: Path, outcome: Outcome) -> Iterator[str]:
    reports = reports_of(results, "repeats")
    got = []
    for bucket, report in enumerate(reports):
        table = np.load(results.parent / report["file"])
        rows = list(zip(*table.tolist(), strict=True))
        got += rows
        first = bucket * 2**64 // len(reports)
        last = (bucket + 1) * 2**64 // len(reports)
        if any(not first <= key < last for _, _, key, _ in rows):
            yield f"{report['file']}: a key that belongs to another bucket"
        if rows != sorted(rows) or report["repeats"] != len(rows):
            yield f"{report['file']}: not in order, or not as many as told"
    expected = [(d.id, c.unit, c.key, c.first) for d in outcome.documents() for c in d.cuts]
    yield from rows_differ("results/repeats", sorted(got), sorted(expected))


def compare_scatter(results: Path, name: str, part: Part, outcome: Outcome) -> Iterator[str]:
    data = (results / f"scatter/{name}.arrows").read_bytes()
    starts = np.load(results / f"scatter/{name}.npy").tolist()
    splits = splits_in_order(outcome.config)
    targets = [(split, k) for split in splits for k in range(outcome.shard_counts[split])]
    ours = {document.id for document in part.documents}
    for target, (split, shard) in enumerate(targets):
        streams = [data[window[target] : window[target + 1]] for window in starts]
        tables = [pa.ipc.open_stream(io.BytesIO(one)).read_all() for one in streams if one]
        got = [row for table in tables for row in table.to_pylist()]
        if len(tables) > 1:  # each window has its own order
            got.sort(key=lambda row: (row["key"], row["id"]))
        expected = [
            {"key": key, "id": id_, "copy": copy, "source": document.source, "text": document.text}
            for key, id_, copy, document in outcome.shards[split, shard]
            if id_ in ours
        ]
        got = [{key: row[key] for key in ("key", "id", "copy", "source", "text")} for row in got]
        yield from rows_differ(f"results/scatter/{name}.arrows: {split} {shard}", got, expected)
    copies = sum(row[1] in ours for rows in outcome.shards.values() for row in rows)
    told = read_json(results / f"scatter/{name}.json")
    yield from tree_differ(
        f"results/scatter/{name}.json", some_members(told, {"documents": 0}), {"documents": copies}
    )


def compare_named(results: Path, step: str, named: list[tuple[str, str]]) -> Iterator[str]:
    """Each report holds the digest of its files; a barrier holds what each report says."""
    reports, barrier = reports_of(results, step), results / step / "complete.json"
    if barrier.exists() and read_json(barrier)["parts"] != reports:
        yield f"results/{step}/complete.json: not what the counts of its jobs say"
    for report in reports:
        for members, digest in named:
            paths = [report[member] for member in members.split()]
            names = [path.removeprefix("results/") for path in paths]
            there = all((results / name).exists() for name in names)
            if not there or "".join(content_digest(results, n) for n in names) != report[digest]:
                yield f"{' and '.join(paths)}: not what the counts of {step} say"


def compare_groups(results: Path, outcome: Outcome) -> Iterator[str]:
    labels = np.load(results / "groups/labels.npy").tolist()
    starts = np.load(results / "groups/starts.npy").tolist()
    expected = np.cumsum([0] + [len(part.documents) for part in outcome.parts]).tolist()
    yield from rows_differ("results/groups/starts.npy", starts, expected)
    paired = {id_ for pair in outcome.resolution.pairs for id_ in pair[:2]}
    wanted = [document.id in paired for document in outcome.documents()]
    yield from rows_differ("results/groups/labels.npy: in a pair", [x > 0 for x in labels], wanted)
    labelled = zip(outcome.documents(), labels, strict=False)
    bin_of = {document.id: (label - 1) // 2 for document, label in labelled}
    if any(bin_of[a] != bin_of[b] for a, b, _ in outcome.resolution.pairs):
        yield "results/groups/labels.npy: a pair is in two bins"


def compare_tokenizer(results: Path, outcome: Outcome) -> Iterator[str]:
    tokens = outcome.tokens
    expected = {
        "source": outcome.tokenizer_name(),
        "vocabulary": tokens.vocabulary,
        "end_of_text": tokens.tokenizer.convert_ids_to_tokens(tokens.end_of_text),
        "end_of_text_id": tokens.end_of_text,
        "dtype": tokens.dtype,
        "unknown_ids": sorted(tokens.unknown),
    }
    told = some_members(read_json(results / "tokenizer/corpusmill.json"), expected)
    yield from tree_differ("results/tokenizer/corpusmill.json", told, expected)


def compare_samples(results: Path, outcome: Outcome) -> Iterator[str]:
    names = [f"verify/{split}/{shard:05d}.txt" for split, shard in outcome.shards]
    samples = Counter((results / name).read_text() for name in names if (results / name).exists())
    if samples.total() != len(names):
        yield f"results/verify: {samples.total()} samples, expected {len(names)}"
    everything = (results / "eye_test.txt").read_text()
    if any(sample not in everything for sample in samples):
        yield "results/eye_test.txt: a sample of results/verify is not in it"
