"""Show a finished run: its funnel, its near-duplicates, and what each rule took."""

import logging
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from corpusmill.documents.tallies import Tally, added
from corpusmill.report.funnel import Figure, figures, funnel_page
from corpusmill.report.pages import as_csv
from corpusmill.report.similarities import removed, similarities_page
from corpusmill.report.statistics import STATISTICS, statistics_of, statistics_page
from corpusmill.report.times import Time, times, times_page
from corpusmill.run import job
from corpusmill.storage.files import load_json, replacing
from corpusmill.storage.tables import save_parquet

SHOWN_TEXTS = 1000
"""Of a value that is a text: as many different ones of a source and language are told."""


class Shown(NamedTuple):
    """Pages to look at, and tables to take along."""

    funnel: Path
    funnel_table: Path
    similarities: Path
    statistics: Path
    times: Path
    times_table: Path


class Spread(NamedTuple):
    """How values are spread in every block of parts."""

    bins: list[Path]
    totals: list[Path]


class Tables(NamedTuple):
    """The same of all."""

    statistics_table: Path
    histograms: Path


def report(
    summary: Path,
    account: Path,
    clusters: list[Path],
    blocks: Spread,
    threshold: float,
    shown: Shown,
    tables: Tables,
) -> None:
    """account: the summary as a text for people."""
    summed = load_json(summary)
    of_all = added(
        (Tally(*map(pq.read_table, files)) for files in zip(*blocks, strict=True)), SHOWN_TEXTS
    )
    statistics = statistics_of(of_all)
    save_parquet(tables.statistics_table, pa.Table.from_pylist(statistics, STATISTICS))
    save_parquet(tables.histograms, of_all.bins)
    found = removed(pq.read_table(file, columns=["similarity", "stage"]) for file in clusters)
    took = times(summed)
    files = {
        shown.funnel: funnel_page(summed, account.read_text("utf-8")),
        shown.funnel_table: as_csv(Figure._fields, figures(summed)),
        shown.similarities: similarities_page(found, threshold),
        shown.statistics: statistics_page(statistics, of_all.bins, summed.get("languages", {})),
        shown.times: times_page(took),
        shown.times_table: as_csv(Time._fields, took),
    }
    for path, text in files.items():
        with replacing(path) as temporary:
            temporary.write_text(text, "utf-8")
    logging.info("%d duplicates, %d with a similarity", found.stages.total(), found.counts.sum())


if __name__ == "__main__":
    job.run(report)
