"""Write the fate of every input record of one part."""

import logging
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from corpusmill.mill.account.ledger_columns import FilterValues, save_ledger
from corpusmill.mill.account.ledger_rows import About, Cut, document_rows, malformed_rows
from corpusmill.mill.account.part_account import part_account, part_faults
from corpusmill.mill.decide.fates import dropping_fates
from corpusmill.mill.read.parts import TextPart
from corpusmill.mill.storage.files import save_json
from corpusmill.run.job import run


class Read(NamedTuple):
    """Outputs of `normalize`."""

    quarantine: Path
    counts: Path


class Columns(NamedTuple):
    """What the columns of the ledger depend on."""

    filters: list[FilterValues]
    stages: list[str]


def ledger(
    text: Path,
    read: Read,
    about: About,
    cut: Cut,
    columns: Columns,
    part: int,
    rows: Path,
    account: Path,
) -> None:
    """Every file belongs to the part or to its block."""
    table = pa.concat_tables(
        [
            document_rows(TextPart(text, ["file", "line"]), part, about, cut, *columns),
            malformed_rows(read.quarantine, *columns),
        ]
    )
    figures = part_account(table, read.counts, cut.cuts)
    fates = dropping_fates([one.fate for one in columns.filters])
    faults = part_faults(figures, part, table, about.clusters, cut.cut_spans, fates)
    if faults:
        raise ValueError("the account does not balance: " + "; ".join(faults))
    save_ledger(rows, table)
    save_json(account, {source: dict(sorted(c.items())) for source, c in sorted(figures.items())})
    logging.info("%d records accounted for", table.num_rows)


if __name__ == "__main__":
    run(ledger)
