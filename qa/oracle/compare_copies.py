"""The copies of documents in every place: the same documents, equally often.

Nothing here is expected by the oracle: ledger, account of the mixture, text shards, placements and
packed rows of one run are compared with one another.
"""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from qa.oracle.compare_shards import text_ending
from qa.oracle.document import Outcome
from qa.oracle.finding import read_json, read_parquet
from qa.oracle.plan import splits_in_order
from qa.oracle.reading import zstd_frame

Copies = Counter[tuple[int, int]]
"""(id of the document, number of the copy) -> how often it is there."""
MOST_TOLD = 3


def compare_copies(results: Path, outcome: Outcome) -> Iterator[str]:
    for split in splits_in_order(outcome.config):
        if not outcome.shard_counts[split]:
            continue
        placed = placements(results, split)
        copies = Counter((row["id"], row["copy"]) for row in placed)
        folder = f"results/placements/{split}"
        yield from unlike(
            f"{folder}: other copies than the ledger", copies, in_ledger(results, split)
        )
        shards = in_shards(results, split, text_ending(outcome))
        yield from unlike(f"{folder}: other copies than results/corpus", copies, shards)
        yield from account_differs(results, split, len(placed))
        for length in outcome.config["output"]["pack"]:
            yield from index_differs(results, split, length, placed)


def placements(results: Path, split: str) -> list[dict]:
    """Of all shards in order, with the span in the stream of the split."""
    rows, before = [], 0
    for path in sorted((results / "placements" / split).glob("*.parquet")):
        of_shard = read_parquet(path)
        rows += [
            row | {"start": before + row["token_start"], "end": before + row["token_end"]}
            for row in of_shard
        ]
        before += int(np.fromfile(results / f"tokens/{split}/{path.stem}.idx", "<u8")[-1])
    return rows


def in_ledger(results: Path, split: str) -> Copies:
    found: Copies = Counter()
    for path in sorted((results / "ledger").glob("*.parquet")):
        for row in read_parquet(path):
            count = row["copies"] if row["split"] == split else 0
            if f"{split}_copies" in row:  # a stage: its documents are of train
                count = row[f"{split}_copies"] or 0
            found.update((row["id"], copy) for copy in range(count or 0))
    return found


def in_shards(results: Path, split: str, ending: str) -> Copies:
    found: Copies = Counter()
    for path in sorted((results / "corpus" / split).glob(f"*.{ending}")):
        if ending == "parquet":
            ours = pq.read_table(path, columns=["corpusmill"])["corpusmill"].to_pylist()
        else:
            lines = zstd_frame().decompress(path.read_bytes()).split(b"\n")
            ours = [json.loads(line)["corpusmill"] for line in lines if line]
        found.update((int(one["id"]), int(one["copy"])) for one in ours)
    return found


def account_differs(results: Path, split: str, copies: int) -> Iterator[str]:
    """The account of a mixture has as many copies as there are."""
    mixture = read_json(results / "summary.json").get("mixture") or {}
    if split not in mixture:
        return
    counts = [one["documents_by_copies"] for one in mixture[split]["cells"]]
    told = sum(int(many) * documents for one in counts for many, documents in one.items())
    if told != copies:
        yield f"results/summary.json: mixture of {split}: {told} copies, {copies} in the shards"


def index_differs(results: Path, split: str, length: int, placed: list[dict]) -> Iterator[str]:
    """Every copy is in packed rows once: whole if it fits into one, else in pieces without a gap
    that share a token."""
    name = f"results/tokens/{split}/pack-{length}"
    paths = [results.parent / f"{name}.{ending}" for ending in ("npy", "rows.npy")]
    if not all(path.exists() for path in paths):
        return
    pieces, ends = (np.load(path).tolist() for path in paths)
    if ends[0] != 0 or ends[-1] != len(pieces) or ends != sorted(set(ends)):
        yield f"{name}.rows.npy: not the ends of rows"
    rows = [pieces[a:b] for a, b in pairwise(ends)]
    if any(sum(end - start for start, end in row) > length + 1 for row in rows):
        yield f"{name}: a row of more than {length + 1} tokens"
    packed: Copies = Counter()
    at, pieces = 0, sorted(pieces)
    for row in placed:
        start, end = row["start"], row["end"]
        own = []
        while at < len(pieces) and pieces[at][0] < end:
            own.append(tuple(pieces[at]))
            at += 1
        joined = bool(own) and own[0][0] == start and own[-1][1] == end
        joined = joined and all(a[1] - 1 == b[0] for a, b in pairwise(own))
        if joined and (len(own) == 1 or end - start > length + 1):
            packed[row["id"], row["copy"]] += 1
    copies = Counter((row["id"], row["copy"]) for row in placed)
    yield from unlike(f"{name}.npy: other copies than the placements", packed, copies)
    if at < len(pieces):
        yield f"{name}.npy: {len(pieces) - at} pieces beyond the last document"


def unlike(what: str, one: Copies, other: Copies) -> Iterator[str]:
    wrong = [copy for copy in {**one, **other} if one[copy] != other[copy]]
    if wrong:
        told = [
            f"{copy} {one[copy]} times, not {other[copy]}" for copy in sorted(wrong)[:MOST_TOLD]
        ]
        yield f"{what}: {len(wrong)} differ: {'; '.join(told)}"
