"""Count how many of the duplicates planted in the demo corpus were found."""

import json
import logging
from pathlib import Path

from corpusmill.mill.storage.files import save_json
from corpusmill.mill.storage.tables import load_parquet
from corpusmill.run.job import run

STEPS = [0.0, 0.6, 0.7, 0.8, 0.9, 0.95]
"""Lower ends of the Jaccard ranges for which recall is reported."""


def group_of(ledger: list[Path]) -> dict[tuple[str, int], int]:
    """Return (file name, line) -> id of the kept document."""
    groups = {}
    for file in ledger:
        columns = load_parquet(file, ["id", "file", "line", "winner"]).to_pydict()
        for id, path, line, winner in zip(*columns.values(), strict=True):
            groups[Path(path).name, line] = id if winner is None else winner
    return groups


def recall(truth: Path, ledger: list[Path], report: Path) -> None:
    groups = group_of(ledger)
    found: dict[str, dict] = {}

    def count(kind: str, hit: bool) -> None:
        figures = found.setdefault(kind, {"planted": 0, "found": 0})
        figures["planted"] += 1
        figures["found"] += hit

    for line in truth.read_text("utf-8").splitlines():
        case = json.loads(line)
        if case["kind"] == "evaluation":
            continue
        a, b = ((end["file"], end["line"]) for end in (case["a"], case["b"]))
        hit = groups[a] == groups[b]
        count(case["kind"], hit)
        if case["kind"] == "near":
            step = max(step for step in STEPS if step <= case["jaccard"])
            count(f"near, Jaccard from {step}", hit)
    save_json(report, dict(sorted(found.items())))
    for kind, figures in sorted(found.items()):
        logging.info("%s: %d of %d found", kind, figures["found"], figures["planted"])


if __name__ == "__main__":
    run(recall)
