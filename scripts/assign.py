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
from corpusmill.mill.dedup.order import Ranked
from corpusmill.mill.dedup.policies import of_policy
from corpusmill.mill.dedup.policy_names import NONE
from corpusmill.mill.dedup.winners import clusters_of_part, dropped_of_part, save_clusters, won_by
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


class Agreement(NamedTuple):
    """The settings: config dedup.min_sources, and `duplicates` of each source."""

    min_sources: int
    policies: dict[str, str]


class Assigned(NamedTuple):
    """Output files of one part."""

    assigned: Path
    held_out: Path
    clusters: Path
    counts: Path


def assign(
    tables: Ranked,
    digests: Path,
    whole: list[Path],
    resolved: list[Path],
    part: int,
    sampling: Sampling,
    agreement: Agreement,
    made: Assigned,
) -> None:
    """resolved: the documents that each bin dropped.

    whole: digests of texts before spans were cut, if any. With them a held-out text stays out of
    train even if one copy kept a line more.
    """
    measures, admitted = tables.measures, FateColumn.load(tables.verdicts).kept
    ids, fates = ids_of_part(part, admitted.size), FateColumn(admitted.size)
    dropped = dropped_of_part(resolved, part)
    winner, similarity, stage = won_by(dropped, ids)
    sources, source = load_labels(measures, "source")
    split, copies = drawn(ids, sources, source, sampling)
    agreed = agreed_by(resolved, part, agreement, measures, ids.size)
    known = AtAssign(ids, winner, split, copies, agreed, lambda name: load_table(measures, name)[0])
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
    save_json(
        made.counts,
        {
            "held_out": len(table),
            "file": str(made.held_out),
            "digest": content_digest(made.held_out),
            "winners": len(dropped),
            "stages": counts_by_stage(stage[duplicate]),
            "by_source": by_source(sources, source, admitted, np.where(duplicate, stage, 0)),
            **preferred_kinds(measures),
        },
    )
    for name in fates.names:
        logging.info("%s: %d documents", name, fates.has(name).sum())


def drawn(
    ids: np.ndarray, names: list[str], source: np.ndarray, sampling: Sampling
) -> tuple[np.ndarray, np.ndarray]:
    """Return the split and the number of copies of each document. source: index into names."""
    weights = np.array([sampling.weights[name] for name in names])[source]
    split = splits_of(ids, sampling.fractions, sampling.seed)
    return split, copies_of(ids, weights, split, sampling.seed, sampling.mixes)


def agreed_by(
    resolved: list[Path], part: int, agreement: Agreement, measures: Path, documents: int
) -> np.ndarray:
    """Return bool (documents,): whether the cluster of each has documents of enough sources.

    So do those of sources that are not compared: nobody looked for their duplicates.
    """
    if agreement.min_sources == 1:
        return np.ones(documents, bool)
    clusters = clusters_of_part(resolved, part, documents)
    exempt = of_policy(measures, agreement.policies, NONE, documents)
    return exempt | (clusters.sources >= agreement.min_sources)


def by_source(
    names: list[str], source: np.ndarray, admitted: np.ndarray, stage: np.ndarray
) -> dict[str, dict[str, int]]:
    """Count documents and duplicates per source, and its duplicates by stage.

    source: index into names, per document. stage: of duplicates; of others 0.
    """
    counts = {}
    for k, name in enumerate(names):
        mine = source == k
        stages = counts_by_stage(stage[mine])
        documents = {"documents": int((admitted & mine).sum()), "duplicates": sum(stages.values())}
        counts[name] = documents | stages
    return counts


def counts_by_stage(stage: np.ndarray) -> dict[str, int]:
    return {name: int((stage == value).sum()) for value, name in STAGES.items()}


def preferred_kinds(measures: Path) -> dict:
    """Return, per source, how many documents have a number, a text or nothing in the preferred
    field, and where the first ones are; {} if no field is preferred."""
    notes = load_notes(measures)
    return {"prefer": notes["kinds"], "prefer_places": notes["places"]} if notes else {}


if __name__ == "__main__":
    run(assign)
