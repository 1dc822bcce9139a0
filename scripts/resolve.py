"""Decide which documents of one bin to keep, and for which of them each other one is dropped."""

import logging
from pathlib import Path
from typing import Any

from corpusmill.mill.dedup.cluster_sizes import cluster_sizes
from corpusmill.mill.dedup.edges import Similarity
from corpusmill.mill.dedup.extracts import read_extract
from corpusmill.mill.dedup.group_reports import largest_groups
from corpusmill.mill.dedup.policies import exact_numbers
from corpusmill.mill.dedup.resolution import (
    ResolveSetting,
    dropped_documents,
    graph_of,
    winners_of,
)
from corpusmill.mill.dedup.twins import resolution_of
from corpusmill.mill.storage.arrays import save_array
from corpusmill.mill.storage.files import content_digest, load_listing, save_json
from corpusmill.run.job import run


def resolve(
    listing: list[Path],
    bin: int,
    resolution: dict[str, Any],
    similarity: Similarity,
    policies: dict[str, str],
    dropped: Path,
    winners: Path,
    report: Path,
) -> None:
    """listing: the extracts of all blocks of parts. resolution: further keys of the setting.

    policies: `duplicates` of each source.
    """
    extract = read_extract(load_listing(listing), bin)
    setting = ResolveSetting.of(similarity, **resolution)
    graph = graph_of(extract, exact_numbers(policies))
    logging.info("%d documents, %d texts, %d pairs", extract.ids.size, graph.example.size,
                 graph.one.size)  # fmt: skip
    outcome = resolution_of(extract, graph, setting)
    found = dropped_documents(extract, graph, outcome)
    save_array(dropped, found)
    save_array(winners, winners_of(extract, found))
    save_json(
        report,
        {
            "file": str(dropped),
            "winners": str(winners),
            "digest": content_digest(dropped),
            "winners_digest": content_digest(winners),
            "documents": int(extract.ids.size),
            "pairs": int(graph.one.size),
            "measured": int(outcome.measured),
            "dropped": int(found.size),
            "clusters": cluster_sizes(found["winner"]),
            "groups": largest_groups(extract, graph, outcome, found),
        },
    )
    logging.info("%d documents dropped, %d pairs of texts compared", found.size,
                 outcome.measured)  # fmt: skip


if __name__ == "__main__":
    run(resolve)
