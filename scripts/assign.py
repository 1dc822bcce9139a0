"""Decide the fate, the split and the number of copies of every document in one part."""

import logging
from pathlib import Path
from typing import NamedTuple

import numpy as np

from corpusmill.mill.decide.fate_columns import FateColumn
from corpusmill.mill.decide.fates import DUPLICATE, AtAssign
from corpusmill.mill.decide.holdout import held_out_texts
from corpusmill.mill.decide.splits_and_copies import Sampling, copies_of, splits_of
from corpusmill.mill.dedup.edges import STAGES
from corpusmill.mill.dedup.winners import dropped_of_part, save_clusters, won_by
from corpusmill.mill.read.ids import ids_of_part
from corpusmill.mill.storage.arrays import save_array
from corpusmill.mill.storage.files import content_digest, save_json
from corpusmill.mill.storage.tables import (
    load_labels,
    load_notes,
    load_table,
    save_table,
)
from corpusmill.run.job import run


class Assigned(NamedTuple):
    """Output files of one part."""

    assigned: Path
    held_out: Path
    clusters: Path
    counts: Path


def assign(
    verdicts: Path,
    measures: Path,
    digests: Path,
    whole: list[Path],
    resolved: list[Path],
    part: int,
    sampling: Sampling,
    made: Assigned,
) -> None:
    """resolved: the documents that each bin dropped.

    whole: digests of texts before spans were cut, if any. With them a held-out text stays out of
    train even if one copy kept a line more.
    """
    admitted = FateColumn.load(verdicts).kept
    ids, fates = ids_of_part(part, admitted.size), FateColumn(admitted.size)
    dropped = dropped_of_part(resolved, part)
    winner, similarity, stage = won_by(dropped, ids)
    sources, source = load_labels(measures, "source")
    weight = np.array([sampling.weights[name] for name in sources])[source]
    split = splits_of(ids, sampling.fractions, sampling.seed)
    copies = copies_of(ids, weight, split, sampling.seed, sampling.mixes)
    known = AtAssign(ids, winner, split, copies, lambda name: load_table(measures, name)[0])
    fates.decide("assign", known, admitted)
    duplicate, kept = fates.has(DUPLICATE), admitted & fates.kept
    copies[~kept] = 0
    save_table(
        made.assigned, fate=fates.array(), winner=winner, similarity=similarity, stage=stage,
        split=split, copies=copies,
    )  # fmt: skip
    save_clusters(made.clusters, ids, winner, similarity, stage, np.flatnonzero(duplicate))
    table = held_out_texts(digests, whole, kept & (split > 0), split)
    save_array(made.held_out, table)
    stages = {name: int((stage[duplicate] == value).sum()) for value, name in STAGES.items()}
    save_json(
        made.counts,
        {
            "held_out": len(table),
            "file": str(made.held_out),
            "digest": content_digest(made.held_out),
            "winners": len(dropped),
            "stages": stages,
            "by_source": by_source(sources, source, admitted, duplicate),
            **preferred_kinds(measures),
        },
    )
    for name in fates.names:
        logging.info("%s: %d documents", name, fates.has(name).sum())


def by_source(
    names: list[str], source: np.ndarray, admitted: np.ndarray, duplicate: np.ndarray
) -> dict[str, dict[str, int]]:
    """Count documents and duplicates per source. source: index into names, per document."""
    return {
        name: {
            "documents": int((admitted & (source == k)).sum()),
            "duplicates": int((duplicate & (source == k)).sum()),
        }
        for k, name in enumerate(names)
    }


def preferred_kinds(measures: Path) -> dict:
    """Return, per source, how many documents have a number, a text or nothing in the preferred
    field, and where the first ones are; {} if no field is preferred."""
    notes = load_notes(measures)
    return {"prefer": notes["kinds"], "prefer_places": notes["places"]} if notes else {}


if __name__ == "__main__":
    run(assign)
