"""Gather the SHA-256 of every text that may not be in train."""

import logging
from pathlib import Path

from corpusmill.mill.decide.holdout import gathered
from corpusmill.mill.storage.arrays import load_array, save_array
from corpusmill.mill.storage.files import load_listing
from corpusmill.run.job import run


def holdout(listing: list[Path], evaluation: Path, held_out: Path) -> None:
    """listing: the held-out digests of all parts; evaluation: digests of held_out sources."""
    parts = [part["file"] for part in load_listing(listing)]
    tables = [load_array(file) for file in (evaluation, *parts)]
    table = gathered([t["digest"] for t in tables], [t["origin"] for t in tables])
    save_array(held_out, table)
    logging.info("%d texts held out, %d of evaluation sets", len(table), len(tables[0]))


if __name__ == "__main__":
    run(holdout)
