"""Count the domains of crawled documents that were kept, in a block of parts."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from corpusmill.mill.decide.decided import BlockDecisions, load_decided
from corpusmill.mill.report.domains import added, domains_of_part, save_domains
from corpusmill.mill.storage.tables import load_table
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


def domains(
    texts: list[Path],
    measures: list[Path],
    decided: BlockDecisions,
    first_part: int,
    members: dict[str, str],
    counts: Path,
) -> None:
    """texts, measures: of the block's parts, from number `first_part` on. members: record member
    with the URL, of each crawled source."""
    with phase("counting", len(texts), "parts") as progress:

        def of_parts() -> Iterator[pa.Table]:
            tables = zip(texts, measures, decided.of_parts(), strict=True)
            for part, (text, measured, decisions) in enumerate(tables, first_part):
                kept = load_decided(decisions, part).fates.kept
                yield domains_of_part(text, members, kept, *load_table(measured, "text_bytes"))
                progress.advance(1)

        found = added(of_parts())
    save_domains(counts, found)
    logging.info("%d domains of %d parts", found.num_rows, len(texts))


if __name__ == "__main__":
    run(domains)
