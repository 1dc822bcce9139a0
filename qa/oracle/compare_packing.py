"""The indexes of packed rows."""

from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

import numpy as np

from qa.oracle.document import Outcome
from qa.oracle.finding import ABSENT, read_json, rows_differ, sha256, tree_differ
from qa.oracle.packing import figures

IN_SUMMARY = ("rows", "documents", "cut_documents", "fill_rate")


def compare_packing(results: Path, outcome: Outcome) -> Iterator[str]:
    summary: dict[str, dict] = {}
    for (split, length), rows in outcome.packed.items():
        name = f"results/tokens/{split}/pack-{length}"
        files = [results.parent / f"{name}.{ending}" for ending in ("npy", "rows.npy", "json")]
        if not all(path.exists() for path in files):
            continue  # compare_names names it
        pieces = np.array([piece for row in rows for piece in row], "<u8").reshape(-1, 2)
        ends = np.array(list(accumulate(map(len, rows), initial=0)), "<u8")
        yield from array_differs(f"{name}.npy", files[0], pieces)
        yield from array_differs(f"{name}.rows.npy", files[1], ends)
        expected = figures(outcome, split, length)
        sums = {
            "sha256": sha256(files[0].read_bytes()),
            "rows_sha256": sha256(files[1].read_bytes()),
        }
        yield from tree_differ(f"{name}.json", read_json(files[2]), expected | sums)
        of_split = summary.setdefault(split, {})
        of_split[str(length)] = {key: expected[key] for key in IN_SUMMARY}
    told = read_json(results / "summary.json").get("packed", ABSENT)
    yield from tree_differ("results/summary.json: packed", told, summary or ABSENT)


def array_differs(name: str, path: Path, expected: np.ndarray) -> Iterator[str]:
    got = np.load(path, allow_pickle=False)
    if got.dtype.str != expected.dtype.str:
        yield f"{name}: numbers of type {got.dtype.str}, expected {expected.dtype.str}"
    yield from rows_differ(name, got.tolist(), expected.tolist())
