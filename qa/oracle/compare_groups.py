"""The source and the cell of every document in the shards."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from qa.oracle.document import Document, Outcome
from qa.oracle.finding import read_json, rows_differ, sha256, tree_differ


def compare_groups(results: Path, outcome: Outcome) -> Iterator[str]:
    for split in dict.fromkeys(split for split, _ in outcome.shards):
        numbers, legend = (results / f"tokens/{split}/groups.{end}" for end in ("npy", "json"))
        if not numbers.exists() or not legend.exists():
            continue  # compare_names names it
        of_split = [
            document
            for (own, _), rows in outcome.shards.items()
            if own == split
            for *_, document in rows
        ]
        groups = [group_of(document, split) for document in of_split]
        names = sorted({*groups}, key=lambda group: (group[0], group[1] or ()))
        documents, tokens = Counter(groups), Counter()
        for group, document in zip(groups, of_split, strict=True):
            tokens[group] += len(outcome.tokens.ids(document.text)) + 1
        got = np.load(numbers, allow_pickle=False)
        expected = np.array([names.index(group) for group in groups], "<u4")
        if got.dtype.str != expected.dtype.str:
            yield f"results/tokens/{split}/groups.npy: numbers of type {got.dtype.str}"
        yield from rows_differ(
            f"results/tokens/{split}/groups.npy", got.tolist(), expected.tolist()
        )
        told = read_json(legend)
        yield from tree_differ(
            f"results/tokens/{split}/groups.json",
            told,
            {
                "corpusmill.groups": 1,
                "by": told["by"] if split in (outcome.mixture or {}) else [],
                "groups": [
                    {
                        "source": source,
                        "cell": None if cell is None else list(cell),
                        "documents": documents[source, cell],
                        "tokens": tokens[source, cell],
                    }
                    for source, cell in names
                ],
                "sha256": sha256(numbers.read_bytes()),
            },
        )


def group_of(document: Document, split: str) -> tuple[str, tuple[str, ...] | None]:
    return document.source, document.cells_in.get(split)
