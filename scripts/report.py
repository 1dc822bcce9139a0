"""Report on a finished run: its funnel, its near-duplicates, and the cost of each rule."""

import itertools
import logging
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from corpusmill.messages.progress import Silence
from corpusmill.mill.report.duplicates import removed, similarities_page
from corpusmill.mill.report.funnel import Figure, figures, funnel_page
from corpusmill.mill.report.pages import as_csv
from corpusmill.mill.report.statistics import STATISTICS, statistics_of, statistics_page
from corpusmill.mill.report.tallies import Tally, added
from corpusmill.mill.report.times import Time, times, times_page
from corpusmill.mill.report.whole import SHOWN_RECORDS, Finished, whole_page
from corpusmill.mill.storage.files import load_json, load_text, replacing
from corpusmill.mill.storage.streams import read_written_lines
from corpusmill.mill.storage.tables import load_parquet, save_parquet
from corpusmill.run import job

SHOWN_TEXTS = 1000
"""Maximum number of distinct values of a text column to report per source and language."""


class Shown(NamedTuple):
    """Pages to view and tables to download."""

    whole: Path
    funnel: Path
    funnel_table: Path
    similarities: Path
    statistics: Path
    times: Path
    times_table: Path


class Spread(NamedTuple):
    """Distributions of values, by block of parts."""

    bins: list[Path]
    totals: list[Path]


class Tables(NamedTuple):
    """Distributions of values in the whole corpus."""

    statistics_table: Path
    histograms: Path


class Account(NamedTuple):
    """Results of the run so far."""

    summary: Path
    account: Path
    """The summary as readable text."""
    duplicates: Path
    quarantine: list[Path]


def report(
    told: Account,
    clusters: list[Path],
    blocks: Spread,
    threshold: float,
    config: dict,
    shown: Shown,
    tables: Tables,
) -> None:
    summed = load_json(told.summary)
    of_all = added(
        (Tally(*map(load_parquet, files)) for files in zip(*blocks, strict=True)), SHOWN_TEXTS
    )
    statistics = statistics_of(of_all)
    save_parquet(tables.statistics_table, pa.Table.from_pylist(statistics, STATISTICS))
    save_parquet(tables.histograms, of_all.bins)
    found = removed(load_parquet(file, ["similarity", "stage"]) for file in clusters)
    took = times(summed)
    finished = Finished(
        summed, load_json(told.duplicates), found, threshold, statistics, of_all.bins,
        first_lines(told.quarantine), config,
    )  # fmt: skip
    files = {
        shown.whole: whole_page(finished),
        shown.funnel: funnel_page(summed, load_text(told.account)),
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


def first_lines(files: list[Path]) -> list[bytes]:
    """Return the first malformed records, as many as the page shows."""
    lines: list[bytes] = []
    for file in files:
        records = read_written_lines(file, Silence())
        lines += itertools.islice(records, SHOWN_RECORDS - len(lines))
    return lines


if __name__ == "__main__":
    job.run(report)
