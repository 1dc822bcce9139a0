"""Describe the finished corpus: its dataset card, and the summary of training content."""

import logging
from pathlib import Path
from typing import Any, NamedTuple

from corpusmill.messages.plain_text import shown
from corpusmill.mill.report.corpus_facts import facts_of
from corpusmill.mill.report.dataset_card import dataset_card
from corpusmill.mill.report.domains import SCHEMA, all_domains
from corpusmill.mill.report.pages import as_csv
from corpusmill.mill.report.training_content import training_content
from corpusmill.mill.storage.files import load_json, replacing
from corpusmill.run import job


class Described(NamedTuple):
    """Outputs. The list of domains exists only if a source was crawled."""

    dataset_card: Path
    training_content: Path
    domain_list: list[Path]


def card(
    summary: Path,
    manifest: Path,
    counts: list[Path],
    provenance: dict[str, Any],
    described: Described,
) -> None:
    """counts: domains of every block; none if no source was crawled. provenance: key of the
    configuration -> source -> value."""
    domains = all_domains(counts) if described.domain_list else None
    facts = facts_of(load_json(summary), load_json(manifest), provenance, domains)
    files = {
        described.dataset_card: dataset_card(facts),
        described.training_content: training_content(facts),
    }
    if domains:
        rows = [[shown(name), *numbers] for name, *numbers in zip(
            *(column.to_pylist() for column in domains.largest.columns), strict=True
        )]  # fmt: skip
        files |= {path: as_csv(SCHEMA.names, rows) for path in described.domain_list}
    for path, text in files.items():
        with replacing(path) as temporary:
            temporary.write_text(text, "utf-8")
    logging.info("%d sources, %d domains", len(facts.origins), domains.number if domains else 0)


if __name__ == "__main__":
    job.run(card)
